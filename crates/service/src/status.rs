//! Status: where the caller's key stands.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Did, GovernanceReason, GovernanceStanding, Handle, KeyStatus, Label, Plan,
    Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_limits::{Terms, UsageReport};
use serde::Serialize;

use crate::{Body, Credentials, Limited, Sealpost, admission::Act};

/// Where a key stands.
#[derive(Debug, JsonSchema, Serialize)]
pub struct KeyStanding {
    /// The caller's key.
    pub api_key_id: ApiKeyId,
    /// What people call it.
    pub label: Label,
    /// The name that senders may use.
    pub handle: Option<Handle>,
    /// The one DID that it maps to.
    pub did: Did,
    /// Where it stands.
    pub status: KeyStatus,
    /// What limits it.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// Whose it is.
    pub account_id: AccountId,
    /// When it was activated.
    pub created_at: Timestamp,
    /// Where it stands with governance.
    pub governance: GovernanceView,
    /// Its limits, and what was used of them, this request counted.
    pub usage: UsageReport,
    /// Messages a second, with a burst of one second.
    pub throughput_per_second: u32,
    /// How many webhooks it has.
    pub webhooks: u64,
}

/// Where a key stands with governance.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GovernanceView {
    /// Whether execution is blocked.
    pub blocked: bool,
    /// Every decision that has not been lifted.
    pub reasons: Vec<GovernanceReason>,
}

impl From<GovernanceStanding> for GovernanceView {
    fn from(standing: GovernanceStanding) -> Self {
        Self { blocked: standing.is_blocked(), reasons: standing.0 }
    }
}

impl Sealpost {
    /// Where the caller's key stands, this request counted.
    pub fn status(&self, credentials: &Credentials, body: &Body<()>) -> Limited<KeyStanding> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Manage, Durability::Relaxed, |tx, admitted| {
            if let Err(fault) = body {
                return Ok(Err(fault.clone()));
            }
            let key = tx.find_key(&caller.key)?.ok_or(StoreError::Corrupt("key"))?;
            let terms = Terms::of(&key.plan);
            Ok(Ok(KeyStanding {
                api_key_id: key.id,
                label: key.label,
                handle: key.handle,
                did: key.did,
                status: key.status,
                plan: key.plan.name(),
                account_id: key.account_id,
                created_at: key.created_at,
                governance: admitted.key.standing.clone().into(),
                usage: admitted.limits.report(),
                throughput_per_second: terms.per_second,
                webhooks: tx.count_webhooks(&caller.key)?,
            }))
        })
    }
}
