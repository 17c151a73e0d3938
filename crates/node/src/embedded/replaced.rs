//! The database that a restore has replaced. The old database stays in its folder under another name.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sealpost_domain::Timestamp;
use sealpost_storage::owned_file::{folder_of, with_suffix};

/// Creates a hard link to the old database, so that its file stays when the restore replaces the database. Returns the
/// path of the hard link, or `None` if no old database exists.
pub(super) fn give_second_name(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    if !database.exists() {
        return Ok(None);
    }
    for number in now.as_seconds().. {
        let aside = with_suffix(database, &format!("{REPLACED}{number}"));
        match fs::hard_link(database, &aside) {
            // An earlier restore has used the name. The loop tries the next number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| Some(aside)),
        }
    }
    Ok(None)
}

/// Moves the write-ahead log of `database` to `other_name`. Otherwise SQLite would apply the log to the restored
/// database.
pub(super) fn move_log(database: &Path, other_name: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(database, suffix);
        if log.exists() {
            fs::rename(log, with_suffix(other_name, suffix))?;
        }
    }
    Ok(())
}

/// Returns the hard links to the database that interrupted restores have left.
pub(super) fn second_names(database: &Path) -> io::Result<Vec<PathBuf>> {
    let own = fs::metadata(database)?;
    let prefix = with_suffix(database, REPLACED);
    let prefix = prefix.file_name().unwrap_or_default().as_encoded_bytes();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder_of(database))? {
        let entry = entry?;
        // Skips other files before their metadata is read, because such a file may vanish meanwhile.
        if !entry.file_name().as_encoded_bytes().starts_with(prefix) {
            continue;
        }
        let other = entry.metadata()?;
        if (other.dev(), other.ino()) == (own.dev(), own.ino()) {
            names.push(entry.path());
        }
    }
    Ok(names)
}

/// Undoes the steps of a restore that was interrupted before it replaced the database: moves the write-ahead log back,
/// and deletes the hard link.
pub(super) fn undo_interrupted(database: &Path) -> io::Result<()> {
    for name in second_names(database)? {
        if !with_suffix(database, "-wal").exists() {
            move_log(&name, database)?;
        }
        fs::remove_file(&name)?;
    }
    Ok(())
}

const REPLACED: &str = ".replaced-";
