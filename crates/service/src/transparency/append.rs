//! Appends the statements of committed transactions to the transparency log.
//!
//! Triggers of the database store statements in the transaction of a change. Any node may append them: the database
//! locks the log, so that entries have one order.

use sealpost_domain::{
    Timestamp,
    ports::{Durability, LogHead, NewLogEntry, PendingStatement, StoreError, StoredTile},
};
use sealpost_storage::Transaction;
use sealpost_transparency::{
    Checkpoint, Note, SignatureLine, SignatureType, Statement, Tile, TileTree, TreeHash,
    VerifierKey,
};
use sealpost_wallet::{IssuerSecret, random};
use thiserror::Error;

use crate::{error::Error, sealpost::core::Core};

/// Appends all pending statements. Creates the log if there is none. Blocks the thread.
pub(crate) fn append_statements(core: &Core) -> Result<(), Error> {
    while core.store.read(has_work)? {
        let salts = random::<{ LIMIT * 32 }>()?;
        let (salts, _) = salts.as_chunks::<32>();
        core.store.write(Durability::Durable, |tx| append(core, tx, salts))?;
    }
    Ok(())
}

fn has_work(reader: &mut sealpost_storage::Reader) -> Result<bool, StoreError> {
    Ok(reader.has_pending_statements()? || reader.log_head()?.is_none())
}

/// Appends up to one statement for each salt.
fn append(core: &Core, tx: &mut Transaction, salts: &[[u8; 32]]) -> Result<(), StoreError> {
    let head = match tx.lock_log()? {
        Some(head) => head,
        None => LogHead {
            origin: origin(&core.base_url),
            issuer_key: core.issuer.first_key(),
            size: 0,
            checkpoint: String::new(),
        },
    };
    let signer = LogSigner::of(core, &head).map_err(refused)?;
    let limit = u32::try_from(salts.len()).unwrap_or(u32::MAX);
    let now = core.clock.now();
    let entries = new_entries(tx.pending_statements(limit)?, salts, head.size, now);
    let leaves: Vec<_> = entries.iter().map(|entry| TreeHash::of_leaf(&entry.entry)).collect();
    let (tiles, size, root) = grow(tx, &head, &leaves)?;
    let checkpoint = signer.sign(&Checkpoint { origin: head.origin.clone(), size, root });
    tx.append_to_log(&entries, now, &tiles, &LogHead { size, checkpoint, ..head })
}

fn new_entries(
    statements: Vec<PendingStatement>,
    salts: &[[u8; 32]],
    size: u64,
    now: Timestamp,
) -> Vec<NewLogEntry> {
    let at_ms = u64::try_from(now.as_millis()).unwrap_or(0);
    let entry = |((PendingStatement { id, kind, text }, salt), number): ((_, &[u8; 32]), _)| {
        let entry = Statement { kind, at_ms, salt: *salt, text }.entry().to_string().into_bytes();
        NewLogEntry { statement: id, number, salt: *salt, entry }
    };
    statements.into_iter().zip(salts).zip(size..).map(entry).collect()
}

/// Adds entries to the tree. Returns the changed tiles, and the new size and root. Refuses a tree that does not have the
/// root of the last checkpoint: its rows were changed, and a new checkpoint would hide this.
fn grow(
    tx: &mut Transaction,
    head: &LogHead,
    leaves: &[TreeHash],
) -> Result<(Vec<StoredTile>, u64, TreeHash), StoreError> {
    let mut tree = TileTree::new(head.size, |tile| read_tile(tx, tile));
    if !head.checkpoint.is_empty() {
        let signed = Note::parse(&head.checkpoint).map_err(refused)?;
        let signed = Checkpoint::parse(signed.text()).map_err(refused)?;
        if (signed.size, signed.root) != (head.size, tree.root()?) {
            return Err(StoreError::Corrupt("transparency log"));
        }
    }
    let changed = tree.append(leaves)?;
    let stored = |(Tile { level, index, .. }, hashes): (Tile, Vec<TreeHash>)| StoredTile {
        level,
        index,
        hashes: hashes.iter().flat_map(|hash| hash.0).collect(),
    };
    let root = tree.root()?;
    Ok((changed.into_iter().map(stored).collect(), tree.size(), root))
}

/// Reads the hashes of a tile.
pub(super) fn read_tile(
    reader: &mut sealpost_storage::Reader,
    tile: Tile,
) -> Result<Vec<TreeHash>, TreeFault> {
    let bytes = reader.log_tile(tile.level, tile.index)?.unwrap_or_default();
    let (hashes, _) = bytes.as_chunks::<32>();
    Ok(hashes.iter().map(|hash| TreeHash(*hash)).collect())
}

/// The signing key of the log, and its public form.
pub(super) struct LogSigner {
    secret: IssuerSecret,
    pub(super) key: VerifierKey,
}

impl LogSigner {
    pub(super) fn of(core: &Core, head: &LogHead) -> Result<Self, Error> {
        let secret = core.issuer.log_secret(&head.issuer_key)?;
        let public = secret.public_key().0;
        let key = VerifierKey::new(&head.origin, SignatureType::Ed25519, public);
        let key = key.map_err(|_invalid| StoreError::Corrupt("origin of the transparency log"))?;
        Ok(Self { secret, key })
    }

    fn sign(&self, checkpoint: &Checkpoint) -> String {
        let text = checkpoint.to_string();
        let signature = self.secret.sign(text.as_bytes());
        Note::new(text, vec![SignatureLine::of_log(&self.key, signature)]).to_string()
    }
}

/// An error while tiles are read.
#[derive(Debug, Error)]
pub(super) enum TreeFault {
    /// A tile lacks hashes.
    #[error("{0}")]
    Missing(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<String> for TreeFault {
    fn from(missing: String) -> Self {
        Self::Missing(missing)
    }
}

impl From<TreeFault> for StoreError {
    fn from(fault: TreeFault) -> Self {
        match fault {
            TreeFault::Missing(text) => Self::Refused(text.into()),
            TreeFault::Store(error) => error,
        }
    }
}

pub(super) fn refused(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Refused(error.into())
}

/// Returns the name of a log at this base URL: the URL of its files without the scheme.
fn origin(base_url: &str) -> String {
    let (_, rest) = base_url.split_once("://").unwrap_or(("", base_url));
    format!("{rest}/log")
}

/// The maximum number of entries in one transaction.
const LIMIT: usize = 256;
