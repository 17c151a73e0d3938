//! Reads the stored parts of the log.

use sealpost_domain::ports::StoreError;
use sealpost_transparency::{Checkpoint, Note, Tile, TreeHash, VerifierKey};
use thiserror::Error;

/// Reads a stored checkpoint with its signatures.
pub(crate) fn signed(text: &str) -> Result<(Note, Checkpoint), StoreError> {
    let note = Note::parse(text).map_err(refused)?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(refused)?;
    Ok((note, checkpoint))
}

/// Reads a stored checkpoint. Refuses a checkpoint that the key of the log has not signed: the database was changed,
/// and a new signature over this content would hide the change.
pub(super) fn signed_by(text: &str, key: &VerifierKey) -> Result<Checkpoint, StoreError> {
    let (note, checkpoint) = signed(text)?;
    if note.is_signed_by(key) == Ok(true) {
        Ok(checkpoint)
    } else {
        Err(StoreError::Corrupt("transparency log"))
    }
}

/// Splits stored bytes into hashes.
pub(super) fn hashes(bytes: &[u8]) -> Vec<TreeHash> {
    let (hashes, _) = bytes.as_chunks::<32>();
    hashes.iter().map(|hash| TreeHash(*hash)).collect()
}

/// Reads the hashes of a tile: a stored group of hashes of the Merkle tree.
pub(crate) fn read_tile(
    reader: &mut sealpost_storage::Reader,
    tile: Tile,
) -> Result<Vec<TreeHash>, TreeError> {
    Ok(hashes(&reader.log_tile(tile.level, tile.index)?.unwrap_or_default()))
}

/// An error while tiles (stored groups of hashes of the Merkle tree) are read.
#[derive(Debug, Error)]
pub(crate) enum TreeError {
    /// The stored tile lacks hashes.
    #[error("{0}")]
    Missing(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<String> for TreeError {
    fn from(missing: String) -> Self {
        Self::Missing(missing)
    }
}

impl From<TreeError> for StoreError {
    fn from(fault: TreeError) -> Self {
        match fault {
            TreeError::Missing(text) => Self::Refused(text.into()),
            TreeError::Store(error) => error,
        }
    }
}

pub(super) fn refused(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Refused(error.into())
}
