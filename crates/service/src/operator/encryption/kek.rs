//! Retires old versions of the key-encryption key that no longer encrypt any row.

use sealpost_domain::{Wrapped, ports::StoreError};
use sealpost_storage::{Database, Reader};
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
        let refuse_rows = |rows: EncryptedRows| match rows.total() {
            0 => Ok(()),
            _ => Err(OperatorError::KekInUse { version, rows }),
        };
        // Counts the rows first outside a transaction, because other writers of SQLite wait for a transaction.
        refuse_rows(self.store.read(|reader| rows_under(reader, version))?)?;
        let now = self.clock.now();
        self.perform(|tx| {
            if !tx.lock_kek(version)? {
                return Err(NO_VERSION.into());
            }
            refuse_rows(rows_under(tx, version)?)?;
            tx.retire_kek(version, now)?;
            let (subject, detail) = (format!("kek:{version}"), json!({"version": version}));
            let record = ActionRecord::new("kek.retire", &subject, Concerned::Service, detail);
            Ok((KekRetired { retired: version, newest }, record))
        })
    }
}

fn rows_under(reader: &mut Reader, version: u32) -> Result<EncryptedRows, StoreError> {
    Ok(EncryptedRows {
        roots: count_under(reader, version, Reader::roots_after)?,
        secrets: count_under(reader, version, Reader::secrets_after)?,
        issuer_keys: count_under(reader, version, Reader::issuer_secrets_after)?,
        tags: reader.count_tags_under(version)?,
    })
}

/// Counts the rows that are encrypted under a version.
fn count_under<Id: Copy>(
    reader: &mut Reader,
    version: u32,
    read: impl Fn(&mut Reader, Option<&Id>, u32) -> Result<Vec<(Id, Wrapped)>, StoreError>,
) -> Result<u64, StoreError> {
    let (mut after, mut count) = (None, 0);
    loop {
        let page = read(reader, after.as_ref(), PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(count) };
        after = Some(*last);
        let under = page.iter().filter(|(_, wrapped)| kek_version(wrapped) == Some(version));
        count += u64::try_from(under.count()).unwrap_or(u64::MAX);
    }
}

const NO_VERSION: OperatorError =
    OperatorError::NotFound("key-encryption key of this version in use");
/// Number of rows in a page. With large pages, the transaction needs few queries and is short. Other writers can wait
/// for this transaction.
const PAGE: u32 = 5_000;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sealpost_domain::{Clock, IssuerKey, IssuerKeyId, Timestamp, ports::Durability};
    use sealpost_storage::{Access, DatabaseUrl, Settings};
    use sealpost_wallet::Keyring;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1);

    struct FixedClock;

    impl Clock for FixedClock {
        fn now(&self) -> Timestamp {
            NOW
        }
    }

    #[test]
    fn a_version_that_encrypts_a_row_is_refused_without_a_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let database = Database::open(&url, Settings::default()).unwrap();
        database.migrate().unwrap();
        let lines = [1, 2].map(|version| Keyring::fresh_line(version).unwrap().to_string());
        let keyring = Keyring::parse(&lines.join(",")).unwrap();
        for version in [1, 2] {
            database.insert_kek_mark(version, &keyring.mark(version).unwrap()).unwrap();
        }
        let key = IssuerKey {
            id: IssuerKeyId::from_bytes([7; 16]),
            public_key: [8; 32],
            secret: keyring.mark(1).unwrap(),
            created_at: NOW,
            signs_from: NOW,
        };
        database.write(Durability::Durable, |tx| tx.insert_issuer_key(&key)).unwrap();
        let read_only = Arc::new(database.with_hook(|access| match access {
            Access::Read => Ok(()),
            Access::Write(_) => Err(StoreError::Refused("the test allows no transaction".into())),
        }));
        let store = Arc::clone(&read_only);
        let operator = Operator::new(store, Arc::new(FixedClock), "tester".to_owned());
        let refused = operator.retire_kek(&read_only, 1).unwrap_err();
        let OperatorError::KekInUse { version: 1, rows } = refused else { panic!("{refused}") };
        assert_eq!((rows.issuer_keys, rows.total()), (1, 1));
    }
}
