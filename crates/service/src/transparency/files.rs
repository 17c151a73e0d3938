//! The files of the log: checkpoint, tiles, and bundles of entries (tlog-tiles).

use sealpost_domain::ports::{LogHead, StoreError};
use sealpost_transparency::{Tile, TilePath, bundle};

use super::TransparencyLog;
use crate::error::Error;

impl TransparencyLog {
    /// Returns the public key of the log in the form `NAME+ID+KEY`. `None` if there is no log yet.
    pub async fn key(&self) -> Result<Option<String>, Error> {
        self.core
            .block(self, |log| {
                let Some(head) = log.head()? else { return Ok(None) };
                Ok(Some(log.signer(&head)?.key.to_string()))
            })
            .await
    }

    /// Returns the signed checkpoint. `None` if there is no log yet, or if an operator has restarted the log and no
    /// node has signed a checkpoint since.
    pub async fn checkpoint(&self) -> Result<Option<String>, Error> {
        self.core
            .block(self, |log| {
                let checkpoint = log.head()?.map(|head| head.checkpoint);
                // A log that an operator has restarted has no checkpoint yet.
                Ok(checkpoint.filter(|checkpoint| !checkpoint.is_empty()))
            })
            .await
    }

    /// Returns a tile (a group of hashes) or a bundle of entries, by its path below `tile/`. `None` if the log has no
    /// such file. The content of a path never changes, unless an operator restarts the log.
    pub async fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(path) = TilePath::parse(path) else { return Ok(None) };
        self.core
            .block(self, move |log| match path {
                TilePath::Entries { index, width } => log.entries(index, width),
                TilePath::Hashes(tile) => log.hashes(tile),
            })
            .await
    }

    /// Returns the state of the log. `None` if there is no log yet.
    fn head(&self) -> Result<Option<LogHead>, StoreError> {
        self.core.store.read(sealpost_storage::Reader::log_head)
    }

    fn hashes(&self, tile: Tile) -> Result<Option<Vec<u8>>, Error> {
        let bytes = self.core.store.read(|reader| reader.log_tile(tile.level, tile.index))?;
        let mut bytes = bytes.unwrap_or_default();
        let length = usize::from(tile.width) * 32;
        bytes.truncate(length);
        Ok((bytes.len() == length).then_some(bytes))
    }

    fn entries(&self, index: u64, width: u16) -> Result<Option<Vec<u8>>, Error> {
        let first = index.saturating_mul(u64::from(Tile::FULL));
        let entries = self.core.store.read(|reader| reader.log_entries(first, width))?;
        if entries.len() < usize::from(width) {
            return Ok(None);
        }
        Ok(bundle(entries))
    }
}
