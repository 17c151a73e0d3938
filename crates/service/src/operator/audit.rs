//! Queries and verification of the audit trail.

use sealpost_domain::{AdminAction, AuditEntry, AuditHash, Timestamp, ports::Durability};
use serde::Serialize;
use serde_json::json;

use super::{
    action::{ActionRecord, Concerned, Operator, OperatorError},
    audit_chain::{self, next_number},
};

/// An entry of the audit trail, as operators see it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of an entry")]
pub struct AuditShown {
    pub number: u64,
    pub at: Timestamp,
    pub actor: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
    pub hash: String,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum AuditVerdict {
    /// The chain of hashes is broken: an entry was changed, deleted or inserted.
    Broken {
        /// Number of the first faulty or missing entry.
        number: u64,
        /// The kind of fault.
        why: &'static str,
    },
    /// The chain of hashes is complete up to the newest entry.
    Whole {
        /// Number of entries.
        entries: u64,
        /// Hash of the newest entry in hexadecimal; zeros for an empty trail. Keep a copy elsewhere: only a copy shows
        /// that the newest entries were deleted.
        hash: String,
    },
}

impl Operator {
    /// Returns up to `limit` entries with a number above `after`, in order.
    pub fn audit_entries(&self, after: u64, limit: u32) -> Result<Vec<AuditShown>, OperatorError> {
        Ok(self.page(after, limit)?.into_iter().map(AuditShown::from).collect())
    }

    /// Returns the newest entries, at most `limit`, in order.
    pub fn newest_audit_entries(&self, limit: u32) -> Result<Vec<AuditShown>, OperatorError> {
        let newest = self.store.write(Durability::Relaxed, |tx| tx.newest_audit_entries(limit))?;
        Ok(newest.into_iter().map(AuditShown::from).collect())
    }

    /// Verifies the chain of hashes from the first entry to the newest.
    pub fn verify_audit(&self) -> Result<AuditVerdict, OperatorError> {
        let mut previous: Option<AuditEntry> = None;
        loop {
            let after = previous.as_ref().map_or(0, |entry| entry.number);
            let page = self.page(after, PAGE)?;
            if page.is_empty() {
                let hash = previous.map_or(AuditHash::NONE, |newest| newest.hash).to_string();
                return Ok(AuditVerdict::Whole { entries: after, hash });
            }
            for entry in page {
                if let Some(why) = audit_chain::fault(previous.as_ref(), &entry) {
                    return Ok(AuditVerdict::Broken {
                        number: next_number(previous.as_ref()),
                        why,
                    });
                }
                previous = Some(entry);
            }
        }
    }

    /// Records the creation of a key-encryption key.
    pub fn record_kek_rotation(&self, version: u32) -> Result<(), OperatorError> {
        self.perform(|_| {
            let detail = json!({"version": version});
            let subject = format!("kek:{version}");
            let concerned = Concerned::Service;
            Ok(Ok(((), ActionRecord { action: "kek.rotate", subject, concerned, detail })))
        })
    }

    fn page(&self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, OperatorError> {
        Ok(self.store.write(Durability::Relaxed, |tx| tx.audit_entries(after, limit))?)
    }
}

impl From<AuditEntry> for AuditShown {
    fn from(entry: AuditEntry) -> Self {
        let AdminAction { actor, action, subject, detail } = entry.admin_action;
        let hash = entry.hash.to_string();
        Self { number: entry.number, at: entry.at, actor, action, subject, detail, hash }
    }
}

const PAGE: u32 = 500;
