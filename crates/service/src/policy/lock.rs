//! Locks the usage row of an API key, before a transaction changes the key's policy as a recipient.

use sealpost_domain::{ApiKeyId, KeyStatus, Refusal, ports::FactsQuery};
use sealpost_storage::{Abort, Transaction};

/// Locks the usage row of a key until the transaction ends. Refuses a key that is not active.
pub(super) fn lock_active_key(tx: &mut Transaction, key: &ApiKeyId) -> Result<(), Abort> {
    let facts = tx.lock_facts(&FactsQuery { callers: vec![*key], ..FactsQuery::default() })?;
    let status = facts.keys.get(key).map_or(KeyStatus::Revoked, |key| key.status);
    if status == KeyStatus::Active {
        return Ok(());
    }
    Err(Refusal::KeyInactive { status, field: None }.into())
}
