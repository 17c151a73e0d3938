//! Checks that the key-encryption keys match the database, before a secret is read or written with a wrong key.

use sealpost_domain::ports::StoreError;
use sealpost_storage::Database;
use sealpost_wallet::{Keyring, WalletError};

/// The key-encryption keys do not match the database, or could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum UnlockError {
    /// The key file lacks a version that the database needs.
    #[error(
        "the key-encryption key version {version} is missing; add its line to the key file, \
         without it the data that it encrypts is lost"
    )]
    Missing {
        /// The missing version.
        version: u32,
    },
    /// The database failed.
    #[error("the key-encryption keys cannot be checked")]
    Store(#[from] StoreError),
    /// A mark could not be checked or created. A mark is a known text that is encrypted under one version of the
    /// key-encryption key.
    #[error("the key-encryption keys cannot be checked")]
    Wallet(#[from] WalletError),
    /// The key of a version differs from the key that the database was encrypted with.
    #[error(
        "the key-encryption key version {version} does not match this database; \
         restore the key file that the database was created with"
    )]
    Wrong {
        /// The version whose key is wrong.
        version: u32,
    },
}

/// Checks the key-encryption keys against the marks in the database, and adds marks for new versions of the keys. A
/// mark is a known text that is encrypted under one version. Blocks the thread.
pub fn unlock(keyring: &Keyring, store: &Database) -> Result<(), UnlockError> {
    let marked = check(keyring, store)?;
    let mut new = keyring.versions();
    new.retain(|version| !marked.contains(version));
    for version in &new {
        store.insert_kek_mark(*version, &keyring.mark(*version)?)?;
    }
    if !new.is_empty() {
        // The keys are checked again, because a concurrent node may have stored a mark of another key for the same
        // version. Only the first mark of a version is stored.
        check(keyring, store)?;
    }
    Ok(())
}

/// Returns all versions that have a mark (a known text, encrypted under this version) in the database. Fails if a mark
/// does not match its key.
fn check(keyring: &Keyring, store: &Database) -> Result<Vec<u32>, UnlockError> {
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

    use sealpost_storage::{Access, DatabaseUrl, Settings};

    use super::*;

    /// Returns the database, in which another node inserts its marks between the check and the insertion by this node.
    fn with_concurrent_node(database: &Database, keys: Keyring) -> Database {
        let other = database.clone();
        database.clone().with_hook(move |access| {
            if access != Access::Read {
                unlock(&keys, &other).unwrap();
            }
            Ok(())
        })
    }

    /// Runs the case on a new SQLite database and on a new PostgreSQL database.
    fn on_both(case: impl Fn(&Database)) {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let server = sealpost_testkit::postgres().create_database().parse().unwrap();
        for url in [file, server] {
            let settings =
                Settings { connection_timeout: Duration::from_secs(20), ..Settings::default() };
            let database = Database::open(&url, settings).unwrap();
            database.migrate().unwrap();
            case(&database);
        }
    }

    fn fresh(version: u32) -> String {
        Keyring::fresh_line(version).unwrap().to_string()
    }

    #[test]
    fn the_second_of_two_concurrent_new_keys_of_a_version_is_refused() {
        on_both(|database| {
            let old = fresh(1);
            unlock(&Keyring::parse(&old).unwrap(), database).unwrap();
            let [first_line, second_line] = [fresh(2), fresh(2)].map(|new| format!("{old},{new}"));
            let [first, second] =
                [&first_line, &second_line].map(|line| Keyring::parse(line).unwrap());
            let result = unlock(&second, &with_concurrent_node(database, first));
            assert!(matches!(result, Err(UnlockError::Wrong { version: 2 })), "{result:?}");
            unlock(&Keyring::parse(&first_line).unwrap(), database).unwrap();
        });
    }

    #[test]
    fn the_same_new_key_on_two_concurrent_nodes_is_accepted() {
        on_both(|database| {
            let line = fresh(1);
            let [keyring, same] = [(); 2].map(|()| Keyring::parse(&line).unwrap());
            unlock(&keyring, &with_concurrent_node(database, same)).unwrap();
        });
    }
}
