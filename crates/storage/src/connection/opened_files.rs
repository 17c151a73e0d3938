//! Recognizes an SQLite database whose files were replaced or deleted while this process has them open. A write would
//! then go to a file that the next process does not find, and all its data would be lost.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use sealpost_domain::ports::StoreError;

use crate::{connection::query_error::unavailable, owned_file::with_suffix};

/// The files of an opened database: the device and inode numbers of the database file and of its write-ahead log.
/// `None` for a file that could not be found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenedFiles([Option<(u64, u64)>; 2]);

impl OpenedFiles {
    /// Finds the files of the database at this path. Call after a connection has opened them.
    pub(crate) fn at(path: &Path) -> Self {
        Self(SUFFIXES.map(|suffix| identity(&with_suffix(path, suffix)).ok()))
    }

    /// Refuses to write if one of the files was replaced or deleted. Ignores other errors, such as a folder that is no
    /// longer readable, because they do not affect the open files.
    pub(crate) fn require_unchanged(&self, path: &Path) -> Result<(), StoreError> {
        for (opened, suffix) in self.0.into_iter().zip(SUFFIXES) {
            let Some(opened) = opened else { continue };
            let is_changed = match identity(&with_suffix(path, suffix)) {
                Ok(found) => found != opened,
                Err(error) => {
                    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                }
            };
            if is_changed {
                return Err(unavailable(REPLACED));
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

const SUFFIXES: [&str; 2] = ["", "-wal"];
const REPLACED: &str = "a file of the database was replaced or deleted while the server runs: put the former file back, \
    or stop the server and restore a backup";
