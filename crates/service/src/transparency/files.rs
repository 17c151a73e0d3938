//! The files of the log: checkpoint, tiles, and bundles of entries (tlog-tiles).

use std::sync::Arc;

use sealpost_domain::ports::LogHead;
use sealpost_transparency::{Tile, TilePath, bundle};

use super::append::LogSigner;
use crate::{
    error::Error,
    sealpost::{Sealpost, core::Core},
};

impl Sealpost {
    /// Returns the public key of the log in the form `NAME+ID+KEY`. `None` if there is no log yet.
    pub async fn log_key(&self) -> Result<Option<String>, Error> {
        self.block(|core| {
            let Some(head) = head(core)? else { return Ok(None) };
            Ok(Some(LogSigner::of(core, &head)?.key.to_string()))
        })
        .await
    }

    /// Returns the signed checkpoint. `None` if there is no log yet.
    pub async fn log_checkpoint(&self) -> Result<Option<String>, Error> {
        self.block(|core| {
            let checkpoint = head(core)?.map(|head| head.checkpoint.clone());
            // A log that an operator has restarted has no checkpoint yet.
            Ok(checkpoint.filter(|checkpoint| !checkpoint.is_empty()))
        })
        .await
    }

    /// Returns a tile or a bundle by its path below `tile/`. `None` if the log has no such file. The content of a path
    /// never changes.
    pub async fn log_file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(path) = TilePath::parse(path) else { return Ok(None) };
        self.block(move |core| match path {
            TilePath::Entries { index, width } => entries(core, index, width),
            TilePath::Hashes(tile) => hashes(core, tile),
        })
        .await
    }
}

/// Returns the head of the log. `None` if there is no log yet.
fn head(core: &Core) -> Result<Option<Arc<LogHead>>, Error> {
    let now = core.clock.now();
    if let Some(head) = core.log_head.get(&(), now) {
        return Ok(Some(head));
    }
    let Some(head) = core.store.read(sealpost_storage::Reader::log_head)? else { return Ok(None) };
    let head = Arc::new(head);
    core.log_head.insert((), now, Arc::clone(&head));
    Ok(Some(head))
}

fn hashes(core: &Core, tile: Tile) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes =
        core.store.read(|reader| reader.log_tile(tile.level, tile.index))?.unwrap_or_default();
    let length = usize::from(tile.width) * 32;
    bytes.truncate(length);
    Ok((bytes.len() == length).then_some(bytes))
}

fn entries(core: &Core, index: u64, width: u16) -> Result<Option<Vec<u8>>, Error> {
    let first = index.saturating_mul(u64::from(Tile::FULL));
    let entries = core.store.read(|reader| reader.log_entries(first, width))?;
    if entries.len() < usize::from(width) {
        return Ok(None);
    }
    Ok(bundle(entries))
}
