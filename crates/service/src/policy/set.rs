//! The use case that shows and changes a recipient's policy.

use schemars::JsonSchema;
use sealpost_domain::{
    AcceptPolicy, ActivityKind, ApiKeyId, ReceiptPolicy, RecipientPolicy, RequestSource,
    ports::Durability,
};
use sealpost_storage::{Abort, Transaction};
use serde::Serialize;

use super::{
    change::{KeyedChange, PolicyChange},
    lock::lock_active_key,
};
use crate::{
    account::activity::ActOrigin,
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The policy of a key as a recipient.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PolicyView {
    /// The senders whose messages the key accepts.
    pub accept: AcceptPolicy,
    /// The part of a receipt (the state of a received envelope) that the key shows to the sender.
    pub receipts: ReceiptPolicy,
    /// Whether other keys can see the label (display name) of the key.
    pub listed: bool,
    /// The allowlist: keys that are accepted if `accept` is `allowlist` or `contacts`.
    pub allowed: Vec<ApiKeyId>,
    /// The blocklist: keys that are always refused.
    pub blocked: Vec<ApiKeyId>,
}

impl From<RecipientPolicy> for PolicyView {
    fn from(policy: RecipientPolicy) -> Self {
        Self {
            accept: policy.accept,
            receipts: policy.receipts,
            listed: policy.is_listed,
            allowed: policy.allowed.into_iter().collect(),
            blocked: policy.blocked.into_iter().collect(),
        }
    }
}

impl Sealpost {
    /// Changes the policy of the caller's key, and returns the new policy. An empty change only returns the current
    /// policy.
    pub async fn set_policy(
        &self,
        caller: &Caller,
        change: PolicyChange,
        source: RequestSource,
    ) -> Limited<PolicyView> {
        self.run_as(caller, move |core, caller| {
            let origin = caller.act_from(&source);
            core.admitted(caller, Purpose::Manage, Durability::Relaxed, |_, _| Ok(()))
                .and_then(|()| core.set_policy(&caller.id.key, &change, &origin))
        })
        .await
    }
}

impl Core {
    /// Changes the policy of a key. If the new policy accepts messages from contacts, first collects the contacts.
    pub(crate) fn set_policy(
        &self,
        key: &ApiKeyId,
        change: &PolicyChange,
        origin: &ActOrigin,
    ) -> Result<PolicyView, Error> {
        if change.is_empty() {
            return Ok(self
                .store
                .read(|reader| reader.find_policy(key))?
                .unwrap_or_default()
                .into());
        }
        let change = self.store.read(|reader| change.find_keys(reader))?;
        if change.accept == Some(AcceptPolicy::Contacts) {
            self.collect_contacts(key)?;
        }
        let policy = self.store.write_or_refuse(Durability::Durable, |tx| {
            let policy = self.change_policy(tx, key, &change)?;
            self.record(tx, origin, ActivityKind::PolicyChanged, Some(key.to_string()))?;
            Ok(policy)
        })?;
        Ok(policy.into())
    }

    fn change_policy(
        &self,
        tx: &mut Transaction,
        key: &ApiKeyId,
        change: &KeyedChange,
    ) -> Result<RecipientPolicy, Abort> {
        lock_active_key(tx, key)?;
        let mut policy = tx.find_policy(key)?.unwrap_or_default();
        change.apply(&mut policy, self.settings.policy_entries_max)?;
        tx.set_policy(key, &policy)?;
        Ok(policy)
    }
}
