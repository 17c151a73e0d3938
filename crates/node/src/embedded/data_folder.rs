//! Creates the folder of an embedded database, and locks the database against a second server.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sealpost_storage::owned_file::{self, with_suffix};

use crate::{
    embedded::replaced, error::NodeError, files::regular_file, settings::DatabaseSettings,
};

/// Locks the embedded database for a server. Without the lock, a second server could release the delivery leases of the
/// first server, and events would be sent twice.
pub(crate) fn lock(settings: &DatabaseSettings, database: &Path) -> Result<File, NodeError> {
    lock_unless_used(database, |database| {
        format!(
            "another server is running on {}: stop it, or give this server another --data-dir than {}",
            database.display(),
            settings.data_dir.display()
        )
    })
}

/// Locks the embedded database for a restore, which needs a stopped server.
pub(crate) fn lock_to_restore(database: &Path) -> Result<File, NodeError> {
    lock_unless_used(database, |database| {
        format!(
            "a server is running on {}: stop the server first, and restore again",
            database.display()
        )
    })
}

/// Locks the embedded database for this process, or fails with the text of `used` if another process has the lock.
/// Dropping the returned file releases the lock. Also undoes the steps of an interrupted restore.
///
/// The lock file is beside the database itself, not beside a symbolic link, so that each database has one lock.
fn lock_unless_used(
    database: &Path,
    used: impl FnOnce(&Path) -> String,
) -> Result<File, NodeError> {
    refuse_folder(database)?;
    let database = owned_file::resolve_links(database);
    create_parent(&database)?;
    let file = try_lock(&database)?.ok_or_else(|| NodeError::new(used(&database)))?;
    require_single_name(&database)?;
    if database.exists() {
        let cannot = |error| cannot_lock(&database, error);
        replaced::undo_interrupted(&database).map_err(cannot)?;
    }
    Ok(file)
}

/// Locks the embedded database, whose path must have no symbolic links. Returns `None` if another process has the lock.
pub(super) fn try_lock(database: &Path) -> Result<Option<File>, NodeError> {
    regular_file::try_lock(&lock_file(database)).map_err(|error| cannot_lock(database, error))
}

fn cannot_lock(database: &Path, error: io::Error) -> NodeError {
    NodeError::caused(format!("the database {} cannot be locked", database.display()), error)
}

/// Fails if the path of the database is a folder.
pub(crate) fn refuse_folder(database: &Path) -> Result<(), NodeError> {
    if !database.is_dir() {
        return Ok(());
    }
    Err(NodeError::new(format!(
        "the path {} of the database leads to a folder: give the path of a file in it, such as \
         sqlite:FOLDER/sealpost.db",
        database.display()
    )))
}

/// Refuses a database with a second hard link. SQLite would use another write-ahead log under each name, which loses
/// changes or damages the database. Accepts a hard link that an interrupted restore has left.
pub(crate) fn require_single_name(database: &Path) -> Result<(), NodeError> {
    let database = owned_file::resolve_links(database);
    // Skips the check for a folder, which always has several links.
    let found = fs::metadata(&database).ok().filter(fs::Metadata::is_file);
    let links = found.map_or(1, |found| found.nlink());
    let left = || replaced::second_names(&database).map_or(0, |names| names.len());
    if links <= 1 || u64::try_from(left()).is_ok_and(|left| links <= left.saturating_add(1)) {
        return Ok(());
    }
    Err(NodeError::new(format!(
        "the database {0} has another hard link, and changes through one name are missing under the other: delete the \
         other link, which `find / -samefile {0}` finds",
        database.display()
    )))
}

/// Returns the path of the lock file for the path of a database without symbolic links.
pub(crate) fn lock_file(database: &Path) -> PathBuf {
    with_suffix(database, ".lock")
}

/// Logs a warning for each data folder in which other users can replace files.
pub(crate) fn warn_of_replaceable(settings: &DatabaseSettings, database: &Path) {
    for folder in replaceable(settings, database) {
        tracing::warn!(
            "other users can replace files in the data folder {0}: run chmod 700 {0}",
            folder.display()
        );
    }
}

/// Returns the folders of the embedded database and of its key file in which users other than the owner can replace
/// files. Omits a folder with the sticky bit, such as `/tmp`, in which users can replace only their own files.
pub(crate) fn replaceable(settings: &DatabaseSettings, database: &Path) -> BTreeSet<PathBuf> {
    let keys = fs::canonicalize(&settings.data_dir);
    let keys = keys.unwrap_or_else(|_missing| settings.data_dir.clone());
    let mut folders =
        BTreeSet::from([owned_file::folder_of(&owned_file::resolve_links(database)), keys]);
    folders.retain(|folder| {
        let mode = fs::metadata(folder).map_or(0, |found| found.mode());
        mode & WRITABLE_BY_OTHERS != 0 && mode & STICKY == 0
    });
    folders
}

/// Creates the folder of a file if it is missing, with mode 0700.
pub(crate) fn create_parent(file: &Path) -> Result<(), NodeError> {
    let folder = owned_file::folder_of(file);
    owned_file::create_folder(&folder).map_err(|error| {
        NodeError::caused(format!("the data folder {} cannot be created", folder.display()), error)
    })
}

/// The permission bits with which the group and all other users can write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The permission bit with which only the owner of a file can replace the file.
pub(crate) const STICKY: u32 = 0o1000;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_is_replaceable_if_others_can_write_it() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let settings =
            DatabaseSettings { data_dir: data.path().to_owned(), ..DatabaseSettings::default() };
        let chmod = |folder: &Path, mode| {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        };
        let found = |folder: &Path| replaceable(&settings, &folder.join("sealpost.db")).len();
        for (mode, count) in
            [(0o700, 0), (0o755, 0), (0o1777, 0), (0o720, 1), (0o702, 1), (0o777, 1)]
        {
            chmod(data.path(), mode);
            assert_eq!(found(data.path()), count, "{mode:o}");
        }
        assert_eq!(found(other.path()), 1, "the folder of the key file");
        chmod(other.path(), 0o770);
        assert_eq!(found(other.path()), 2);
        assert_eq!(found(&other.path().join("missing")), 1);
    }
}
