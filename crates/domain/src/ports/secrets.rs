//! The ports for issuer keys, and for the rotation of key-encryption keys.

use super::error::StoreError;
use crate::{ApiKeyId, IssuerKey, IssuerKeyId, Timestamp, WebhookId, Wrapped};

/// Reads and inserts issuer keys, the service's own signing keys.
pub trait IssuerRepo {
    /// Lists all issuer keys, ordered by the start of signing. Concurrent inserts wait until this transaction ends.
    fn lock_issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError>;

    /// Inserts an issuer key.
    fn insert_issuer_key(&mut self, key: &IssuerKey) -> Result<(), StoreError>;
}

/// Reads and replaces encrypted secrets, to encrypt them again under the newest key-encryption key (KEK).
pub trait RewrapRepo {
    /// Reads up to `limit` encrypted roots (secrets of identities) of API keys with ids above `after`, ordered by id.
    fn roots_after(
        &mut self,
        after: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<(ApiKeyId, Wrapped)>, StoreError>;

    /// Replaces the encrypted root (secret of the identity) of an API key if it still equals `old`. Otherwise returns
    /// `false`.
    fn replace_root(
        &mut self,
        id: &ApiKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Reads the signing secrets of up to `limit` webhooks with ids above `after`, ordered by id. Includes replaced
    /// secrets still in use.
    fn secrets_after(
        &mut self,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Wrapped)>, StoreError>;

    /// Replaces an encrypted signing secret if it still equals `old`. Otherwise returns `false`. The webhook may have
    /// several secrets: the current one, and replaced ones still in use.
    fn replace_secret(
        &mut self,
        id: &WebhookId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Reads up to `limit` encrypted private keys of issuer keys with ids above `after`, ordered by id.
    fn issuer_secrets_after(
        &mut self,
        after: Option<&IssuerKeyId>,
        limit: u32,
    ) -> Result<Vec<(IssuerKeyId, Wrapped)>, StoreError>;

    /// Replaces the encrypted private key of an issuer key if it still equals `old`. Otherwise returns `false`.
    fn replace_issuer_secret(
        &mut self,
        id: &IssuerKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError>;

    /// Retires a version of the key-encryption key (KEK). From then on, the key file no longer needs to contain this
    /// version. Returns `false` if no mark is stored for the version (see [`KekMarks`]) or if it is already retired.
    fn retire_kek(&mut self, version: u32, at: Timestamp) -> Result<bool, StoreError>;
}

/// Reads and inserts the marks of key-encryption keys (KEKs). A mark is a known text, encrypted under one version of
/// the KEK. At start-up, the marks reveal a wrong or missing key in the key file.
pub trait KekMarks {
    /// Reads the version and the mark (an encrypted known text) of each KEK that is not retired.
    fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError>;

    /// Inserts the mark of a KEK version. If a mark of this version is already stored, changes nothing, even if that
    /// mark is retired or was encrypted under a different key. Therefore read the marks again afterwards: another node
    /// with a different key may have inserted its mark first.
    fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError>;
}
