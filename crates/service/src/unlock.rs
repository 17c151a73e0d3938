//! Unlock: whether the key-encryption keys are those that the database was written with, before anything is
//! written or read with wrong ones.

use sealpost_domain::ports::{KekMarks, StoreError};
use sealpost_wallet::{Keyring, WalletError};

/// Why the keys do not fit the database.
#[derive(Debug, thiserror::Error)]
pub enum UnlockError {
    /// A version that the database was written with is not there.
    #[error(
        "the key-encryption key version {version} is missing; add its line to the key file, \
         without it what was encrypted under it is lost"
    )]
    Missing {
        /// Which version.
        version: u32,
    },
    /// The database failed.
    #[error("the key-encryption keys cannot be checked")]
    Store(#[from] StoreError),
    /// The wallet failed.
    #[error("the key-encryption keys cannot be checked")]
    Wallet(#[from] WalletError),
    /// A version is there, but is not the key that it was.
    #[error(
        "the key-encryption key version {version} is not the one that this database was written with; \
         give the right key file"
    )]
    Wrong {
        /// Which version.
        version: u32,
    },
}

/// Checks the keys against the marks in the database, and leaves marks of versions that are new.
pub fn unlock(keyring: &Keyring, store: &dyn KekMarks) -> Result<(), UnlockError> {
    let marked = check(keyring, store)?;
    let mut new = keyring.versions();
    new.retain(|version| !marked.contains(version));
    for version in &new {
        store.insert_kek_mark(*version, &keyring.mark(*version)?)?;
    }
    if !new.is_empty() {
        // Another node may have left a mark of another key at the same time, and only the first one stays.
        check(keyring, store)?;
    }
    Ok(())
}

/// Which versions have marks, all of them by these keys.
fn check(keyring: &Keyring, store: &dyn KekMarks) -> Result<Vec<u32>, UnlockError> {
    let marks = store.kek_marks()?;
    for (version, mark) in &marks {
        match keyring.check_mark(*version, mark) {
            Ok(()) => {}
            Err(WalletError::UnknownKekVersion { version }) => {
                return Err(UnlockError::Missing { version });
            }
            Err(_) => return Err(UnlockError::Wrong { version: *version }),
        }
    }
    Ok(marks.into_iter().map(|(version, _)| version).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sealpost_domain::Wrapped;
    use sealpost_storage::{Database, DatabaseUrl, Settings};

    use super::*;

    /// Has another node leave its marks after this one has looked for them, and before it leaves its own.
    struct Overtaken<'a> {
        database: &'a Database,
        by: &'a Keyring,
    }

    impl KekMarks for Overtaken<'_> {
        fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError> {
            self.database.kek_marks()
        }

        fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError> {
            unlock(self.by, self.database).unwrap();
            self.database.insert_kek_mark(version, mark)
        }
    }

    /// Runs the case on a fresh database of either kind.
    fn on_both(case: impl Fn(&Database)) {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let server = sealpost_testkit::postgres().create_database().parse().unwrap();
        for url in [file, server] {
            let patient =
                Settings { connection_timeout: Duration::from_secs(20), ..Settings::default() };
            let database = Database::open(&url, patient).unwrap();
            database.migrate().unwrap();
            case(&database);
        }
    }

    fn fresh(version: u32) -> String {
        Keyring::fresh_line(version).unwrap().to_string()
    }

    #[test]
    fn of_two_new_keys_of_one_version_at_once_the_second_is_refused() {
        on_both(|database| {
            let old = fresh(1);
            unlock(&Keyring::parse(&old).unwrap(), database).unwrap();
            let [first, second] =
                [fresh(2), fresh(2)].map(|new| Keyring::parse(&format!("{old},{new}")).unwrap());
            let said = unlock(&second, &Overtaken { database, by: &first });
            assert!(matches!(said, Err(UnlockError::Wrong { version: 2 })), "{said:?}");
            unlock(&first, database).unwrap();
        });
    }

    #[test]
    fn the_same_new_key_on_two_nodes_at_once_is_right() {
        on_both(|database| {
            let keyring = Keyring::parse(&fresh(1)).unwrap();
            unlock(&keyring, &Overtaken { database, by: &keyring }).unwrap();
        });
    }
}
