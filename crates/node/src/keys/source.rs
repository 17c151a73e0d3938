//! Finds and reads the key-encryption keys: in a key file, or in a text that the settings contain.

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use super::new_line;
use crate::{
    embedded::data_folder,
    error::{Failure, NodeError},
    files::{regular_file, secret_file},
    settings::{EmbeddedPaths, KeySettings},
};

/// The place from which the key-encryption keys are read.
#[derive(Debug)]
pub enum KeySource<'a> {
    /// The key file of the embedded database. A node creates the file if neither the key file nor the database exists.
    Embedded {
        /// Path of the file with the key-encryption keys.
        file: &'a Path,
        /// The file of the database.
        database: &'a Path,
    },
    /// A key file that must exist.
    File(&'a Path),
    /// The keys themselves, as text in the format of a key file.
    Text(Zeroizing<String>),
}

impl<'a> KeySource<'a> {
    /// Chooses the source from which a node reads the keys. A node may create the key file of a new embedded database.
    pub fn of_node(settings: &'a KeySettings, paths: &'a EmbeddedPaths) -> Result<Self, NodeError> {
        Ok(match (Self::existing(settings, paths)?, &paths.database) {
            (Self::File(file), Some(database)) if settings.file.is_none() => {
                Self::Embedded { file, database }
            }
            (source, _) => source,
        })
    }

    /// Chooses the source from which an operator command reads the keys. A command creates no key file.
    pub fn existing(
        settings: &'a KeySettings,
        paths: &'a EmbeddedPaths,
    ) -> Result<Self, NodeError> {
        match (&settings.text, &settings.file) {
            (Some(_), Some(_)) => Err(NodeError::Setting(Failure::new(
                "give either --kek-file or SEALPOST_KEK, not both",
            ))),
            (Some(text), None) => Ok(Self::Text(text.clone())),
            (None, Some(file)) => Ok(Self::File(file)),
            (None, None) if paths.database.is_some() => Ok(Self::File(&paths.kek)),
            (None, None) => Err(NodeError::Setting(Failure::new(
                "no key-encryption key is given: create one with `sealpost kek new > FILE` and give --kek-file FILE",
            ))),
        }
    }

    /// Returns the path of the key file; `None` if the source is a text.
    pub fn file(&self) -> Option<&'a Path> {
        match self {
            Self::Embedded { file, .. } | Self::File(file) => Some(file),
            Self::Text(_) => None,
        }
    }

    /// Reads the key-encryption keys. Creates the key file of a new embedded database.
    pub(crate) fn read(&self) -> Result<Keyring, NodeError> {
        if let Self::Embedded { file, database } = self
            && !file.exists()
        {
            refuse_orphan(file, database)?;
            create(file)?;
        }
        self.read_existing()
    }

    /// Reads the key-encryption keys. Creates no key file.
    pub fn read_existing(&self) -> Result<Keyring, NodeError> {
        match self {
            Self::Embedded { file, database } => {
                if !file.exists() {
                    refuse_orphan(file, database)?;
                }
                read_file(file)
            }
            Self::File(file) => read_file(file),
            Self::Text(text) => Keyring::parse(regular_file::without_mark(text)).map_err(|fault| {
                NodeError::Keys(Failure::caused("SEALPOST_KEK is not a list of keys", fault))
            }),
        }
    }
}

/// Reads the key-encryption keys from an existing file.
pub(crate) fn read_file(file: &Path) -> Result<Keyring, NodeError> {
    parse_file(file, &read_text(file)?)
}

pub(crate) fn read_text(file: &Path) -> Result<Zeroizing<String>, NodeError> {
    secret_file::read("the key file", file)
}

pub(crate) fn parse_file(file: &Path, text: &str) -> Result<Keyring, NodeError> {
    Keyring::parse(text).map_err(|fault| {
        let message = format!("the key file {} is not a list of keys", file.display());
        NodeError::Keys(Failure::caused(message, fault))
    })
}

/// Rejects a database without its key file, because a new key could not decrypt the database.
fn refuse_orphan(file: &Path, database: &Path) -> Result<(), NodeError> {
    if database.exists() {
        return Err(NodeError::Keys(Failure::new(format!(
            "the key file {} is missing, and the database {} needs it: restore the key file",
            file.display(),
            database.display()
        ))));
    }
    Ok(())
}

fn create(file: &Path) -> Result<(), NodeError> {
    data_folder::create_parent(file)?;
    let line = new_line(1)?;
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut handle = options.write(true).create_new(true).mode(0o600).open(file)?;
        writeln!(handle, "{}", line.as_str())?;
        handle.sync_all()
    };
    write().map_err(|error| {
        let message = format!("the key file {} cannot be written", file.display());
        NodeError::Keys(Failure::caused(message, error))
    })
}
