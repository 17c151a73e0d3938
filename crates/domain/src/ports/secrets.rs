//! The ports for issuer keys, and for secrets encrypted under key-encryption keys.

use super::error::StoreError;
use crate::{ApiKeyId, IssuerKey, IssuerKeyId, Timestamp, WebhookId, Wrapped};

/// Reads and inserts issuer keys.
pub trait IssuerRepo {
    /// Lists all issuer keys, ordered by the start of their use, and blocks inserts until the
    /// transaction ends.
    fn lock_issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;

    /// Inserts an issuer key.
    fn insert_issuer_key(&mut self, key: &IssuerKey) -> Result<(), StoreError>;
}

/// Reads and replaces encrypted secrets, to re-encrypt them under the newest key-encryption key (KEK).
pub trait RewrapRepo {
    /// Reads up to `limit` roots of keys with ids above `after`, ordered by id.
    fn roots_after(
        &mut self,
        after: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, Wrapped)>, StoreError>;

    /// Replaces a root that still equals `old`. Returns `false` otherwise.
    fn replace_root(
        &mut self,
        id: &ApiKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Reads the signing secrets of up to `limit` webhooks with ids above `after`, ordered by id.
    /// Retiring secrets are included.
    fn secrets_after(
        &mut self,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Wrapped)>, StoreError>;

    /// Replaces a signing secret that still equals `old`, current or retiring. Returns `false`
    /// otherwise.
    fn replace_secret(
        &mut self,
        id: &WebhookId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Reads up to `limit` secrets of issuer keys with ids above `after`, ordered by id.
    fn issuer_secrets_after(
        &mut self,
        after: Option<&IssuerKeyId>,
        limit: u32,
    ) -> Result<Vec<(IssuerKeyId, Wrapped)>, StoreError>;

    /// Replaces an issuer secret that still equals `old`. Returns `false` otherwise.
    fn replace_issuer_secret(
        &mut self,
        id: &IssuerKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Retires a KEK version: key files no longer need it. Returns `false` if the version has no mark or is already
    /// retired.
    fn retire_kek(&mut self, version: u32, at: Timestamp) -> Result<bool, StoreError>;
}

/// Marks of key-encryption keys. A mark is a known text encrypted under one KEK version. At
/// start-up it reveals a wrong or missing key.
pub trait KekMarks {
    /// Reads the marks of all KEK versions that are not retired.
    fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError>;

    /// Inserts the mark of a version. An existing mark stays, even if the version is retired or the mark is of another
    /// key. Read the marks again afterwards.
    fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError>;
}
