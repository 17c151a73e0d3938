//! Appends the [statements](sealpost_domain::ports::StatementKind) (texts about keys, badges, envelopes and the audit
//! trail) of committed transactions to the transparency log.
//!
//! Triggers of the database store a statement in the transaction of the change that it describes. Any node may append
//! it later. The appending transaction locks the log, so that all nodes append in one order. Entries get the time of
//! the database server's clock ([`shared_time`](sealpost_storage::Reader::shared_time)), because a node's clock can be
//! wrong.

use super::{
    TransparencyLog,
    kept::{KeptCheckpoint, keep},
    stored::{hashes, read_tile, refused, signed_by},
};
use crate::error::Error;
use sealpost_domain::{
    Timestamp,
    ports::{
        Durability, EnvelopeList, LogHead, NewLogEntry, PendingStatement, StatementKind,
        StoreError, StoredTile,
    },
};
use sealpost_storage::{Abort, Transaction};
use sealpost_transparency::{
    Checkpoint, EnvelopePlace, Note, SignatureLine, SignatureType, Statement, Tile, TileTree,
    TreeHash, VerifierKey,
};
use sealpost_wallet::{IssuerSecret, random};

impl TransparencyLog {
    /// Appends all statements (texts about keys, badges, envelopes and the audit trail) that are stored at the time of
    /// the call, but not yet in the log. Creates the log if there is none. Blocks the thread.
    pub(crate) fn append_statements(&self) -> Result<(), Error> {
        let now = self.core.clock.now();
        let search = self.core.store.read(|reader| {
            let head = reader.log_head()?;
            // All statements of an empty log are pending.
            let is_empty = head.as_ref().is_none_or(|head| head.size == 0);
            let is_missing = head.is_none();
            let log = head.map_or_else(String::new, |head| head.origin);
            let after = if is_empty { 0 } else { self.statement_cursor.after(&log, now) };
            let newest = reader.newest_statement_id()?;
            let has_pending = is_missing || reader.has_pending_statements(after)?;
            Ok::<_, StoreError>(Search { log, after, newest, has_pending })
        })?;
        let mut has_more = search.has_pending;
        while has_more {
            let salts = random::<{ LIMIT * 32 }>()?;
            let (salts, _) = salts.as_chunks::<32>();
            let (checkpoint, is_full) =
                self.core.store.write(Durability::Durable, |tx| self.append(tx, &search, salts))?;
            if let Some(file) = &self.core.settings.checkpoint_file {
                keep(file, &checkpoint);
            }
            // Repeats only if the last transaction was full. Statements that arrive during this call wait for the next
            // call, which can merge more of them into one entry.
            has_more = is_full;
        }
        self.statement_cursor.searched(&search.log, now, search.newest);
        Ok(())
    }

    /// Appends pending statements from the range of `search`, at most one for each of `salts`: random bytes that hide
    /// the statement of an entry. Merges statements about envelopes into common entries. Returns the signed checkpoint,
    /// and true if more statements may be pending.
    fn append(
        &self,
        tx: &mut Transaction,
        search: &Search,
        salts: &[[u8; 32]],
    ) -> Result<(String, bool), StoreError> {
        let head = self.lock(tx)?;
        // All statements are pending if an operator has restarted the log since the search began.
        let after = if head.origin == search.log { search.after } else { 0 };
        let limit = u32::try_from(salts.len()).unwrap_or(u32::MAX);
        let now = tx.shared_time(self.core.clock.now())?;
        let pending = tx.pending_statements(after, limit)?;
        let is_full = pending.len() >= salts.len();
        let entries = new_entries(pending, salts, head.size, now)?;
        let checkpoint = self.extend(tx, head, &entries, now)?;
        Ok((checkpoint, is_full))
    }

    /// Appends a statement without storing its text: the database gets only the entry of the log, which contains a
    /// hash. Locks the log, and then calls `state` to create the statement in the same transaction. Returns the number
    /// of the entry, and the statement.
    pub(crate) fn append_unstored(
        &self,
        mut state: impl FnMut(&mut Transaction, Timestamp) -> Result<Statement, Abort>,
    ) -> Result<(u64, Statement), Error> {
        let (checkpoint, index, statement) =
            self.core.store.write_or_refuse(Durability::Durable, |tx| {
                let head = self.lock(tx)?;
                let (now, number) = (tx.shared_time(self.core.clock.now())?, head.size);
                let statement = state(tx, now)?;
                let entry = statement.entry().to_string().into_bytes();
                let salt = statement.salt;
                let entry = NewLogEntry { statement: None, number, salt, entry, list: None };
                let checkpoint = self.extend(tx, head, &[entry], now)?;
                Ok((checkpoint, number, statement))
            })?;
        if let Some(file) = &self.core.settings.checkpoint_file {
            keep(file, &checkpoint);
        }
        Ok((index, statement))
    }

    /// Locks the log until the end of the transaction, and returns its state. Fails if the log lacks entries of the
    /// checkpoint in the checkpoint file, because an older database was restored.
    fn lock(&self, tx: &mut Transaction) -> Result<LogHead, StoreError> {
        let head = match tx.lock_log()? {
            Some(head) => head,
            None => LogHead {
                origin: origin(&self.core.base_url),
                issuer_key: self.core.issuer.first_key(),
                size: 0,
                checkpoint: String::new(),
                witnessed: None,
            },
        };
        if let Some(file) = &self.core.settings.checkpoint_file
            && let Some(kept) = KeptCheckpoint::read(file)?
        {
            kept.require(tx, &head)?;
        }
        Ok(head)
    }

    /// Appends entries, and signs the new checkpoint. Returns the signed checkpoint.
    fn extend(
        &self,
        tx: &mut Transaction,
        head: LogHead,
        entries: &[NewLogEntry],
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let signer = self.signer(&head).map_err(refused)?;
        let leaves: Vec<_> = entries.iter().map(|entry| TreeHash::leaf(&entry.entry)).collect();
        let (tiles, size, root) = grow(tx, &head, &signer.key, &leaves)?;
        let checkpoint = signer.sign(&Checkpoint { origin: head.origin.clone(), size, root });
        let head = LogHead { size, checkpoint, ..head };
        tx.append_to_log(entries, now, &tiles, &head)?;
        Ok(head.checkpoint)
    }

    /// Returns the signing key of the log.
    pub(super) fn signer(&self, head: &LogHead) -> Result<LogSigner, Error> {
        let secret = self.core.issuer.log_secret(&head.issuer_key)?;
        let public = secret.public_key().0;
        let key = VerifierKey::new(&head.origin, SignatureType::Ed25519, &public);
        let key = key.map_err(|_invalid| StoreError::Corrupt("origin of the transparency log"))?;
        Ok(LogSigner { secret, key })
    }
}

/// A search for statements (texts about keys, badges, envelopes and the audit trail) that are not in the log yet.
struct Search {
    /// The name of the log; empty if there is no log yet.
    log: String,
    /// The search covers the statements with an id above this one.
    after: i64,
    /// The id of the newest statement.
    newest: i64,
    has_pending: bool,
}

fn new_entries(
    statements: Vec<PendingStatement>,
    salts: &[[u8; 32]],
    size: u64,
    now: Timestamp,
) -> Result<Vec<NewLogEntry>, StoreError> {
    let at_ms = u64::try_from(now.as_millis()).unwrap_or(0);
    let (lists, others): (Vec<_>, Vec<_>) = statements
        .into_iter()
        .partition(|statement| statement.kind == StatementKind::Envelopes.as_str());
    let all = others.into_iter().map(|statement| (statement, None)).chain(merged(lists)?);
    let entry = |((statement, list), (salt, number))| {
        let (PendingStatement { id, kind, text, .. }, salt): (_, &[u8; 32]) = (statement, salt);
        let statement = Statement { kind, at_ms, salt: *salt, text, envelope: None };
        let entry = statement.entry().to_string().into_bytes();
        NewLogEntry { statement: Some(id), number, salt: *salt, entry, list }
    };
    Ok(all.zip(salts.iter().zip(size..)).map(entry).collect())
}

/// Merges statements about envelopes, so that the log grows by few entries even while many messages are sent. Bounds
/// the number of envelopes of an entry, so that rows and proofs stay small.
fn merged(
    lists: Vec<PendingStatement>,
) -> Result<Vec<(PendingStatement, Option<EnvelopeList>)>, StoreError> {
    let mut groups: Vec<Vec<PendingStatement>> = Vec::new();
    for list in lists {
        let has_room = |group: &&mut Vec<PendingStatement>| {
            let length: usize = group.iter().map(|list| list.leaves.len()).sum();
            length + list.leaves.len() <= ENVELOPES_MAX * 32
        };
        match groups.last_mut().filter(has_room) {
            Some(group) => group.push(list),
            None => groups.push(vec![list]),
        }
    }
    groups.into_iter().map(merge).collect::<Result<_, _>>()
}

/// Merges statements about envelopes into one statement, which keeps the id of the first.
fn merge(
    lists: Vec<PendingStatement>,
) -> Result<(PendingStatement, Option<EnvelopeList>), StoreError> {
    let leaves: Vec<u8> = lists.iter().flat_map(|list| list.leaves.iter().copied()).collect();
    let mut lists = lists.into_iter();
    let first = lists.next().ok_or(StoreError::Corrupt("statements of the log"))?;
    let text = EnvelopePlace::text_of_all(&hashes(&leaves))
        .map_err(|fault| StoreError::Refused(fault.into()))?;
    let list =
        EnvelopeList { text: text.clone(), leaves, replaced: lists.map(|it| it.id).collect() };
    Ok((PendingStatement { text, ..first }, Some(list)))
}

/// Adds entries to the Merkle tree. Returns the changed tiles (stored groups of hashes), and the new size and root
/// hash. Refuses a tree whose size or root hash differs from the last signed checkpoint: its rows were changed, and a
/// new checkpoint would hide this.
fn grow(
    tx: &mut Transaction,
    head: &LogHead,
    key: &VerifierKey,
    leaves: &[TreeHash],
) -> Result<(Vec<StoredTile>, u64, TreeHash), StoreError> {
    let mut tree = TileTree::new(head.size, |tile| read_tile(tx, tile));
    if !head.checkpoint.is_empty() {
        let signed = signed_by(&head.checkpoint, key)?;
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

/// The signing key of the log, and its public form.
pub(super) struct LogSigner {
    pub(super) secret: IssuerSecret,
    pub(super) key: VerifierKey,
}

impl LogSigner {
    fn sign(&self, checkpoint: &Checkpoint) -> String {
        let text = checkpoint.to_string();
        let signature = self.secret.sign(text.as_bytes());
        Note::new(text, vec![SignatureLine::by_log(&self.key, signature)]).to_string()
    }
}

/// Returns the name of a log at this base URL: the URL of its files without the scheme.
fn origin(base_url: &str) -> String {
    let (_, rest) = base_url.split_once("://").unwrap_or(("", base_url));
    format!("{rest}/log")
}

/// The maximum number of entries in one transaction.
const LIMIT: usize = 256;
/// The maximum number of envelopes of one entry. A commit that stores more envelopes gets an entry of its own.
const ENVELOPES_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_bounded_number_of_envelopes() {
        let lists = [1_000, 2_000, 1_096, 1, 5_000, 4_000].into_iter().zip(0..);
        let lists = lists.map(|(envelopes, id)| PendingStatement {
            id,
            kind: StatementKind::Envelopes.as_str().to_owned(),
            text: String::new(),
            leaves: vec![7; envelopes * 32],
        });
        let merged = merged(lists.collect()).unwrap().into_iter().map(|(statement, list)| {
            let list = list.unwrap();
            (statement.id, list.leaves.len() / 32, list.replaced)
        });
        let expected =
            [(0, 4_096, vec![1, 2]), (3, 1, vec![]), (4, 5_000, vec![]), (5, 4_000, vec![])];
        assert_eq!(merged.collect::<Vec<_>>(), expected);
        assert!(super::merged(Vec::new()).unwrap().is_empty());
    }
}
