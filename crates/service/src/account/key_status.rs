//! The use case that reports the status of the caller's key.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Did, GovernanceReason, GovernanceStanding, Handle, KeyStatus, Label, Plan,
    Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_limits::{Terms, UsageReport};
use serde::Serialize;

use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    sealpost::{Sealpost, core::Core},
    webhooks::waiting::WaitingCount,
};

/// The status of a key.
#[derive(Debug, JsonSchema, Serialize)]
pub struct KeyStanding {
    /// The caller's key.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: Label,
    /// A name that senders can use instead of the key.
    pub handle: Option<Handle>,
    /// The DID of the key.
    pub did: Did,
    /// State of the key.
    pub status: KeyStatus,
    /// The plan of the key.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// Account of the key.
    pub account_id: AccountId,
    /// Time of activation.
    pub created_at: Timestamp,
    /// Governance decisions about the key.
    pub governance: GovernanceView,
    /// Limits and their use, including this request.
    pub usage: UsageReport,
    /// Messages per second, with a burst of one second.
    pub throughput_per_second: u32,
    /// Number of webhooks.
    pub webhooks: u64,
    /// The envelopes that wait for a webhook.
    #[serde(flatten)]
    pub waiting: WaitingCount,
}

/// Governance decisions about a key.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GovernanceView {
    /// Whether governance blocks the key.
    pub blocked: bool,
    /// Every decision that is not lifted.
    pub reasons: Vec<GovernanceReason>,
}

impl From<GovernanceStanding> for GovernanceView {
    fn from(standing: GovernanceStanding) -> Self {
        Self { blocked: standing.is_blocked(), reasons: standing.0 }
    }
}

impl Sealpost {
    /// Returns the status of the caller's key, with this request counted.
    pub async fn status(&self, caller: &Caller) -> Limited<KeyStanding> {
        self.run_as(caller, status).await
    }
}

fn status(core: &Core, caller: &Caller) -> Limited<KeyStanding> {
    core.admitted(caller, Purpose::Manage, Durability::Relaxed, |tx, admitted| {
        let key = tx.find_key(&caller.id.key)?.ok_or(StoreError::Corrupt("key"))?;
        let terms = Terms::of(&key.plan);
        let webhooks = tx.count_webhooks(&caller.id.key)?;
        let did = core.proven_did(&key);
        Ok(Ok(did.map(|did| KeyStanding {
            api_key_id: key.id,
            label: key.label,
            handle: key.handle,
            did,
            status: key.status,
            plan: key.plan.name(),
            account_id: key.account_id,
            created_at: key.created_at,
            governance: admitted.key.standing.clone().into(),
            usage: admitted.limits.report(),
            throughput_per_second: terms.per_second,
            webhooks,
            waiting: WaitingCount::default(),
        })))
    })
    .and_then(|standing| {
        // Counted outside the transaction, because counting takes long and sends of the key would wait.
        let waiting = core.count_waiting(&mut *core.store.lookup()?, &caller.id.key)?;
        Ok(KeyStanding { waiting, ..standing? })
    })
}
