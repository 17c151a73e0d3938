//! The hash chain of the audit trail. Each entry contains the hash of the previous entry, so a changed, deleted or
//! inserted entry breaks the chain there.

use sealpost_domain::{AdminAction, AuditEntry, AuditHash, Timestamp};
use sealpost_wallet::chain_hash;

/// Creates the entry that follows `head`, the newest entry. `None` means that the trail is empty.
pub(crate) fn entry(head: Option<&AuditEntry>, act: AdminAction, at: Timestamp) -> AuditEntry {
    let number = next_number(head);
    let previous = head.map_or(AuditHash::NONE, |head| head.hash);
    let hash = hash(number, at, &act, previous);
    AuditEntry { number, at, admin_action: act, previous, hash }
}

pub(crate) fn next_number(head: Option<&AuditEntry>) -> u64 {
    head.map_or(0, |head| head.number).saturating_add(1)
}

pub(crate) fn fault(before: Option<&AuditEntry>, entry: &AuditEntry) -> Option<&'static str> {
    if entry.number != next_number(before) {
        return Some("an entry is missing");
    }
    if entry.previous != before.map_or(AuditHash::NONE, |before| before.hash) {
        return Some("it does not follow the entry before it");
    }
    if entry.hash != hash(entry.number, entry.at, &entry.admin_action, entry.previous) {
        return Some("it was changed");
    }
    None
}

/// Returns the hash of an entry. Each field is hashed after its length, so different entries never give the same input
/// to the hash.
fn hash(number: u64, at: Timestamp, act: &AdminAction, previous: AuditHash) -> AuditHash {
    AuditHash(chain_hash(&[
        b"sealpost/v1/audit",
        &number.to_be_bytes(),
        &at.as_millis().to_be_bytes(),
        act.actor.as_bytes(),
        act.action.as_bytes(),
        act.subject.as_bytes(),
        act.detail.as_bytes(),
        &previous.0,
    ]))
}
