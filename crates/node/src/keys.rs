//! Reads, checks, watches, rotates and moves the key-encryption keys.

pub mod inspection;
pub mod provider_move;
mod recheck;
pub mod rotation;
pub mod source;
pub(crate) mod watch;

use std::sync::Arc;

use sealpost_service::unlock;
pub use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use crate::error::NodeError;

/// Creates a line for a key file, with this version and a new random key.
pub fn new_line(version: u32) -> Result<Zeroizing<String>, NodeError> {
    Keyring::fresh_line(version).map_err(|error| NodeError::caused("no key can be created", error))
}

/// Reads the key-encryption keys for a database. If there is no key, and no key has been used with the database,
/// creates the first key, in a key file or wrapped by the key provider.
///
/// Rejects keys that do not match the key marks in the database, and adds marks for new versions. A mark is a known
/// text encrypted under one key version.
pub fn open(
    source: &source::KeySource,
    database: &sealpost_storage::Database,
) -> Result<Keyring, NodeError> {
    let keyring = source.read_or_create(database)?;
    mark(&keyring, database)?;
    Ok(keyring)
}

/// Rejects keys that do not match the key marks in the database, and adds marks for new versions. A mark is a known
/// text encrypted under one key version.
pub(crate) fn mark(
    keyring: &Keyring,
    database: &sealpost_storage::Database,
) -> Result<(), NodeError> {
    unlock(keyring, database).map_err(NodeError::caused_by)
}

/// Reads the key-encryption keys and attaches them to the database, for a command that reads or writes authenticated
/// rows, such as API tokens. Rejects keys that do not match the database. If the key file is missing, or the key
/// provider has wrapped no key of the database, attaches no keys and returns `None`. Such a command then fails.
pub fn attach(
    source: &source::KeySource,
    database: &sealpost_storage::Database,
) -> Result<Option<Arc<Keyring>>, NodeError> {
    let Some(keyring) = source.read_for(database)?.map(Arc::new) else { return Ok(None) };
    inspection::check_marks(&keyring, database)?;
    database.authenticate_rows(Arc::<Keyring>::clone(&keyring));
    Ok(Some(keyring))
}
