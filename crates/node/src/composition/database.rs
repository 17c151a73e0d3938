//! Opens and migrates the database.

use std::{fs::File, io::Read as _, path::Path};

use sealpost_storage::{Database, DatabaseUrl, Encryption};

use crate::{
    embedded::{data_folder, disk_reserve},
    error::{NodeError, database_error},
    settings::DatabaseSettings,
};

/// Opens a database and creates its folder if necessary. Does not migrate the database. Fails if the path of an
/// embedded database is a folder. Also fails if its file has another hard link, because SQLite would use another
/// write-ahead log under that name. If the disk of an embedded database is almost full, first deletes the disk reserve.
pub fn open_database(
    settings: &DatabaseSettings,
    url: &DatabaseUrl,
) -> Result<Database, NodeError> {
    if let DatabaseUrl::Sqlite(file) = url {
        data_folder::refuse_folder(file)?;
        data_folder::create_parent(file)?;
        data_folder::require_single_name(file)?;
        disk_reserve::release_if_full(file);
    }
    Database::open(url, settings.storage).map_err(database_error)
}

/// Rejects a file that is no SQLite database. Accepts a missing or empty file, because a start creates the database.
/// Call only before this process opens the database: closing the file would release the locks of SQLite.
pub(crate) fn require_sqlite(file: &Path) -> Result<(), NodeError> {
    if !file.is_file() || starts_as_sqlite(file) {
        return Ok(());
    }
    Err(NodeError::new(format!(
        "the path {} of the database leads to a file that is no SQLite database: give another path, or move the file \
         away",
        file.display()
    )))
}

/// Returns true if a file is empty, or begins like an SQLite database. Also returns true for an unreadable file,
/// because SQLite then reports the error.
fn starts_as_sqlite(file: &Path) -> bool {
    let mut start = Vec::new();
    let length = u64::try_from(SQLITE_START.len()).unwrap_or(u64::MAX);
    let read = File::open(file).and_then(|opened| opened.take(length).read_to_end(&mut start));
    read.is_err() || start.is_empty() || start == SQLITE_START
}

/// Logs a warning if the connections to the database are encrypted more weakly than by default. Rejects contradictory
/// encryption settings.
pub(super) fn check_encryption(
    settings: &DatabaseSettings,
    url: &DatabaseUrl,
) -> Result<(), NodeError> {
    let encryption = url.encryption(settings.storage.in_clear).map_err(database_error)?;
    if let Encryption::Weaker(mode) = encryption
        && let Some(risk) = mode.risk()
    {
        tracing::warn!(sslmode = mode.as_str(), "{risk}");
    }
    Ok(())
}

/// Migrates an outdated database to the current schema if `may_migrate` is true. Otherwise rejects an outdated
/// database.
pub(super) fn migrate_or_reject(database: &Database, may_migrate: bool) -> Result<(), NodeError> {
    if may_migrate {
        database.migrate().map_err(database_error)?;
        return Ok(());
    }
    let pending = database.pending_migrations().map_err(database_error)?;
    if pending.is_empty() {
        return Ok(());
    }
    Err(NodeError::new(format!(
        "the database is older than this version: run `sealpost migrate`, or serve with --migrate, to apply {}",
        pending.join(", ")
    )))
}

/// First bytes of each SQLite database.
const SQLITE_START: &[u8] = b"SQLite format 3\0";
