//! Reads the newest checkpoint of the log for witnesses, and stores the cosignatures of witnesses. A witness is another
//! server, which cosigns a checkpoint if the log has only grown since the previous one.

use sealpost_domain::ports::{Durability, StoreError};
use sealpost_transparency::{TileTree, TreeHash, VerifierKey};

use super::{
    TransparencyLog,
    stored::{TreeError, read_tile, signed},
};
use crate::error::Error;

impl TransparencyLog {
    /// Returns the newest checkpoint if a witness with one of these keys has not cosigned it. Returns `None` if all
    /// have cosigned it, or if the log is empty. Blocks the thread.
    pub fn unwitnessed_checkpoint(&self, keys: &[&VerifierKey]) -> Result<Option<String>, Error> {
        let head = self.core.store.read(sealpost_storage::Reader::log_head)?;
        let Some(head) = head.filter(|head| head.size > 0) else { return Ok(None) };
        let witnessed = head.witnessed.as_deref().map(signed).transpose()?;
        let is_witnessed = witnessed.is_some_and(|(note, checkpoint)| {
            checkpoint.size >= head.size && keys.iter().all(|key| note.names(key))
        });
        Ok((!is_witnessed).then_some(head.checkpoint))
    }

    /// Returns the proof that the log of `size` entries begins with the log of `old_size` entries (consistency proof).
    /// Blocks the thread.
    pub fn consistency(&self, old_size: u64, size: u64) -> Result<Vec<TreeHash>, Error> {
        let proof = self.core.store.read(|reader| {
            TileTree::new(size, |tile| read_tile(reader, tile)).consistency_proof(old_size)
        });
        Ok(proof.map_err(|fault: TreeError| StoreError::from(fault))?)
    }

    /// Stores a checkpoint with the cosignatures of witnesses, unless another node has stored a newer checkpoint. If
    /// another node has stored the same checkpoint, combines the cosignatures of both. Blocks the thread.
    pub fn store_witnessed(&self, checkpoint: &str) -> Result<(), Error> {
        let (note, parsed) = signed(checkpoint)?;
        self.core.store.write(Durability::Durable, |tx| {
            // The lock makes other nodes wait, so that none stores a newer checkpoint between the two statements.
            let stored = tx.lock_log()?.and_then(|head| head.witnessed);
            match stored.as_deref().map(signed).transpose()? {
                Some((_, stored)) if stored.size > parsed.size => Ok(()),
                Some((mut merged, _)) if merged.text() == note.text() => {
                    merged.merge(note.clone());
                    tx.set_witnessed(&parsed.origin, &merged.to_string())
                }
                _ => tx.set_witnessed(&parsed.origin, checkpoint),
            }
        })?;
        Ok(())
    }
}
