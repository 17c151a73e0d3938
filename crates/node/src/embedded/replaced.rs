//! The database that a restore has replaced. It stays in its folder under another name.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sealpost_domain::Timestamp;
use sealpost_storage::owned_file::{folder_of, with_suffix};

/// Gives the old database a second name, under which it stays. Returns `None` if no old database exists.
pub(super) fn give_second_name(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    if !database.exists() {
        return Ok(None);
    }
    for number in now.as_seconds().. {
        let aside = with_suffix(database, &format!("{REPLACED}{number}"));
        match fs::hard_link(database, &aside) {
            // An earlier restore has used the name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| Some(aside)),
        }
    }
    Ok(None)
}

/// Moves the write-ahead log of a database to its other name. SQLite would apply the log to a new file under the old name.
pub(super) fn move_log(database: &Path, other_name: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(database, suffix);
        if log.exists() {
            fs::rename(log, with_suffix(other_name, suffix))?;
        }
    }
    Ok(())
}

/// Undoes the steps of a restore that was interrupted before it replaced the database: moves the log back, and deletes
/// the second name.
pub(super) fn undo_interrupted(database: &Path) -> io::Result<()> {
    let own = fs::metadata(database)?;
    for entry in fs::read_dir(folder_of(database))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own_name = database.file_name().unwrap_or_default().to_string_lossy();
        let is_second_name = name.strip_prefix(&*own_name).is_some_and(|rest| {
            rest.strip_prefix(REPLACED).is_some_and(|number| number.parse::<u64>().is_ok())
        });
        if !is_second_name {
            continue;
        }
        let other = fs::symlink_metadata(&path)?;
        if (other.dev(), other.ino()) == (own.dev(), own.ino()) {
            if !with_suffix(database, "-wal").exists() {
                move_log(&path, database)?;
            }
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

const REPLACED: &str = ".replaced-";
