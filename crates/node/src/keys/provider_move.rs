//! Moves the key-encryption keys to another provider, or into a key file, while servers run.
//!
//! The keys themselves stay the same, so the move changes no other row. Between [`copy`] and [`finish`], both places
//! have all keys, and servers with the settings of either place can start.

use sealpost_service::Operator;
use sealpost_storage::Database;
use sealpost_wallet::Keyring;
use serde::Serialize;

use super::{
    inspection::check_marks,
    mark,
    source::{KeySource, create_with, insert_wrapped},
};
use crate::error::{NodeError, database_error};

/// The result of copying the keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeksCopied {
    /// The key provider or key file that the keys were copied from.
    pub from: String,
    /// The key provider or key file that the keys were copied to.
    pub to: String,
    /// The versions of the keys in the new place.
    pub versions: Vec<u32>,
}

/// The result of the end of a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoveFinished {
    /// The key provider or key file that keeps the keys.
    pub to: String,
    /// The number of wrapped keys of other providers that were deleted.
    pub deleted: usize,
}

/// Copies all keys to another place. Checks that the new place returns the same keys. Can be repeated. Fails if both
/// places are the same.
pub fn copy(
    from: &KeySource,
    to: &KeySource,
    database: &Database,
    operator: &Operator,
) -> Result<KeksCopied, NodeError> {
    let (from_name, to_name) = (from.describe(), to.describe());
    if from_name == to_name {
        return Err(NodeError::new(format!(
            "the keys are in {from_name} already: give another --to"
        )));
    }
    let keyring = require(from, database)?;
    mark(&keyring, database)?;
    match to {
        KeySource::File(file) => {
            create_with(file, &keyring.to_lines().map_err(NodeError::caused_by)?)?;
        }
        KeySource::Provider(provider) => {
            for version in keyring.versions() {
                insert_wrapped(provider.as_ref(), &keyring, version, database)?;
            }
        }
        KeySource::Text(_) => return Err(NodeError::new("a command cannot change SEALPOST_KEK")),
    }
    let copied = require(to, database)?;
    check_marks(&copied, database)?;
    operator.record_kek_move(&from_name, &to_name).map_err(NodeError::caused_by)?;
    Ok(KeksCopied { from: from_name, to: to_name, versions: copied.versions() })
}

/// Ends a move: deletes the wrapped keys of all providers except `to`. Fails if a key is missing in `to`.
pub fn finish(
    to: &KeySource,
    database: &Database,
    operator: &Operator,
) -> Result<MoveFinished, NodeError> {
    check_marks(&require(to, database)?, database)?;
    let name = to.describe();
    operator.record_kek_move_end(&name).map_err(NodeError::caused_by)?;
    let kept = match to {
        KeySource::Provider(_) => Some(name.as_str()),
        KeySource::File(_) | KeySource::Text(_) => None,
    };
    let deleted = database.delete_other_wrapped_keks(kept).map_err(database_error)?;
    Ok(MoveFinished { to: name, deleted })
}

fn require(source: &KeySource, database: &Database) -> Result<Keyring, NodeError> {
    source
        .read_for(database)?
        .ok_or_else(|| NodeError::new(format!("there are no keys in {}", source.describe())))
}
