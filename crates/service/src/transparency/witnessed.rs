//! Reads the newest checkpoint of the log for witnesses, and stores the cosignatures of witnesses. A witness is another
//! server, which cosigns a checkpoint if the log has only grown since the previous one.

use sealpost_domain::ports::{Durability, StoreError};
use sealpost_transparency::{TileTree, TreeHash};

use super::{
    TransparencyLog,
    stored::{TreeFault, read_tile, signed},
};
use crate::error::Error;

impl TransparencyLog {
    /// Returns the newest checkpoint if witnesses have not cosigned it yet. Returns `None` if witnesses have cosigned a
    /// checkpoint of the same size, or if the log is empty. Blocks the thread.
    pub fn unwitnessed_checkpoint(&self) -> Result<Option<String>, Error> {
        let head = self.core.store.read(sealpost_storage::Reader::log_head)?;
        let Some(head) = head.filter(|head| head.size > 0) else { return Ok(None) };
        let witnessed = head.witnessed.as_deref().map(signed).transpose()?;
        let is_witnessed = witnessed.is_some_and(|(_, checkpoint)| checkpoint.size >= head.size);
        Ok((!is_witnessed).then_some(head.checkpoint))
    }

    /// Returns the proof that the log of `size` entries begins with the log of `old_size` entries (consistency proof).
    /// Blocks the thread.
    pub fn consistency(&self, old_size: u64, size: u64) -> Result<Vec<TreeHash>, Error> {
        let proof = self.core.store.read(|reader| {
            TileTree::new(size, |tile| read_tile(reader, tile)).consistency_proof(old_size)
        });
        Ok(proof.map_err(|fault: TreeFault| StoreError::from(fault))?)
    }

    /// Stores a checkpoint with the cosignatures of witnesses, unless another node has stored a newer one. Blocks the
    /// thread.
    pub fn store_witnessed(&self, checkpoint: &str) -> Result<(), Error> {
        let (_, parsed) = signed(checkpoint)?;
        self.core.store.write(Durability::Durable, |tx| {
            // The lock makes other nodes wait, so that none stores a newer checkpoint between the two statements.
            let stored = tx.lock_log()?.and_then(|head| head.witnessed);
            let stored = stored.as_deref().map(signed).transpose()?;
            if stored.is_some_and(|(_, stored)| stored.size > parsed.size) {
                return Ok(());
            }
            tx.set_witnessed(&parsed.origin, checkpoint)
        })?;
        Ok(())
    }
}
