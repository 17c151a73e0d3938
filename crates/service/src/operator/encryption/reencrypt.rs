//! Re-encrypts secrets under the newest key-encryption key while servers run.
//!
//! Works in pages, and replaces a value only if the value has not changed since it was read. Therefore the work can be
//! interrupted and repeated at any time.

use sealpost_domain::{
    IssuerKeyId, OwnedKey, WebhookId, Wrapped,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Reader, Retagging, TaggedTable, Transaction};
use sealpost_wallet::{IssuerSecret, Keyring, Root, WalletError, WebhookSecret, kek_version};
use serde::Serialize;
use serde_json::json;

use crate::acts::audited::{Operator, OperatorError};

/// The numbers of values that were re-encrypted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rewrapped {
    /// The newest version of the key-encryption key.
    pub version: u32,
    /// Number of identities, each with its encrypted secret (root).
    pub roots: u64,
    /// Number of signing secrets of webhooks.
    pub secrets: u64,
    /// Number of the service's own keys.
    pub issuer_keys: u64,
    /// Number of rows with new tags (message authentication codes): accounts, sessions, API tokens and badges.
    pub tags: u64,
}

impl Operator {
    /// Re-encrypts all values that are encrypted under older versions of the key-encryption key. Also replaces older
    /// row tags (message authentication codes). The database must use the same keyring for tags: see
    /// [`Database::authenticate_rows`](sealpost_storage::Database::authenticate_rows). After each page, calls
    /// `progress` with the number of rows read so far.
    pub fn rewrap(
        &self,
        keyring: &Keyring,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Rewrapped, OperatorError> {
        let mut rows_read = 0;
        let mut count = |rows| {
            rows_read += rows;
            progress(rows_read);
        };
        let is_old = |old: &Wrapped| kek_version(old) != Some(keyring.newest());
        let roots = Column {
            read: Reader::roots_after,
            rewrap: |key: &OwnedKey, old: &Wrapped| {
                let renew = || Root::unwrap(keyring, key, old)?.wrap(keyring, key);
                is_old(old).then(renew).transpose()
            },
            replace: Transaction::replace_root,
        };
        let secrets = Column {
            read: Reader::secrets_after,
            rewrap: |id: &WebhookId, old: &Wrapped| {
                let renew = || WebhookSecret::unwrap(keyring, id, old)?.wrap(keyring, id);
                is_old(old).then(renew).transpose()
            },
            replace: Transaction::replace_secret,
        };
        let issuer_keys = Column {
            read: Reader::issuer_secrets_after,
            rewrap: |id: &IssuerKeyId, old: &Wrapped| {
                let renew = || IssuerSecret::unwrap(keyring, id, old)?.wrap(keyring, id);
                is_old(old).then(renew).transpose()
            },
            replace: Transaction::replace_issuer_secret,
        };
        Ok(Rewrapped {
            version: keyring.newest(),
            roots: self.rewrap_column(&roots, &mut count)?,
            secrets: self.rewrap_column(&secrets, &mut count)?,
            issuer_keys: self.rewrap_column(&issuer_keys, &mut count)?,
            tags: self.retag(Retagging::Renew, &mut count)?,
        })
    }

    /// Converts the rows of an earlier Sealpost version, and returns their number. Binds each root (secret of an
    /// identity) to the account of its key, and adds missing row tags (message authentication codes). Does not detect
    /// manipulated rows. The database must use the same keyring for tags, as for [`rewrap`](Self::rewrap). After each
    /// page, calls `progress` with the number of rows read so far.
    pub fn adopt_rows(
        &self,
        keyring: &Keyring,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, OperatorError> {
        let mut rows_read = 0;
        let mut count = |rows| {
            rows_read += rows;
            progress(rows_read);
        };
        let roots = Column {
            read: Reader::roots_after,
            rewrap: |key: &OwnedKey, old: &Wrapped| Root::adopt(keyring, key, old),
            replace: Transaction::replace_root,
        };
        let roots = self.rewrap_column(&roots, &mut count)?;
        let adopted = roots + self.retag(Retagging::Adopt, &mut count)?;
        self.record_of_keys("kek.adopt", &json!({"rows": adopted}))?;
        Ok(adopted)
    }

    fn retag(
        &self,
        retagging: Retagging,
        count: &mut dyn FnMut(u64),
    ) -> Result<u64, OperatorError> {
        let mut retagged = 0;
        for table in TaggedTable::ALL {
            let mut after = Vec::new();
            loop {
                let page = self.store.write(Durability::Durable, |tx| {
                    tx.retag_page(table, retagging, &after, PAGE)
                })?;
                count(page.rows);
                retagged += page.retagged;
                let Some(last) = page.last else { break };
                after = last;
            }
        }
        Ok(retagged)
    }

    fn rewrap_column<Id, Read, Rewrap, Replace>(
        &self,
        column: &Column<Read, Rewrap, Replace>,
        count: &mut dyn FnMut(u64),
    ) -> Result<u64, OperatorError>
    where
        Id: Copy,
        Read: Fn(&mut Reader, Option<&Id>, u32) -> Result<Vec<(Id, Wrapped)>, StoreError>,
        Rewrap: Fn(&Id, &Wrapped) -> Result<Option<Wrapped>, WalletError>,
        Replace: Fn(&mut Transaction, &Id, &Wrapped, &Wrapped) -> Result<bool, StoreError>,
    {
        let (mut after, mut replaced) = (None, 0);
        loop {
            let read = |reader: &mut Reader| (column.read)(reader, after.as_ref(), PAGE);
            let page = self.store.read(read)?;
            let Some((last, _)) = page.last() else { return Ok(replaced) };
            after = Some(*last);
            count(u64::try_from(page.len()).unwrap_or(u64::MAX));
            let mut renewed = Vec::new();
            for (id, old) in &page {
                renewed.extend((column.rewrap)(id, old)?.map(|new| (id, old, new)));
            }
            if renewed.is_empty() {
                continue;
            }
            replaced += self.store.write(Durability::Durable, |tx| {
                let mut replaced = 0;
                for (id, old, new) in &renewed {
                    replaced += u64::from((column.replace)(tx, id, old, new)?);
                }
                Ok(replaced)
            })?;
        }
    }
}

/// The functions that read, re-encrypt and replace the values of one encrypted column. `rewrap` returns `None` for a
/// value that needs no change.
struct Column<Read, Rewrap, Replace> {
    read: Read,
    rewrap: Rewrap,
    replace: Replace,
}

const PAGE: u32 = 64;
