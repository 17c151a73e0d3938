//! The policy of a key as a recipient: the senders that the key accepts, and the data that other keys can see.

mod change;
mod contacts;

use schemars::JsonSchema;
use sealpost_domain::{
    AcceptPolicy, ActivityKind, ApiKeyId, EnvelopeId, ReceiptPolicy, RecipientPolicy, Refusal,
};
use sealpost_storage::{Abort, Transaction};
use serde::Serialize;

use self::change::KeyedChange;
pub use self::change::PolicyChange;
use crate::{
    account::Accounts,
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
    error::Error,
    owner::correspondents::{Correspondent, correspondent},
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

impl Accounts {
    /// Changes the policy of the actor's key, and returns the new policy. An empty change only returns the current
    /// policy.
    pub async fn set_policy(&self, actor: &Actor, change: PolicyChange) -> Limited<PolicyView> {
        let set = move |accounts: &Self, request: &ActRequest| {
            accounts.set_policy_blocking(request, &change)
        };
        self.core.act(self, actor, Purpose::Manage, set).await
    }

    /// Adds the sender of an envelope to the blocklist of the actor's key, which received the envelope. Returns the
    /// sender. Refuses an envelope that has expired or that the key did not receive.
    pub async fn block_sender(&self, actor: &Actor, envelope_id: String) -> Limited<Correspondent> {
        let block = move |accounts: &Self, request: &ActRequest| {
            let core = &accounts.core;
            let id: EnvelopeId = envelope_id.parse().or(Err(Refusal::EnvelopeNotFound))?;
            if id.timestamp() < core.kept_since(core.clock.now()) {
                return Err(Refusal::EnvelopeNotFound.into());
            }
            let sender = core.store.read(|reader| reader.find_sender(&id, request.key()))?;
            let sender = sender.ok_or(Refusal::EnvelopeNotFound)?;
            let block = vec![sender.to_string()];
            accounts
                .set_policy_blocking(request, &PolicyChange { block, ..PolicyChange::default() })?;
            Ok(core.store.read(|reader| correspondent(reader, sender))?)
        };
        self.core.act(self, actor, Purpose::Manage, block).await
    }

    /// Changes the policy of a key. If the change chooses [`AcceptPolicy::Contacts`], first collects the contacts of
    /// the key.
    fn set_policy_blocking(
        &self,
        request: &ActRequest,
        change: &PolicyChange,
    ) -> Result<PolicyView, Error> {
        let key = request.key();
        if change.is_empty() {
            let policy = self.core.store.read(|reader| reader.find_policy(key))?;
            return Ok(policy.unwrap_or_default().into());
        }
        let change = self.core.store.read(|reader| change.find_keys(reader))?;
        if change.accept == Some(AcceptPolicy::Contacts) {
            self.collect_contacts(request)?;
        }
        let policy = request.write(|tx| {
            let policy = self.change_policy(tx, key, &change)?;
            request.record(tx, ActivityKind::PolicyChanged, key.to_string())?;
            Ok(policy)
        })?;
        Ok(policy.into())
    }

    /// Applies a change, and returns the new policy. Returns [`Refusal::Unavailable`] for a change to
    /// [`AcceptPolicy::Contacts`] if the key does not record contacts: another request has stopped the recording since
    /// the contacts were collected.
    fn change_policy(
        &self,
        tx: &mut Transaction,
        key: &ApiKeyId,
        change: &KeyedChange,
    ) -> Result<RecipientPolicy, Abort> {
        let mut policy = tx.find_policy(key)?.unwrap_or_default();
        if change.accept == Some(AcceptPolicy::Contacts) && !policy.records_contacts {
            return Err(Refusal::Unavailable.into());
        }
        change.apply(&mut policy, self.core.settings.policy_entries_max)?;
        tx.set_policy(key, &policy)?;
        Ok(policy)
    }
}
