//! Checks the key-encryption keys against a database for diagnosis. Changes nothing.

use sealpost_domain::{Wrapped, ports::StoreError};
use sealpost_storage::Database;
use sealpost_wallet::{Keyring, Root, WalletError, WebhookSecret};

use crate::error::{NodeError, database_error};

/// Checks that the keys match the key marks in the database. A mark is a known text encrypted under one key version.
/// Adds no marks.
pub fn check_marks(keyring: &Keyring, database: &Database) -> Result<(), NodeError> {
    check_each_mark(keyring, database.kek_marks().map_err(database_error)?)
}

/// Checks that the keys match these key marks. A mark is a known text encrypted under one key version.
pub(crate) fn check_each_mark(
    keyring: &Keyring,
    marks: Vec<(u32, Wrapped)>,
) -> Result<(), NodeError> {
    for (version, mark) in marks {
        keyring.check_mark(version, &mark).map_err(|error| {
            NodeError::new(match error {
                WalletError::UnknownKekVersion { version } => format!(
                    "the key-encryption key version {version} is missing: add its line to the key file"
                ),
                _ => format!(
                    "the key-encryption key version {version} does not match this database: restore the key file \
                     that the database was created with"
                ),
            })
        })?;
    }
    Ok(())
}

/// Tries to decrypt the secrets of the first 200 identities and of the first 200 webhooks. Returns a summary for the
/// operator. Fails if a secret cannot be decrypted.
pub fn sample_rows(keyring: &Keyring, database: &Database) -> Result<String, NodeError> {
    let read = database.read(|reader| {
        Ok::<_, StoreError>((
            reader.roots_after(None, SAMPLE)?,
            reader.secrets_after(None, SAMPLE)?,
        ))
    });
    let (roots, secrets) = read.map_err(database_error)?;
    let lost_roots = roots.iter().filter(|(id, row)| Root::unwrap(keyring, id, row).is_err());
    let lost_secrets =
        secrets.iter().filter(|(id, row)| WebhookSecret::unwrap(keyring, id, row).is_err());
    let undecryptable = lost_roots.count().saturating_add(lost_secrets.count());
    let rows = roots.len().saturating_add(secrets.len());
    if undecryptable == 0 {
        return Ok(format!("all {rows} sampled rows can be decrypted"));
    }
    Err(NodeError::new(format!(
        "{undecryptable} of {rows} sampled rows cannot be decrypted: restore them from a backup"
    )))
}

/// Maximum number of identities, and of webhooks, whose secrets are decrypted.
const SAMPLE: u32 = 200;
