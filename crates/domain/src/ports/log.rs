//! The stored parts of the transparency log.

use crate::{IssuerKeyId, Timestamp, named_enum::named_enum};

named_enum! {
    /// The subject of a statement of the log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StatementKind {
        /// An entry of the audit trail and its hash.
        Audit = "audit",
        /// A badge and its status.
        Badge = "badge",
        /// The envelopes of one or more batches of sends.
        Envelopes = "envelopes",
        /// An API key with its DID, its sealing version and its status.
        Key = "key",
    }
}

/// A statement that is not in the log yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingStatement {
    /// The id of the row.
    pub id: i64,
    /// The name of its kind.
    pub kind: String,
    /// Lines of a name and a value. Empty for envelopes.
    pub text: String,
    /// The hashes of the envelopes, 32 bytes each. Empty for other kinds.
    pub leaves: Vec<u8>,
}

/// A statement of the log, with all that its entry is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedStatement {
    /// The number of its entry.
    pub number: u64,
    /// The time at which the entry was appended.
    pub at: Timestamp,
    /// The random bytes of the commitment.
    pub salt: [u8; 32],
    /// Lines of a name and a value.
    pub text: String,
}

/// An entry to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogEntry {
    /// The id of the row of the statement. `None` if the statement is not stored.
    pub statement: Option<i64>,
    /// The number of the entry.
    pub number: u64,
    /// The random bytes of the commitment.
    pub salt: [u8; 32],
    /// The bytes of the entry.
    pub entry: Vec<u8>,
    /// The new content of the statement, if it is about envelopes.
    pub list: Option<EnvelopeList>,
}

/// The envelopes of several statements, as one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeList {
    /// Lines of a name and a value.
    pub text: String,
    /// The hashes of the envelopes, 32 bytes each.
    pub leaves: Vec<u8>,
    /// The ids of the other statements, which are deleted.
    pub replaced: Vec<i64>,
}

/// A stored tile: up to 256 hashes of one level of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTile {
    /// The level in the tree, in steps of eight.
    pub level: u8,
    /// The number of the tile in its level.
    pub index: u64,
    /// The hashes, 32 bytes each.
    pub hashes: Vec<u8>,
}

/// The state of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    /// The name of the log, an URL without its scheme. Never changes.
    pub origin: String,
    /// The issuer key from which the signing key of the log is derived.
    pub issuer_key: IssuerKeyId,
    /// The number of entries.
    pub size: u64,
    /// The signed checkpoint of this size.
    pub checkpoint: String,
    /// The newest checkpoint that witnesses have cosigned. Set apart from the others.
    pub witnessed: Option<String>,
}
