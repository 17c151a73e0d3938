//! Opens and migrates the database.

use sealpost_storage::{Database, DatabaseUrl, Encryption};

use crate::{
    embedded::data_folder,
    error::{Failure, NodeError, database_error},
    settings::DatabaseSettings,
};

/// Opens a database and creates its folder if necessary. Does not migrate the database.
pub fn open_database(
    settings: &DatabaseSettings,
    url: &DatabaseUrl,
) -> Result<Database, NodeError> {
    if let DatabaseUrl::Sqlite(file) = url {
        data_folder::create_parent(file)?;
    }
    Database::open(url, settings.storage).map_err(database_error)
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
    Err(NodeError::Start(Failure::new(format!(
        "the database is {} migrations behind this version: run `sealpost migrate`, or serve with --migrate",
        pending.len()
    ))))
}
