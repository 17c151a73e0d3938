//! The audit trail: a chain in which every entry carries the hash of the one before, so that nobody changes, drops or
//! inserts one without its showing from there on.

use sealpost_domain::{AdminAction, AuditEntry, AuditHash, Timestamp, ports::Durability};
use sealpost_wallet::chain_hash;
use serde::Serialize;
use serde_json::json;

use super::{Deed, Operator, OperatorError};

/// An entry as it is shown.
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

/// Whether the chain holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum AuditVerdict {
    /// It breaks at this entry first.
    Broken {
        /// The entry's number, or where it should be.
        number: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Every entry is what it was, as far as the chain can tell.
    Whole {
        /// How many there are.
        entries: u64,
        /// Of the newest, in hexadecimal; zeros where there is none. The chain cannot show that its end was cut off: a
        /// copy of this, kept elsewhere, can.
        hash: String,
    },
}

impl Operator {
    /// Entries with a number above `after`, in order.
    pub fn audit_entries(&self, after: u64, limit: u32) -> Result<Vec<AuditShown>, OperatorError> {
        Ok(self.page(after, limit)?.into_iter().map(AuditShown::from).collect())
    }

    /// The newest entries, in order: the end of the trail.
    pub fn newest_audit_entries(&self, limit: u32) -> Result<Vec<AuditShown>, OperatorError> {
        let newest = self.store.write(Durability::Relaxed, |tx| tx.newest_audit_entries(limit))?;
        Ok(newest.into_iter().map(AuditShown::from).collect())
    }

    /// Goes through the whole chain.
    pub fn verify_audit(&self) -> Result<AuditVerdict, OperatorError> {
        let mut previous: Option<AuditEntry> = None;
        loop {
            let after = previous.as_ref().map_or(0, |entry| entry.number);
            let page = self.page(after, PAGE)?;
            if page.is_empty() {
                let hash = previous.map_or(AuditHash::NONE, |newest| newest.hash).to_string();
                return Ok(AuditVerdict::Whole { entries: after, hash });
            }
            for found in page {
                if let Some(why) = fault(previous.as_ref(), &found) {
                    return Ok(AuditVerdict::Broken { number: after_one(previous.as_ref()), why });
                }
                previous = Some(found);
            }
        }
    }

    /// Writes down that a new key-encryption key was made.
    pub fn record_kek_rotation(&self, version: u32) -> Result<(), OperatorError> {
        self.act(|_| {
            let detail = json!({"version": version});
            let subject = format!("kek:{version}");
            Ok(Ok(((), Deed { action: "kek.rotate", subject, detail })))
        })
    }

    fn page(&self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, OperatorError> {
        Ok(self.store.write(Durability::Relaxed, |tx| tx.audit_entries(after, limit))?)
    }
}

/// The entry that follows `head`.
pub(super) fn entry(
    head: Option<&AuditEntry>,
    admin_action: AdminAction,
    at: Timestamp,
) -> AuditEntry {
    let number = after_one(head);
    let previous = head.map_or(AuditHash::NONE, |head| head.hash);
    let hash = hash(number, at, &admin_action, previous);
    AuditEntry { number, at, admin_action, previous, hash }
}

fn after_one(head: Option<&AuditEntry>) -> u64 {
    head.map_or(0, |head| head.number).saturating_add(1)
}

fn fault(before: Option<&AuditEntry>, found: &AuditEntry) -> Option<&'static str> {
    if found.number != after_one(before) {
        return Some("an entry is missing");
    }
    if found.previous != before.map_or(AuditHash::NONE, |before| before.hash) {
        return Some("it does not follow the entry before it");
    }
    if found.hash != hash(found.number, found.at, &found.admin_action, found.previous) {
        return Some("it was changed");
    }
    None
}

/// Each part with its length in front, so that no two entries are the same bytes.
fn hash(number: u64, at: Timestamp, admin_action: &AdminAction, previous: AuditHash) -> AuditHash {
    AuditHash(chain_hash(&[
        b"sealpost/v1/audit",
        &number.to_be_bytes(),
        &at.as_millis().to_be_bytes(),
        admin_action.actor.as_bytes(),
        admin_action.action.as_bytes(),
        admin_action.subject.as_bytes(),
        admin_action.detail.as_bytes(),
        &previous.0,
    ]))
}

impl From<AuditEntry> for AuditShown {
    fn from(entry: AuditEntry) -> Self {
        let AdminAction { actor, action, subject, detail } = entry.admin_action;
        let hash = entry.hash.to_string();
        Self { number: entry.number, at: entry.at, actor, action, subject, detail, hash }
    }
}

const PAGE: u32 = 500;
