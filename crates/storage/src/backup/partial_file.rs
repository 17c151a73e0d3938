//! A new file that gets its final name when it is complete. After a crash, only a file with a temporary name is left.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

use crate::owned_file::{self, with_suffix};

/// A file that is not complete yet. Dropping this value removes the file.
pub(super) struct PartialFile {
    /// Path of the file: the final path with [`SUFFIX`].
    pub(super) path: PathBuf,
    /// The open file. Its lock shows that this backup is still running, so that other processes do not delete the file.
    file: File,
    target: PathBuf,
}

impl PartialFile {
    /// Creates the file in the folder of `target`, its final path. Removes files that interrupted backups have left in
    /// this folder. Fails if the target exists, or if a log exists that SQLite would apply to the target.
    pub(super) fn create(target: &Path) -> io::Result<Self> {
        for suffix in ["", "-journal", "-wal"] {
            let path = with_suffix(target, suffix);
            if fs::symlink_metadata(&path).is_ok() {
                return Err(taken(&path));
            }
        }
        remove_leftovers(&owned_file::folder_of(target));
        let path = with_suffix(target, SUFFIX);
        let file = create_locked(&path).map_err(|error| {
            let shown = path.display();
            let message = if error.kind() == io::ErrorKind::AlreadyExists {
                format!("another backup writes {shown}: wait until it ends, or give another file")
            } else {
                format!("{shown} cannot be created: {error}")
            };
            io::Error::new(error.kind(), message)
        })?;
        Ok(Self { path, file, target: target.to_owned() })
    }

    /// Writes the file to the disk and gives it its final name. Returns when the name is on the disk too. Fails if
    /// another file got the final name after [`create`](Self::create).
    pub(super) fn publish(self) -> io::Result<()> {
        let folder = File::open(owned_file::folder_of(&self.target))?;
        self.file.sync_all()?;
        rename_new(&self.path, &self.target)?;
        folder.sync_all().map_err(|error| {
            let message = format!(
                "{} is complete, but not safe before `sync`: {error}",
                self.target.display()
            );
            io::Error::new(error.kind(), message)
        })
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Creates a file and locks it. Creates the file again if another backup removed it as a leftover before the lock.
fn create_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = owned_file::create(OpenOptions::new().write(true), path)?;
        // An error is ignored, because some file systems have no locks. On such file systems, no leftover is removed.
        drop(file.lock());
        let created = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(found) if (found.dev(), found.ino()) == (created.dev(), created.ino()) => {
                return Ok(file);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Renames a file, unless the new name exists.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems do not support `NOREPLACE`. NFS supports hard links instead; other file systems support
        // neither.
        Err(Errno::INVAL | Errno::NOSYS) => match fs::hard_link(from, to) {
            Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
            done => done,
        },
        Err(Errno::EXIST) => Err(taken(to)),
        done => Ok(done?),
    }
}

/// Removes the files of backups that no longer run. Errors are ignored, because a leftover does no harm.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_partial = entry.file_name().to_string_lossy().ends_with(SUFFIX);
        if is_partial
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            remove(&entry.path());
        }
    }
}

fn remove(partial: &Path) {
    drop(fs::remove_file(with_suffix(partial, "-journal")));
    drop(fs::remove_file(partial));
}

fn taken(path: &Path) -> io::Error {
    let message = format!("{} is there already: give a new file", path.display());
    io::Error::new(io::ErrorKind::AlreadyExists, message)
}

const SUFFIX: &str = ".sealpost-partial";
