//! Retires old versions of the key-encryption key that no longer encrypt any row.

use sealpost_domain::{Wrapped, ports::StoreError};
use sealpost_storage::{Database, Transaction};
use sealpost_wallet::kek_version;
use serde::Serialize;
use serde_json::json;

use crate::{
    acts::audited::{ActionRecord, Concerned, Operator, OperatorError},
    operator::encryption::encrypted_rows::EncryptedRows,
};

/// A retired version of the key-encryption key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KekRetired {
    /// The retired version.
    pub retired: u32,
    /// The newest version, which encrypts new rows.
    pub newest: u32,
}

impl Operator {
    /// Retires a version of the key-encryption key. Fails if the version is unknown, is the newest one, or still
    /// encrypts a row. Afterwards, the key files no longer need the line of this version. `marks` is the database,
    /// which stores a mark (an encrypted known text) for each version in use.
    pub fn retire_kek(&self, marks: &Database, version: u32) -> Result<KekRetired, OperatorError> {
        let versions = marks.kek_marks()?.into_iter().map(|(version, _)| version);
        let newest = versions.max().ok_or(NO_VERSION)?;
        if version == newest {
            return Err(OperatorError::Pointless(
                "the newest key-encryption key encrypts new rows: run `sealpost admin kek rotate` first",
            ));
        }
        let now = self.clock.now();
        self.perform(|tx| {
            if !tx.lock_kek(version)? {
                return Err(NO_VERSION.into());
            }
            let rows = rows_under(tx, version)?;
            if rows.total() > 0 {
                return Err(OperatorError::KekInUse { version, rows }.into());
            }
            tx.retire_kek(version, now)?;
            let record = ActionRecord::new(
                "kek.retire",
                &format!("kek:{version}"),
                Concerned::Service,
                json!({"version": version}),
            );
            Ok((KekRetired { retired: version, newest }, record))
        })
    }
}

fn rows_under(tx: &mut Transaction, version: u32) -> Result<EncryptedRows, StoreError> {
    Ok(EncryptedRows {
        roots: count_under(tx, version, Transaction::roots_after)?,
        secrets: count_under(tx, version, Transaction::secrets_after)?,
        issuer_keys: count_under(tx, version, Transaction::issuer_secrets_after)?,
        tags: tx.count_tags_under(version)?,
    })
}

/// Counts the rows that are encrypted under a version.
fn count_under<Id: Copy>(
    tx: &mut Transaction,
    version: u32,
    read: impl Fn(&mut Transaction, Option<&Id>, u32) -> Result<Vec<(Id, Wrapped)>, StoreError>,
) -> Result<u64, StoreError> {
    let (mut after, mut count) = (None, 0);
    loop {
        let page = read(tx, after.as_ref(), PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(count) };
        after = Some(*last);
        let under = page.iter().filter(|(_, wrapped)| kek_version(wrapped) == Some(version));
        count += u64::try_from(under.count()).unwrap_or(u64::MAX);
    }
}

const NO_VERSION: OperatorError =
    OperatorError::NotFound("key-encryption key of this version in use");
/// Large pages keep the transaction short, because other writers can wait for it.
const PAGE: u32 = 5_000;
