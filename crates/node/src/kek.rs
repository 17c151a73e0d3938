//! Key-encryption keys: where they come from.

mod watch;

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use crate::{
    compose::make_folder_of,
    error::{Failure, NodeError},
    secret_file,
};

pub use watch::WATCH_PERIOD;
pub(crate) use watch::Watch;

/// Where the keys are to be read from.
#[derive(Debug)]
pub enum KekSource<'a> {
    /// A file that must be there.
    File(&'a Path),
    /// The text itself, from the environment.
    Text(Zeroizing<String>),
    /// The file of the embedded database; made where neither it nor the database is there yet.
    Embedded {
        /// The key file.
        file: &'a Path,
        /// The file of the database.
        database: &'a Path,
    },
}

impl<'a> KekSource<'a> {
    /// The file to watch, where it is one.
    pub fn file(&self) -> Option<&'a Path> {
        match self {
            Self::File(file) | Self::Embedded { file, .. } => Some(file),
            Self::Text(_) => None,
        }
    }
}

/// Reads the keys.
pub fn read(source: &KekSource<'_>) -> Result<Keyring, NodeError> {
    if let KekSource::Embedded { file, database } = source
        && !file.exists()
    {
        refuse_orphan(file, database)?;
        make(file)?;
    }
    read_existing(source)
}

/// Reads keys that are there, and makes none.
pub fn read_existing(source: &KekSource<'_>) -> Result<Keyring, NodeError> {
    match source {
        KekSource::File(file) => read_file(file),
        KekSource::Text(text) => Keyring::parse(text).map_err(|fault| {
            NodeError::Keys(Failure::caused("SEALPOST_KEK is not a list of keys", fault))
        }),
        KekSource::Embedded { file, database } => {
            if !file.exists() {
                refuse_orphan(file, database)?;
            }
            read_file(file)
        }
    }
}

fn refuse_orphan(file: &Path, database: &Path) -> Result<(), NodeError> {
    if database.exists() {
        return Err(NodeError::Keys(Failure::new(format!(
            "the key file {} is missing, but the database {} is there and needs it; put the key file back",
            file.display(),
            database.display()
        ))));
    }
    Ok(())
}

fn make(file: &Path) -> Result<(), NodeError> {
    make_folder_of(file)?;
    let line = fresh_line(1)?;
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut handle = options.write(true).create_new(true).mode(0o600).open(file)?;
        writeln!(handle, "{}", line.as_str())?;
        handle.sync_all()
    };
    write().map_err(|error| {
        NodeError::Keys(Failure::caused(
            format!("the key file {} cannot be written", file.display()),
            error,
        ))
    })
}

/// The keys of a file that is there.
pub fn read_file(file: &Path) -> Result<Keyring, NodeError> {
    parse_file(file, &read_text(file)?)
}

fn read_text(file: &Path) -> Result<Zeroizing<String>, NodeError> {
    secret_file::read("the key file", file)
}

fn parse_file(file: &Path, text: &str) -> Result<Keyring, NodeError> {
    Keyring::parse(text).map_err(|fault| {
        NodeError::Keys(Failure::caused(
            format!("the key file {} is not a list of keys", file.display()),
            fault,
        ))
    })
}

fn fresh_line(version: u32) -> Result<Zeroizing<String>, NodeError> {
    Keyring::fresh_line(version)
        .map_err(|error| NodeError::Keys(Failure::caused("no key can be made", error)))
}
