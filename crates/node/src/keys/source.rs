//! Finds and reads the key-encryption keys: in a key file, or in a text that the settings contain.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use sealpost_storage::{Database, owned_file};
use sealpost_wallet::Keyring;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use super::new_line;
use crate::{
    embedded::data_folder,
    error::{Failure, NodeError, database_error},
    files::{regular_file, secret_file},
    settings::{EmbeddedPaths, KeySettings},
};

/// The place from which the key-encryption keys are read.
#[derive(Debug)]
pub enum KeySource<'a> {
    /// A key file. It is created if it is missing and no key has been used with the database.
    File(&'a Path),
    /// The keys themselves, as text in the format of a key file.
    Text(Zeroizing<String>),
}

impl<'a> KeySource<'a> {
    /// Chooses the source from which nodes and operator commands read the keys.
    pub fn of(settings: &'a KeySettings, paths: &'a EmbeddedPaths) -> Result<Self, NodeError> {
        match (&settings.text, &settings.file) {
            (Some(_), Some(_)) => Err(NodeError::Setting(Failure::new(
                "give either --kek-file or SEALPOST_KEK, not both",
            ))),
            (Some(text), None) => Ok(Self::Text(text.clone())),
            (None, Some(file)) => Ok(Self::File(file)),
            (None, None) if paths.database.is_some() => Ok(Self::File(&paths.kek)),
            (None, None) => Err(no_keys()),
        }
    }

    /// Returns the path of the key file; `None` if the source is a text.
    pub fn file(&self) -> Option<&'a Path> {
        match self {
            Self::File(file) => Some(file),
            Self::Text(_) => None,
        }
    }

    /// Reads the key-encryption keys. Returns `None` if the key file is missing.
    pub fn read(&self) -> Result<Option<Keyring>, NodeError> {
        match self {
            Self::File(file) if is_missing(file) => Ok(None),
            Self::File(file) => read_file(file).map(Some),
            Self::Text(text) => {
                let keyring = Keyring::parse(regular_file::without_mark(text));
                keyring.map(Some).map_err(|fault| {
                    NodeError::Keys(Failure::caused("SEALPOST_KEK is not a list of keys", fault))
                })
            }
        }
    }

    /// Reads the key-encryption keys for a database. Creates a missing key file with a new key, unless a key has been
    /// used with the database: a new key could not decrypt its secrets.
    pub(crate) fn read_or_create(&self, database: &Database) -> Result<Keyring, NodeError> {
        match (self.read()?, self) {
            (Some(keyring), _) => Ok(keyring),
            (None, Self::File(file)) => {
                refuse_used(file, database)?;
                create(file)?;
                read_file(file)
            }
            (None, Self::Text(_)) => Err(no_keys()),
        }
    }
}

fn no_keys() -> NodeError {
    NodeError::Setting(Failure::new(
        "no key-encryption key is given: create one with `sealpost kek new > FILE` and give --kek-file FILE",
    ))
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
        let message = format!(
            "the key file {} is not a list of keys: restore it, or delete it if no server has ever used its database",
            file.display()
        );
        NodeError::Keys(Failure::caused(message, fault))
    })
}

/// Returns whether the file is missing. A file that cannot be found for another reason is not.
fn is_missing(file: &Path) -> bool {
    match file.try_exists() {
        Ok(exists) => !exists,
        Err(error) => error.kind() == io::ErrorKind::NotADirectory,
    }
}

/// Rejects a missing key file if a key has been used with the database.
pub(crate) fn refuse_used(file: &Path, database: &Database) -> Result<(), NodeError> {
    // Another process may have created the file before its key was used, but after this process has looked for the file.
    if database.has_kek_mark().map_err(database_error)? && is_missing(file) {
        let name = database.file().map_or_else(String::new, |path| format!(" {}", path.display()));
        return Err(NodeError::Keys(Failure::new(format!(
            "the key file {} is missing, and the database{name} needs it: restore the key file",
            file.display(),
        ))));
    }
    Ok(())
}

/// Creates the key file with a new key. Another process may create the file first: its file stays.
fn create(file: &Path) -> Result<(), NodeError> {
    data_folder::create_parent(file)?;
    let line = new_line(1)?;
    write_new(file, &line).map_err(|error| {
        let message = format!("the key file {} cannot be written", file.display());
        NodeError::Keys(Failure::caused(message, error))
    })
}

/// Writes a new file with this line. A crash or a full disk leaves either the whole file or none at its path.
fn write_new(path: &Path, line: &str) -> io::Result<()> {
    let folder = owned_file::folder_of(path);
    let mut file = NamedTempFile::with_prefix_in("kek.", &folder)?;
    file.write_all(line.as_bytes())?;
    file.write_all(b"\n")?;
    owned_file::give_to_owner_of(&folder, file.as_file())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => File::open(folder)?.sync_all(),
    }
}
