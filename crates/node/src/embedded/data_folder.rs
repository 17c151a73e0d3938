//! Creates the folder of an embedded database, and locks the database against a second server.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use crate::{
    error::{Failure, NodeError},
    files::regular_file,
    settings::DatabaseSettings,
};

/// Locks the embedded database for this process. Without the lock, a second server would release the delivery leases of
/// the first server when it starts, and events could be sent twice.
pub(crate) fn lock(settings: &DatabaseSettings, database: &Path) -> Result<File, NodeError> {
    create_parent(database)?;
    let path = with_suffix(database, ".lock");
    let cannot = |error| {
        let message = format!("the lock file {} cannot be locked", path.display());
        NodeError::Start(Failure::caused(message, error))
    };
    let mut options = File::options();
    options.create(true).truncate(false).write(true).mode(0o600);
    let file = regular_file::open_with(&mut options, &path).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(cannot(error)),
        Err(TryLockError::WouldBlock) => Err(NodeError::Start(Failure::new(format!(
            "another server is running on {}: stop it, or give this server another --data-dir than {}",
            database.display(),
            settings.data_dir.display()
        )))),
    }
}

/// Creates the folder of a file if it is missing, with mode 0700.
pub(crate) fn create_parent(file: &Path) -> Result<(), NodeError> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        let message = format!("the data folder {} cannot be created", folder.display());
        NodeError::Start(Failure::caused(message, error))
    })
}

/// Returns the folder that contains a file.
pub(crate) fn parent(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// If root runs the command, gives the file to the owner of the data folder, so that the server can use it.
pub(crate) fn give_to_owner_of(folder: &Path, file: &Path) -> io::Result<()> {
    let owner = fs::metadata(folder)?;
    if rustix::process::geteuid().is_root() && owner.uid() != 0 {
        std::os::unix::fs::chown(file, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// Appends a suffix to the name of a file.
pub(crate) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
