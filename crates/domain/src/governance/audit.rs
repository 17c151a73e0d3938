//! The audit trail of admin actions. Each entry contains the hash of the entry before, so that a
//! later change of any entry is detected.

use std::fmt;

use crate::Timestamp;

/// An admin action, before it is appended to the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAction {
    /// The operator, such as `operator:root`.
    pub actor: String,
    /// The kind of action, such as `key.revoke`.
    pub action: String,
    /// The affected key, account or partner.
    pub subject: String,
    /// Further details, as one line of JSON without secrets.
    pub detail: String,
}

/// One entry of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Sequence number from 1, without gaps.
    pub number: u64,
    /// Time of the entry.
    pub at: Timestamp,
    /// The recorded action.
    pub admin_action: AdminAction,
    /// Hash of the entry before; zeros for the first entry.
    pub previous: AuditHash,
    /// SHA-256 over number, time, action and previous hash.
    pub hash: AuditHash,
}

/// A SHA-256 hash of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The previous hash of the first entry.
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
