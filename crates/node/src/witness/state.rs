//! The folder of a witness: its keys, and for each log the checkpoint that it has cosigned last.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use sealpost_storage::owned_file;
use sealpost_transparency::{Checkpoint, KeyError, Note, WitnessKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{
    error::NodeError,
    files::{new_file, regular_file, secret_file},
};

pub(super) struct WitnessState {
    folder: PathBuf,
    keys: [WitnessKey; 2],
    /// Locks the folder until this state is dropped. Without the lock, two processes could read the same last
    /// checkpoint, and then cosign two different trees.
    _lock: File,
}

impl WitnessState {
    /// Opens a folder. Creates the folder and the keys if there are none. Fails if another process has opened the
    /// folder.
    pub(super) fn open(name: &str, folder: &Path) -> Result<Self, NodeError> {
        owned_file::create_folder(folder).map_err(|error| unusable(folder, error))?;
        let lock = regular_file::try_lock(&folder.join("lock"));
        let Some(lock) = lock.map_err(|error| unusable(folder, error))? else {
            return Err(NodeError::new(format!(
                "another witness is running on {}: stop it, or give this witness another --folder",
                folder.display()
            )));
        };
        let ed25519 = WitnessKey::new(name, &*secret(&folder.join("key"))?);
        let ml_dsa_44 = WitnessKey::ml_dsa_44(name, &*secret(&folder.join("ml-dsa-44.key"))?);
        let keys = [ed25519.map_err(name_fault)?, ml_dsa_44.map_err(name_fault)?];
        Ok(Self { folder: folder.to_owned(), keys, _lock: lock })
    }

    /// Returns the keys: Ed25519 and ML-DSA-44.
    pub(super) fn keys(&self) -> &[WitnessKey] {
        &self.keys
    }

    /// Returns the last cosigned checkpoint of a log; `None` if there is none.
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

    /// Replaces the last checkpoint of a log. The new checkpoint is on the disk when this function returns.
    pub(super) fn store(&self, origin: &str, note: &Note) -> Result<(), NodeError> {
        let file = self.file(origin);
        owned_file::replace(&file, |new| new.write_all(note.to_string().as_bytes()))
            .map_err(|error| unusable(&file, error))
    }

    fn file(&self, origin: &str) -> PathBuf {
        self.folder.join(format!("{}.checkpoint", hex::encode(Sha256::digest(origin))))
    }
}

/// Reads the secret of a key. Creates the file if there is none.
fn secret(file: &Path) -> Result<Zeroizing<[u8; 32]>, NodeError> {
    create_key(file)?;
    let text = secret_file::read("the key of the witness", file)?;
    let mut secret = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text.trim(), &mut secret[..]).map_err(|error| {
        NodeError::caused(
            format!("{} is no key: expected 64 hexadecimal digits", file.display()),
            error,
        )
    })?;
    Ok(secret)
}

fn create_key(file: &Path) -> Result<(), NodeError> {
    let secret = sealpost_wallet::random::<32>().map(Zeroizing::new);
    let secret = secret.map_err(|error| unusable(file, io::Error::other(error)))?;
    let text = Zeroizing::new(hex::encode(&secret[..]));
    new_file::write(file, &text).map_err(|error| unusable(file, error))
}

fn name_fault(fault: KeyError) -> NodeError {
    NodeError::caused("the name of the witness is invalid", fault)
}

fn unusable(path: &Path, cause: io::Error) -> NodeError {
    NodeError::caused(format!("{} cannot be used by the witness", path.display()), cause)
}

/// Maximum size in bytes of a stored note, which contains a checkpoint with the signatures of the log and of the
/// witness.
const NOTE_BYTES_MAX: u64 = 131_072;
