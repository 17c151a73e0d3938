//! Moves an embedded database into an empty PostgreSQL database.

use std::{fs, io::ErrorKind, path::Path};

use sealpost_storage::{Database, DatabaseUrl, MoveSource, MovedRows, owned_file};

use crate::{
    composition::database::require_sqlite,
    embedded::data_folder,
    error::{NodeError, database_error},
    keys::{inspection, source::KeySource},
    settings::{DatabaseSettings, KeySettings},
};

/// The result of a move.
#[derive(Debug)]
pub struct Moved {
    /// The tables with their numbers of rows.
    pub tables: Vec<MovedRows>,
    /// The place of the key-encryption keys of both databases, such as `file:PATH`.
    pub keys: String,
}

/// Moves the embedded database in the file `from` into the PostgreSQL database of `target`. Calls `progress` with the
/// name of a table and the number of its rows that are moved so far.
///
/// - Refuses a source that a server uses, or that has another schema than this version.
/// - Refuses key-encryption keys that do not match the source. Without keys in the settings, reads the file `kek`
///   beside the source.
/// - Refuses a target that is not empty.
///
/// Holds the lock of the source, so that no server starts on it. Writes nothing to the source. After an error, the
/// target is empty, with one exception: if the response to the COMMIT was lost, the target may contain all data.
pub fn move_database(
    from: &Path,
    target: &DatabaseSettings,
    keys: &KeySettings,
    progress: &dyn Fn(&str, u64),
) -> Result<Moved, NodeError> {
    let from = owned_file::resolve_links(from);
    match fs::metadata(&from) {
        Ok(found) if found.is_file() => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(NodeError::new(format!(
                "the database {} cannot be reached ({error}): run the command as the user of the server",
                from.display()
            )));
        }
        Ok(_) | Err(_) => {
            return Err(NodeError::new(format!(
                "the database {} does not exist: give its file with --from sqlite:PATH",
                from.display()
            )));
        }
    }
    let Some(_lock) = data_folder::try_lock(&from)? else {
        return Err(NodeError::new(format!(
            "a server is running on {}: stop it, and move again",
            from.display()
        )));
    };
    data_folder::require_single_name(&from)?;
    require_sqlite(&from)?;
    let source = MoveSource::open(&from).map_err(database_error)?;
    let keys = check_keys(&from, &source, keys)?;
    let url = target.database_url();
    let DatabaseUrl::Postgres(_) = &url else {
        return Err(NodeError::new(
            "the target must be a PostgreSQL database: give --to postgres://…",
        ));
    };
    let database = Database::open(&url, target.storage).map_err(database_error)?;
    let tables = database.receive(&source, progress).map_err(database_error)?;
    Ok(Moved { tables, keys })
}

/// Checks that the key-encryption keys match the source. Returns the place of the keys.
fn check_keys(from: &Path, source: &MoveSource, keys: &KeySettings) -> Result<String, NodeError> {
    let data_dir = owned_file::folder_of(from);
    let embedded = DatabaseSettings { data_dir, ..DatabaseSettings::default() };
    let place = KeySource::new(keys, &embedded)?;
    let wrapped = source.wrapped_keks().map_err(database_error)?;
    let keyring = place.read(&wrapped)?.ok_or_else(|| {
        NodeError::new(match place.file() {
            Some(file) => format!(
                "the key file {} is missing: give the key file of the database with --kek-file",
                file.display()
            ),
            None => format!("{} has wrapped no key of this database", place.describe()),
        })
    })?;
    let marks = source.kek_marks().map_err(database_error)?;
    inspection::check_each_mark(&keyring, marks)?;
    Ok(place.describe())
}
