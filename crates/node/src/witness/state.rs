//! The folder of a witness: its key, and for each log the checkpoint that it has cosigned last.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use sealpost_transparency::{Checkpoint, Note, WitnessKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{
    error::{Failure, NodeError},
    files::{regular_file, secret_file},
};

pub(super) struct WitnessState {
    folder: PathBuf,
    key: WitnessKey,
}

impl WitnessState {
    /// Opens a folder. Creates the folder and the key if there is none.
    pub(super) fn open(name: &str, folder: &Path) -> Result<Self, NodeError> {
        let file = folder.join("key");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| unusable(folder, error))?;
        create_key(&file)?;
        let text = secret_file::read("the key of the witness", &file)?;
        let mut secret = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text.trim(), &mut secret[..]).map_err(|error| {
            let message = format!("{} is no key: expected 64 hexadecimal digits", file.display());
            NodeError::Keys(Failure::caused(message, error))
        })?;
        let key = WitnessKey::new(name, &secret).map_err(|error| {
            NodeError::Setting(Failure::caused("the name of the witness is invalid", error))
        })?;
        Ok(Self { folder: folder.to_owned(), key })
    }

    pub(super) fn key(&self) -> &WitnessKey {
        &self.key
    }

    /// Returns the checkpoint of a log that was cosigned last; `None` if there is none.
    pub(super) fn last(&self, origin: &str) -> Result<Option<Checkpoint>, NodeError> {
        let file = self.file(origin);
        let text = match regular_file::read_text(&file, NOTE_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&file, error)),
        };
        let read = Note::parse(&text).ok().and_then(|note| Checkpoint::parse(note.text()).ok());
        let damaged = || unusable(&file, io::Error::other("it is damaged: end this witness"));
        read.map(Some).ok_or_else(damaged)
    }

    /// Replaces the last checkpoint of a log. It is on the disk when this returns.
    pub(super) fn store(&self, origin: &str, note: &Note) -> Result<(), NodeError> {
        let file = self.file(origin);
        let new = file.with_extension("new");
        let replace = || {
            let mut written = File::create(&new)?;
            written.write_all(note.to_string().as_bytes())?;
            written.sync_all()?;
            fs::rename(&new, &file)?;
            File::open(&self.folder)?.sync_all()
        };
        replace().map_err(|error| unusable(&file, error))
    }

    fn file(&self, origin: &str) -> PathBuf {
        self.folder.join(format!("{}.checkpoint", hex::encode(Sha256::digest(origin))))
    }
}

fn create_key(file: &Path) -> Result<(), NodeError> {
    let secret = sealpost_wallet::random::<32>().map(Zeroizing::new);
    let secret = secret.map_err(|error| unusable(file, io::Error::other(error)))?;
    let text = Zeroizing::new(hex::encode(&secret[..]));
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    match created.and_then(|mut key| key.write_all(text.as_bytes()).and_then(|()| key.sync_all())) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unusable(file, error)),
        _ => Ok(()),
    }
}

fn unusable(path: &Path, cause: io::Error) -> NodeError {
    let message = format!("{} cannot be used by the witness", path.display());
    NodeError::File(Failure::caused(message, cause))
}

const NOTE_BYTES_MAX: u64 = 65_536;
