//! The audit trail: a log of all changes by operators. Each entry contains the hash of the previous entry, so a later
//! change of any entry can be detected.

use std::fmt;

use crate::Timestamp;

/// A change by an operator, before it is appended to the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAction {
    /// The operator who made the change, such as `operator:root`.
    pub actor: String,
    /// The kind of change, such as `key.revoke`.
    pub action: String,
    /// The changed object, such as the id of a key or an account.
    pub subject: String,
    /// Further details of the change, as one line of JSON without secrets.
    pub detail: String,
}

/// One entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Sequence number of the entry, from 1 and without gaps.
    pub number: u64,
    /// Time at which the entry was appended.
    pub at: Timestamp,
    /// The recorded change.
    pub admin_action: AdminAction,
    /// Hash of the previous entry. All zeros in the first entry.
    pub previous: AuditHash,
    /// SHA-256 over the number, the time, the change and the previous hash.
    pub hash: AuditHash,
}

/// The SHA-256 hash of an entry in the audit trail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The value of `previous` in the first entry: all zeros.
    pub const NONE: Self = Self([0; 32]);
}

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
