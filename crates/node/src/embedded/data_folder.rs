//! Creates the folder of an embedded database, and locks the database against a second server.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sealpost_storage::owned_file::{self, with_suffix};

use crate::{
    embedded::replaced,
    error::{Failure, NodeError},
    files::regular_file,
    settings::DatabaseSettings,
};

/// Locks the embedded database for this process. Without the lock, a second server would release the delivery leases of
/// the first server when it starts, and events could be sent twice.
///
/// The lock file is beside the database itself, not beside a symbolic link, so that each database has one lock.
pub(crate) fn lock(settings: &DatabaseSettings, database: &Path) -> Result<File, NodeError> {
    let database = owned_file::resolve_links(database);
    create_parent(&database)?;
    let path = lock_file(&database);
    let cannot = |error: io::Error| {
        let message = format!("the database {} cannot be locked", database.display());
        NodeError::Start(Failure::caused(message, error))
    };
    let Some(file) = regular_file::try_lock(&path).map_err(cannot)? else {
        return Err(NodeError::Start(Failure::new(format!(
            "another server is running on {}: stop it, or give this server another --data-dir than {}",
            database.display(),
            settings.data_dir.display()
        ))));
    };
    require_single_name(&database)?;
    if database.exists() {
        replaced::undo_interrupted(&database).map_err(cannot)?;
    }
    Ok(file)
}

/// Refuses a database with another hard link: SQLite would use another write-ahead log under each name, so that changes
/// are missing or the database is damaged. Accepts the second name that an interrupted restore has left.
pub(crate) fn require_single_name(database: &Path) -> Result<(), NodeError> {
    let database = owned_file::resolve_links(database);
    // A folder has several links, and is refused when it is opened.
    let found = fs::metadata(&database).ok().filter(fs::Metadata::is_file);
    let links = found.map_or(1, |found| found.nlink());
    let left = || replaced::second_names(&database).map_or(0, |names| names.len());
    if links <= 1 || u64::try_from(left()).is_ok_and(|left| links <= left.saturating_add(1)) {
        return Ok(());
    }
    Err(NodeError::Start(Failure::new(format!(
        "the database {0} has another hard link, and changes through one name are missing under the other: delete the \
         other link, which `find / -samefile {0}` finds",
        database.display()
    ))))
}

/// Returns the path of the lock file for the path of a database without symbolic links.
pub(crate) fn lock_file(database: &Path) -> PathBuf {
    with_suffix(database, ".lock")
}

/// Creates the folder of a file if it is missing, with mode 0700.
pub(crate) fn create_parent(file: &Path) -> Result<(), NodeError> {
    let folder = owned_file::folder_of(file);
    owned_file::create_folder(&folder).map_err(|error| {
        let message = format!("the data folder {} cannot be created", folder.display());
        NodeError::Start(Failure::caused(message, error))
    })
}
