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
    for version in keyring.versions() {
        if !marks.iter().any(|(marked, _)| *marked == version) {
            store.leave_kek_mark(version, &keyring.mark(version)?)?;
        }
    }
    Ok(())
}
