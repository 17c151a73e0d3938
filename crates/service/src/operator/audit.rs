//! Lists the entries of the audit trail, verifies their hash chain, and compares it with the
//! transparency log.

use std::path::Path;

use schemars::JsonSchema;
use sealpost_domain::{AdminAction, AuditEntry, AuditHash, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    acts::{
        audit_chain::{self, next_number},
        audited::{ActionRecord, Concerned, Operator, OperatorError},
    },
    transparency::logged_trail::LoggedTrail,
};

/// An entry of the audit trail, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AuditView {
    /// Number of the entry. The first entry has number 1.
    pub number: u64,
    /// Time of the action.
    pub at: Timestamp,
    /// The operator who performed the action.
    pub actor: String,
    /// Name of the action, such as `badge.revoke`.
    pub action: String,
    /// Id of the key or account that the action changed, or another name.
    pub subject: String,
    /// Details of the change, such as its reason.
    pub detail: String,
    /// Hash over the entry and the hash of the previous entry.
    pub hash: String,
}

/// The result of verifying the hash chain of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum AuditVerdict {
    /// The trail differs from its hash chain or from the transparency log: an entry was changed, deleted or inserted.
    Broken {
        /// Number of the first faulty or missing entry.
        number: u64,
        /// Fault of this entry, for example "it was changed".
        why: &'static str,
    },
    /// The hash chain is complete, and contains all entries that the transparency log contains.
    Whole {
        /// Number of entries.
        entries: u64,
        /// Hash of the newest entry in hexadecimal; zeros if there is no entry. Keep a copy: a deletion of the newest
        /// entries is otherwise noticed only if a node has added them to the transparency log, which takes up to two
        /// seconds.
        hash: String,
    },
}

impl Operator {
    /// Returns the entries with a number above `after` in ascending order, at most `limit`.
    pub fn audit_entries(&self, after: u64, limit: u32) -> Result<Vec<AuditView>, OperatorError> {
        Ok(self.page(after, limit)?.into_iter().map(AuditView::from).collect())
    }

    /// Returns the newest entries in ascending order, at most `limit`.
    pub fn newest_audit_entries(&self, limit: u32) -> Result<Vec<AuditView>, OperatorError> {
        let newest = self.store.read(|reader| reader.newest_audit_entries(limit))?;
        Ok(newest.into_iter().map(AuditView::from).collect())
    }

    /// Verifies the whole hash chain, and compares it with the transparency log. `kept` is the file in which nodes keep
    /// the newest checkpoint (signed size and root hash of the log). If the log lacks entries of this checkpoint, an
    /// older database was restored, and the result is [`AuditVerdict::Broken`].
    pub fn verify_audit(&self, kept: Option<&Path>) -> Result<AuditVerdict, OperatorError> {
        // Reads the log before the trail, because both may grow meanwhile. Each entry that is read from the log is then
        // also in the trail.
        let logged = LoggedTrail::read(&self.store, kept)?;
        let mut previous: Option<AuditEntry> = None;
        loop {
            let after = previous.as_ref().map_or(0, |entry| entry.number);
            let page = self.page(after, PAGE)?;
            if page.is_empty() {
                if let Some(why) = logged.fault_after(after) {
                    return Ok(AuditVerdict::Broken { number: after.saturating_add(1), why });
                }
                let hash = previous.map_or(AuditHash::NONE, |newest| newest.hash).to_string();
                return Ok(AuditVerdict::Whole { entries: after, hash });
            }
            for entry in page {
                let fault = audit_chain::fault(previous.as_ref(), &entry);
                if let Some(why) = fault.or_else(|| logged.fault_of(&entry)) {
                    return Ok(AuditVerdict::Broken {
                        number: next_number(previous.as_ref()),
                        why,
                    });
                }
                previous = Some(entry);
            }
        }
    }

    /// Records that a key-encryption key of this version was created.
    pub fn record_kek_rotation(&self, version: u32) -> Result<(), OperatorError> {
        self.perform(|_| {
            let (subject, detail) = (format!("kek:{version}"), json!({"version": version}));
            Ok(((), ActionRecord::new("kek.rotate", &subject, Concerned::Service, detail)))
        })
    }

    /// Records that the key-encryption keys were copied from the place `from` to the place `to`.
    pub fn record_kek_move(&self, from: &str, to: &str) -> Result<(), OperatorError> {
        self.record_of_keys(KEK_MOVE, &json!({"from": from, "to": to}))
    }

    /// Records that the key-encryption keys are only in the place `to` now: all copies in other places were deleted.
    pub fn record_kek_move_end(&self, to: &str) -> Result<(), OperatorError> {
        self.record_of_keys(KEK_MOVE_END, &json!({"to": to}))
    }

    /// Returns true if the key-encryption keys were copied to another place, and the copies in the previous place are
    /// not deleted yet. Reads the whole trail.
    pub fn is_kek_moving(&self) -> Result<bool, OperatorError> {
        let (mut is_moving, mut after) = (false, 0);
        loop {
            let page = self.page(after, PAGE)?;
            let Some(last) = page.last() else { return Ok(is_moving) };
            after = last.number;
            for entry in &page {
                match entry.admin_action.action.as_str() {
                    KEK_MOVE => is_moving = true,
                    KEK_MOVE_END => is_moving = false,
                    _ => {}
                }
            }
        }
    }

    pub(super) fn record_of_keys(
        &self,
        action: &'static str,
        detail: &Value,
    ) -> Result<(), OperatorError> {
        self.perform(|_| {
            Ok(((), ActionRecord::new(action, "kek", Concerned::Service, detail.clone())))
        })
    }

    fn page(&self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, OperatorError> {
        Ok(self.store.read(|reader| reader.audit_entries(after, limit))?)
    }
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        let AdminAction { actor, action, subject, detail } = entry.admin_action;
        let hash = entry.hash.to_string();
        Self { number: entry.number, at: entry.at, actor, action, subject, detail, hash }
    }
}

const KEK_MOVE: &str = "kek.move";
const KEK_MOVE_END: &str = "kek.move-end";
const PAGE: u32 = 500;
