//! The database rows of the transparency log, a public Merkle tree. An entry of the log is a commitment: the hash of a
//! statement (a text about an object, such as a key) and random bytes.

use crate::{IssuerKeyId, Timestamp, named_enum::named_enum};

named_enum! {
    /// The kind of object that a statement describes. A statement is a text whose hash is in the transparency log.
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

/// A statement (a text about an object, such as a key) that has no entry in the transparency log yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingStatement {
    /// Id of the statement's database row.
    pub id: i64,
    /// The kind of the statement, as named by [`StatementKind`].
    pub kind: String,
    /// The text of the statement: lines of a name and a value. Empty for envelopes.
    pub text: String,
    /// The hashes of the envelopes, 32 bytes each. Empty for other kinds.
    pub leaves: Vec<u8>,
}

/// A statement (a text about an object, such as a key), with all data from which its entry in the transparency log is
/// computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedStatement {
    /// The number of the statement's entry in the log.
    pub number: u64,
    /// The time at which the entry was appended.
    pub at: Timestamp,
    /// The random bytes that are hashed with the statement, so that a guess of the statement cannot be tested against
    /// the entry.
    pub salt: [u8; 32],
    /// The text of the statement: lines of a name and a value.
    pub text: String,
}

/// An entry to append to the transparency log. It contains the hash of a statement: a text about an object, such as a
/// key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogEntry {
    /// Id of the statement's database row. `None` if the statement is not stored.
    pub statement: Option<i64>,
    /// The number of the entry in the log.
    pub number: u64,
    /// The random bytes that are hashed with the statement, so that a guess of the statement cannot be tested against
    /// the entry.
    pub salt: [u8; 32],
    /// The published bytes of the entry.
    pub entry: Vec<u8>,
    /// For a statement about envelopes: the new content of its row, after other statements were merged into it.
    /// Otherwise `None`.
    pub list: Option<EnvelopeList>,
}

/// A statement about envelopes into which several stored statements are merged. The log gets one entry for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeList {
    /// The text of the statement: lines of a name and a value.
    pub text: String,
    /// The hashes of the envelopes, 32 bytes each.
    pub leaves: Vec<u8>,
    /// The ids of the other merged statements, whose rows are deleted.
    pub replaced: Vec<i64>,
}

/// A stored tile of the transparency log: up to 256 hashes of one level of its Merkle tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTile {
    /// The level of the tile: its hashes are nodes of the tree at the height `8 * level`, counted from the leaves.
    pub level: u8,
    /// The number of the tile in its level.
    pub index: u64,
    /// The hashes, 32 bytes each.
    pub hashes: Vec<u8>,
}

/// The current state of the transparency log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    /// The name of the log: a URL without its scheme. A log that an operator restarts gets another name.
    pub origin: String,
    /// The issuer key from which the signing key of the log is derived.
    pub issuer_key: IssuerKeyId,
    /// The number of entries.
    pub size: u64,
    /// The signed checkpoint: the name, the size and the root hash of the log. Empty until a node has signed one.
    pub checkpoint: String,
    /// The newest checkpoint with the cosignatures of witnesses (other servers that check the log). It can be older
    /// than `checkpoint`. `None` before the first cosignature.
    pub witnessed: Option<String>,
}
