//! The audit trail: every privileged act, in a chain of hashes that shows where somebody changed it.

use std::fmt;

use crate::Timestamp;

/// What is told of a privileged act, before it has its place in the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAction {
    /// Who did it, such as `operator:root`.
    pub actor: String,
    /// What was done, such as `key.revoke`.
    pub action: String,
    /// To whom: a key, an account, a partner.
    pub subject: String,
    /// Everything else that matters, as one line of JSON without secrets.
    pub detail: String,
}

/// One entry of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number: 1 and so on, without gaps.
    pub number: u64,
    /// When it was added.
    pub at: Timestamp,
    /// What was done.
    pub admin_action: AdminAction,
    /// The hash of the entry before; zeros for the first.
    pub previous: AuditHash,
    /// Over the number, the time, the act and the hash before.
    pub hash: AuditHash,
}

/// SHA-256 over an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// What stands before the first entry.
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
