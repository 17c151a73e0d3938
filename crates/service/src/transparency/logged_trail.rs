//! Reads the entries of the audit trail from the transparency log. If the trail in the database lacks one of these
//! entries, it was truncated, or its end was replaced.

use std::path::Path;

use sealpost_domain::{
    AuditEntry,
    ports::{StatementKind, StoreError},
};
use sealpost_storage::{Database, Reader};
use sealpost_transparency::{Statement, Tile, TileTree, TreeHash, verify_inclusion};

use super::{
    kept::{KeptCheckpoint, KeptError},
    proof::Logged,
    stored::{TreeError, hashes, read_tile, signed},
};

/// The entries of the audit trail that the transparency log has.
#[derive(Default)]
pub(crate) struct LoggedTrail {
    /// The number of the first entry.
    first: u64,
    /// The hashes of consecutive entries, in hexadecimal.
    hashes: Vec<String>,
    /// The reason why the log cannot be compared with the trail.
    fault: Option<&'static str>,
}

impl LoggedTrail {
    /// Reads the whole log. Verifies that the entries match the newest checkpoint, and that the log contains the
    /// entries of the checkpoint in the file `kept`. A difference is no error, but sets `fault`.
    pub(crate) fn read(store: &Database, kept: Option<&Path>) -> Result<Self, StoreError> {
        let mut trail = Self::default();
        let kept = kept.map(KeptCheckpoint::read).transpose()?.flatten();
        let Some(head) = store.read(Reader::log_head)? else {
            trail.fault = kept.map(|_| OLDER);
            return Ok(trail);
        };
        if let Some(kept) = kept {
            match store.read(|reader| kept.require(reader, &head)) {
                Err(KeptError::Older { .. }) => trail.fault = Some(OLDER),
                checked => checked?,
            }
        }
        if head.size == 0 || trail.fault.is_some() {
            return Ok(trail);
        }
        let (_, checkpoint) = signed(&head.checkpoint)?;
        let tree = (checkpoint.size, checkpoint.root);
        for first in (0..checkpoint.size).step_by(usize::from(Tile::FULL)) {
            // One transaction for each page, because a log may be long.
            let page =
                store.read(|reader| page(reader, first, tree)).or_else(|fault| match fault {
                    TreeError::Missing(_) => Ok(None),
                    TreeError::Store(error) => Err(error),
                })?;
            let Some(statements) = page else {
                trail.fault = Some("the transparency log or one of its statements was changed");
                break;
            };
            for statement in &statements {
                trail.add(statement);
            }
            if trail.fault.is_some() {
                break;
            }
        }
        Ok(trail)
    }

    fn add(&mut self, statement: &Statement) {
        let number = statement.value("entry").and_then(|number| number.parse().ok());
        let (Some(number), Some(hash)) = (number, statement.value("hash")) else {
            self.fault = Some("the transparency log has a statement of another form");
            return;
        };
        if self.hashes.is_empty() {
            self.first = number;
        }
        if number != self.end() {
            self.fault = Some("the transparency log has another entry with its number");
        }
        self.hashes.push(hash.to_owned());
    }

    /// Returns the number after the last entry.
    fn end(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.hashes.len()).unwrap_or(u64::MAX))
    }

    /// Compares an entry of the trail with the log, and returns its fault if both differ. Returns `None` if the log has
    /// the same entry, or no entry with this number.
    pub(crate) fn fault_of(&self, entry: &AuditEntry) -> Option<&'static str> {
        let place = usize::try_from(entry.number.checked_sub(self.first)?).ok()?;
        let is_other = *self.hashes.get(place)? != entry.hash.to_string();
        is_other.then_some("the transparency log has another entry with its number")
    }

    /// Returns the reason why the log does not match the end of the audit trail, or `None` if it matches. Reasons are a
    /// fault of the log itself, and entries of the log after `newest`, the number of the last entry of the trail.
    pub(crate) fn fault_after(&self, newest: u64) -> Option<&'static str> {
        let is_longer = !self.hashes.is_empty() && self.end() > newest.saturating_add(1);
        let deleted = is_longer.then_some("it was deleted, but the transparency log has it");
        self.fault.or(deleted)
    }
}

/// Returns the statements about the audit trail in one page of the log, from the entry `first` on. The log has `size`
/// entries and the root hash `root`. `None` if the page does not match `root`, or if a statement is missing.
fn page(
    reader: &mut Reader,
    first: u64,
    (size, root): (u64, TreeHash),
) -> Result<Option<Vec<Statement>>, TreeError> {
    let width = u16::try_from(size - first).unwrap_or(Tile::FULL).min(Tile::FULL);
    let entries = reader.log_entries(first, width)?;
    let leaves: Vec<_> = entries.iter().map(|entry| TreeHash::leaf(entry)).collect();
    let tile = hashes(&reader.log_tile(0, first / u64::from(Tile::FULL))?.unwrap_or_default());
    // The proof of one leaf suffices, because the proof is computed from all leaves of the tile.
    let proof = TileTree::new(size, |tile| read_tile(reader, tile)).inclusion_proof(first)?;
    let is_stored = leaves.len() == usize::from(width) && tile.starts_with(&leaves);
    let is_signed = |leaf: &TreeHash| verify_inclusion(*leaf, first, size, &proof, root);
    if !is_stored || !leaves.first().is_some_and(is_signed) {
        return Ok(None);
    }
    let mut statements = Vec::new();
    for ((number, entry), leaf) in (first..).zip(&entries).zip(&leaves) {
        if entry.starts_with(AUDIT_ENTRY) {
            let found = reader.statement_of_entry(number)?;
            let found = found.map(|it| Logged::new(StatementKind::Audit, it, None).statement);
            let Some(found) = found.filter(|found| found.entry().hash() == *leaf) else {
                return Ok(None);
            };
            statements.push(found);
        }
    }
    Ok(Some(statements))
}

const OLDER: &str = "the transparency log lacks entries of the checkpoint that a node has kept";
const AUDIT_ENTRY: &[u8] = b"sealpost/log/v1\naudit\n";
