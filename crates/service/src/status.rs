//! Status: where the caller's key stands.

use sealpost_domain::{
    AccountId, ApiKeyId, Did, GovernanceReason, Handle, KeyStatus, Label, Standing, Timestamp,
    ports::StoreError,
};
use sealpost_limits::{Report, Terms};
use serde::Serialize;

use crate::{Body, Credentials, Limited, Sealpost, admission::Act};

/// Where a key stands.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the contract's /v1/did/status says what each field means")]
pub struct KeyStanding {
    pub api_key_id: ApiKeyId,
    pub label: Label,
    pub handle: Option<Handle>,
    pub did: Did,
    pub status: KeyStatus,
    pub plan: &'static str,
    pub account_id: AccountId,
    pub created_at: Timestamp,
    pub governance: GovernanceView,
    pub usage: Report,
    pub throughput_per_second: u32,
    pub webhooks: u64,
}

/// Where a key stands with governance.
#[derive(Debug, Serialize)]
pub struct GovernanceView {
    /// Whether execution is blocked.
    pub blocked: bool,
    /// Every decision that has not been lifted.
    pub reasons: Vec<GovernanceReason>,
}

impl From<Standing> for GovernanceView {
    fn from(standing: Standing) -> Self {
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
        self.admitted(&caller, Act::Manage, |tx, admitted| {
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
                webhooks: tx.count_registrations(&caller.key)?,
            }))
        })
    }
}
