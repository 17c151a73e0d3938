//! Rotates the key-encryption key while servers run.
//!
//! A rotation can be interrupted at any time and repeated. Before a row is encrypted under a new key version, this
//! version is on disk, in the key file or wrapped in the database. A rotation never removes an older version. Therefore
//! all rows stay readable after an interruption.

mod key_file;

use std::{sync::Arc, thread};

use sealpost_domain::{Wrapped, ports::StoreError};
use sealpost_service::{Operator, Rewrapped};
use sealpost_storage::{Database, Reader};
use sealpost_wallet::{KekProvider, Keyring, kek_version};

use self::key_file::KeyFile;
use super::{
    mark,
    source::{KeySource, insert_new},
    watch::WATCH_PERIOD,
};
use crate::error::{NodeError, database_error};

/// Adds a new key version to the source of the keys and re-encrypts all rows under the new version. Calls `progress`
/// with the number of rows read so far. Blocks the thread.
///
/// Adds no version if some rows are still encrypted under an older version: after an interrupted rotation, or after an
/// operator has added the newest version by hand. Then only re-encrypts these rows under the newest version.
pub fn rotate(
    source: &KeySource,
    database: &Database,
    operator: &Operator,
    progress: &mut dyn FnMut(u64),
) -> Result<Rewrapped, NodeError> {
    refuse_unfinished_move(source, database, operator)?;
    source.read_or_create(database)?;
    let file = source.file().map(KeyFile::lock).transpose()?;
    let read = || {
        let keyring = source.read_or_create(database)?;
        mark(&keyring, database)?;
        Ok(keyring)
    };
    let mut keyring = read()?;
    if !is_interrupted(database, keyring.newest())? {
        match (source, &file) {
            (KeySource::File(_), Some(file)) => file.add(keyring.newest())?,
            (KeySource::Provider(provider), _) => add(provider.as_ref(), &keyring, database)?,
            (KeySource::File(_) | KeySource::Text(_), _) => return Err(not_extensible()),
        }
        keyring = source.read_or_create(database)?;
    }
    // Waits until every server has loaded the new version. From then on, no server encrypts under an older version.
    thread::sleep(WATCH_PERIOD.saturating_mul(2).saturating_add(WATCH_PERIOD / 2));
    mark(&keyring, database)?;
    let keyring = Arc::new(keyring);
    database.authenticate_rows(Arc::<Keyring>::clone(&keyring));
    operator.record_kek_rotation(keyring.newest()).map_err(NodeError::caused_by)?;
    operator.rewrap(&keyring, progress).map_err(NodeError::caused_by)
}

/// Fails while the keys are moved to another place, because the new version would be missing in one of the two places.
/// A move from or to a key file is not visible in the wrapped keys, so this function also searches the audit trail for
/// an unfinished move.
fn refuse_unfinished_move(
    source: &KeySource,
    database: &Database,
    operator: &Operator,
) -> Result<(), NodeError> {
    let name = source.describe();
    let wrapped = database.wrapped_keks().map_err(database_error)?;
    let unfinished = match wrapped.iter().find(|kek| kek.provider != name) {
        Some(other) => format!("the database also has keys that {} has wrapped", other.provider),
        None if operator.is_kek_moving().map_err(NodeError::caused_by)? => {
            "a move of the keys has not ended".to_owned()
        }
        None => return Ok(()),
    };
    Err(NodeError::new(format!(
        "{unfinished}: end the move with `sealpost admin kek move --to PROVIDER --finish` first"
    )))
}

/// Stores a new key version, wrapped by the key provider.
fn add(
    provider: &dyn KekProvider,
    keyring: &Keyring,
    database: &Database,
) -> Result<(), NodeError> {
    let version = keyring.newest().checked_add(1).ok_or_else(not_extensible)?;
    if insert_new(provider, version, database)? {
        return Ok(());
    }
    Err(NodeError::new("another rotation is running: wait until it ends"))
}

fn not_extensible() -> NodeError {
    NodeError::new("these keys cannot be extended: write them into a key file")
}

/// Returns `true` if a row is encrypted under an older version than `newest`. This happens after an interrupted
/// rotation, or if an operator has added the newest version by hand.
fn is_interrupted(database: &Database, newest: u32) -> Result<bool, NodeError> {
    let roots = any_older(database, newest, Reader::roots_after)?;
    let secrets = || any_older(database, newest, Reader::secrets_after);
    let issuer = || any_older(database, newest, Reader::issuer_secrets_after);
    let tags = || {
        let count = |reader: &mut Reader| reader.count_tags_before(newest);
        database.read(count).map_err(database_error)
    };
    Ok(roots || secrets()? || issuer()? || tags()? > 0)
}

fn any_older<Id: Copy>(
    database: &Database,
    newest: u32,
    read: impl Fn(&mut Reader, Option<&Id>, u32) -> Result<Vec<(Id, Wrapped)>, StoreError>,
) -> Result<bool, NodeError> {
    let mut after = None;
    loop {
        let page = database.read(|reader| read(reader, after.as_ref(), PAGE));
        let page = page.map_err(database_error)?;
        let Some((last, _)) = page.last() else { return Ok(false) };
        after = Some(*last);
        let is_older = |wrapped: &Wrapped| kek_version(wrapped).is_none_or(|v| v < newest);
        if page.iter().any(|(_, wrapped)| is_older(wrapped)) {
            return Ok(true);
        }
    }
}

const PAGE: u32 = 200;

#[cfg(test)]
mod tests {
    use sealpost_storage::{DatabaseUrl, Settings};
    use sealpost_wallet::ProviderError;
    use zeroize::Zeroizing;

    use super::*;
    use crate::{
        clock::SystemClock,
        keys::{
            self,
            provider_move::{copy, finish},
        },
    };

    /// A key provider that does not encrypt: each wrapped key is the key itself.
    #[derive(Debug)]
    struct Plain;

    impl KekProvider for Plain {
        fn describe(&self) -> String {
            "plain".to_owned()
        }

        fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
            Ok(key.to_vec())
        }

        fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
            Ok(Zeroizing::new(wrapped.try_into().unwrap()))
        }
    }

    #[test]
    fn a_rotation_is_refused_until_a_move_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        let database = Arc::new(Database::open(&url, Settings::default()).unwrap());
        database.migrate().unwrap();
        let store = Arc::<Database>::clone(&database);
        let operator = Operator::new(store, Arc::new(SystemClock), "tester".to_owned());
        let file = |name: &str| KeySource::File(folder.path().join(name));
        let places = [file("kek"), KeySource::Provider(Arc::new(Plain)), file("back")];
        keys::open(&places[0], &database).unwrap();
        for [from, to] in [[&places[0], &places[1]], [&places[1], &places[2]]] {
            refuse_unfinished_move(from, &database, &operator).unwrap();
            copy(from, to, &database, &operator).unwrap();
            for place in [from, to] {
                let refused = rotate(place, &database, &operator, &mut |_| ()).unwrap_err();
                assert!(refused.to_string().contains("--finish"), "{refused}");
            }
            finish(to, &database, &operator).unwrap();
            refuse_unfinished_move(to, &database, &operator).unwrap();
        }
    }
}
