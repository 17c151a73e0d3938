//! The file that a restore reads: a backup, or the database file of a stopped server with the write-ahead log beside
//! it. The file is never changed.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read as _},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    io::Errno,
    process::{Flock, FlockType, fcntl_getlk},
};
use sealpost_storage::{
    backup_identity, check_backup,
    owned_file::{self, with_suffix},
};

use crate::{embedded::write_ahead_log, error::NodeError, files::regular_file};

/// A file from which a database can be restored.
pub(super) struct BackupSource {
    /// The path without symbolic links. SQLite's logs are beside it.
    path: PathBuf,
    file: File,
    /// True if the file is a server's database file without a write-ahead log beside it. This is normal after an
    /// orderly stop. If the server crashed, the log was lost, and the newest commits with it.
    pub(super) lacks_log: bool,
}

impl BackupSource {
    /// Opens the file. Refuses:
    ///
    /// - the database that the restore replaces;
    /// - a file in the folder `work`, which the restore deletes;
    /// - a file that is not an SQLite database;
    /// - a file that lacks its log and has a second hard link, because the log may be beside the other name;
    /// - a file with the log of another database beside it.
    pub(super) fn open(backup: &Path, database: &Path, work: &Path) -> Result<Self, NodeError> {
        let opened = fs::canonicalize(backup)
            .and_then(|path| Ok(Self { file: regular_file::open(&path)?, path, lacks_log: false }));
        let mut source = opened.map_err(|error| {
            NodeError::caused(format!("the backup {} cannot be read", backup.display()), error)
        })?;
        let found = source.file.metadata().map_err(|error| source.cannot("be read", error))?;
        let is_same = |own: fs::Metadata| (own.dev(), own.ino()) == (found.dev(), found.ino());
        if fs::metadata(database).is_ok_and(is_same) {
            return Err(source.refused("is the database itself: give another file"));
        }
        if fs::canonicalize(work).is_ok_and(|work| source.path.starts_with(work)) {
            return Err(source.refused(
                "is in the work folder, which the restore deletes: move the file to another folder",
            ));
        }
        let mut head = [0; HEAD];
        if source.file.read_exact_at(&mut head, 0).is_err() || !head.starts_with(MAGIC) {
            return Err(source.refused(&format!(
                "has {} bytes and is not a database: give a file from `sealpost backup`",
                found.len()
            )));
        }
        let has_log = source.log_bytes(LOGS[0]) > 0;
        let log_mode = head.get(LOG_MODE);
        source.lacks_log = log_mode == Some(&WITH_LOG) && !has_log;
        if source.lacks_log && found.nlink() > 1 {
            return Err(source.refused(
                "has another hard link, and its write-ahead log can be beside the other name: give the other name, \
                 or a copy without hard links",
            ));
        }
        if log_mode == Some(&WITHOUT_LOG) && has_log {
            return Err(source.refused(
                "has no write-ahead log, so the file beside it with the suffix -wal belongs to another database: \
                 move the log to another folder",
            ));
        }
        Ok(source)
    }

    /// Copies the file and its logs, and checks the copy. Refuses a file that another process uses, a damaged log, and
    /// a log of another database.
    pub(super) fn copy_to(&self, copy: &Path) -> Result<(), NodeError> {
        let cannot = |error| self.cannot(&format!("be copied to {}", copy.display()), error);
        self.refuse_if_used()?;
        let before = self.state();
        write_copy(&self.file, copy).map_err(cannot)?;
        let mut id_without_log = None;
        for suffix in LOGS {
            if self.log_bytes(suffix) == 0 {
                continue;
            }
            // Reads the id before the first log is beside the copy, because SQLite would apply the log.
            id_without_log = id_without_log.or_else(|| backup_identity(copy));
            let log = open_log(&with_suffix(&self.path, suffix)).map_err(cannot)?;
            write_copy(&log, &with_suffix(copy, suffix)).map_err(cannot)?;
        }
        self.refuse_damaged_log(copy)?;
        self.refuse_if_used()?;
        if self.state() != before {
            return Err(self.refused("has changed during the copy: stop its server first"));
        }
        let unusable = |error| NodeError::caused(self.text("cannot be restored"), error);
        let id = check_backup(copy).map_err(unusable)?;
        if id_without_log.is_some_and(|without_log| without_log != id) {
            return Err(self.refused(
                "and the log beside it belong to different databases: give a file with its own log, or without a log",
            ));
        }
        Ok(())
    }

    /// Refuses a damaged log, because SQLite would silently drop commits from it. Reads the copy of the log, beside
    /// `copy`.
    fn refuse_damaged_log(&self, copy: &Path) -> Result<(), NodeError> {
        let damaged_at = match File::open(with_suffix(copy, LOGS[0])) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.and_then(|log| write_ahead_log::damaged_at(BufReader::new(log))),
        };
        match damaged_at.map_err(|error| self.cannot("be checked", error))? {
            None => Ok(()),
            Some(bytes) => Err(self.refused(&format!(
                "has a damaged write-ahead log, whose commits after byte {bytes} are unreadable: give another copy; to \
                 restore without these commits, run truncate --size={bytes} on a copy of the log",
            ))),
        }
    }

    /// Refuses the file while a process has it open as a database, under any name.
    fn refuse_if_used(&self) -> Result<(), NodeError> {
        match is_used(&self.file) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.refused(
                "is a database in use: stop its server, or copy it with `sealpost backup` and restore the copy",
            )),
            Err(error) => Err(self.cannot("be checked for locks", error)),
        }
    }

    /// Returns the sizes and times of the file and its logs, to detect a write during the copy.
    fn state(&self) -> [Option<(u64, i64, i64)>; 3] {
        ["", LOGS[0], LOGS[1]].map(|suffix| {
            let found = fs::metadata(with_suffix(&self.path, suffix)).ok()?;
            Some((found.len(), found.mtime(), found.mtime_nsec()))
        })
    }

    fn log_bytes(&self, suffix: &str) -> u64 {
        fs::metadata(with_suffix(&self.path, suffix)).map_or(0, |log| log.len())
    }

    fn refused(&self, problem: &str) -> NodeError {
        NodeError::new(self.text(problem))
    }

    fn cannot(&self, what: &str, error: io::Error) -> NodeError {
        NodeError::caused(self.text(&format!("cannot {what}")), error)
    }

    fn text(&self, problem: &str) -> String {
        format!("the backup {} {problem}", self.path.display())
    }
}

/// Returns whether another process uses the file as a database. SQLite holds a lock on the file for as long as a
/// connection with a write-ahead log is open.
pub(super) fn is_used(file: &File) -> io::Result<bool> {
    match fcntl_getlk(file, &Flock::from(FlockType::WriteLock)) {
        // The file system has no locks. No server can run on the file, because SQLite needs locks.
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        found => Ok(found?.is_some()),
    }
}

/// Opens a log. Refuses a symbolic link, as SQLite does: when root restores a backup, the link could lead to a file
/// that only root may read.
fn open_log(path: &Path) -> io::Result<File> {
    let log = regular_file::open(path)?;
    let (opened, named) = (log.metadata()?, fs::symlink_metadata(path)?);
    if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
        let message = format!("{} is a symbolic link: replace it by a copy", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(log)
}

fn write_copy(mut file: &File, copy: &Path) -> io::Result<()> {
    let mut written = owned_file::create(File::options().write(true), copy)?;
    io::copy(&mut file.by_ref(), &mut written).map(drop)
}

/// Suffixes of the two kinds of log beside a database file. SQLite applies their content to the database.
const LOGS: [&str; 2] = ["-wal", "-journal"];
/// The first bytes of an SQLite file. In its header, the byte at `LOG_MODE` selects the kind of log.
const MAGIC: &[u8] = b"SQLite format 3\0";
const HEAD: usize = 100;
const LOG_MODE: usize = 18;
const WITHOUT_LOG: u8 = 1;
const WITH_LOG: u8 = 2;
