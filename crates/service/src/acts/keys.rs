//! Changes the state and the plan of API keys. An operator can make each change. The owner of the account can only
//! revoke a key.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ActivityKind, ApiKey, ApiKeyId, Did, EnterpriseTerms, Handle, IdentityRotation,
    IllegalTransition, KeyEvent, KeyStatus, Label, Plan, Refusal, RotationReason, Timestamp,
    ports::{FactsQuery, RevocationSummary, WriteSet},
};
use sealpost_limits::{OveragePolicy, Terms, reached_thresholds};
use sealpost_storage::{Abort, Transaction};
use serde::Serialize;
use serde_json::json;

use super::{
    audited::{ActionRecord, Operator, OperatorError},
    owner::ProvenOwner,
};
use crate::{account::Accounts, cache::key_cache::CacheEvent, error::Error};

/// An API key, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct KeyView {
    /// The API key.
    pub api_key_id: ApiKeyId,
    /// The account of the key.
    pub account_id: AccountId,
    /// The DID of the key.
    pub did: Did,
    /// The state of the key.
    pub status: KeyStatus,
    /// The name of the plan.
    pub plan: &'static str,
    /// The label of the key.
    pub label: Label,
    /// The handle of the key; `null` if the key has none.
    pub handle: Option<Handle>,
}

/// A revoked key, and the numbers of rows that were deleted with it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct KeyRevoked {
    /// The key.
    #[serde(flatten)]
    pub key: KeyView,
    /// Number of deleted webhooks.
    #[serde(rename = "registrations")]
    pub webhooks: u64,
    /// Number of pending deliveries that this call deleted. If there are more, housekeeping deletes them later.
    pub deliveries: u64,
}

/// A key with its new plan, and the limits of the plan.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct PlanView {
    /// The key.
    #[serde(flatten)]
    pub key: KeyView,
    /// Maximum number of requests per minute.
    pub per_minute: u32,
    /// Maximum number of requests per day.
    pub per_day: u32,
    /// Maximum number of messages per month.
    pub per_month: u32,
    /// Maximum number of messages per second.
    pub per_second: u32,
    /// Whether messages over the monthly allowance are admitted.
    pub allow_overage: bool,
}

/// The limits agreed for a key on the enterprise plan. `None` keeps the current limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Maximum number of requests per calendar minute.
    pub per_minute: Option<u32>,
    /// Maximum number of requests per calendar day (UTC).
    pub per_day: Option<u32>,
    /// Maximum number of messages per calendar month (UTC).
    pub per_month: Option<u32>,
    /// Maximum number of messages per second.
    pub per_second: Option<u32>,
    /// True if messages above the monthly limit are admitted and recorded.
    pub allow_overage: bool,
}

impl Agreement {
    /// Returns the plan with this name, or `None` for `enterprise`, whose limits are in `self`. Fails for an unknown
    /// name, and for another plan if `self` contains limits. The error text continues a sentence that starts with
    /// "plan".
    pub fn plan_named(&self, name: &str) -> Result<Option<Plan>, String> {
        let fixed = match name {
            "builder" => Plan::Builder,
            "enterprise" => return Ok(None),
            "explorer" => Plan::Explorer,
            "sovereign" => Plan::Sovereign,
            _ => return Err(format!("must be one of {}", Plan::NAMES.join(", "))),
        };
        if *self != Self::default() {
            return Err(format!("{name} has fixed limits: omit the limits and the overage"));
        }
        Ok(Some(fixed))
    }

    /// Returns the agreed limits. Omitted limits keep their values in the current `plan`.
    fn on(&self, plan: &Plan) -> EnterpriseTerms {
        let now = Terms::new(plan);
        EnterpriseTerms {
            per_minute: self.per_minute.unwrap_or(now.per_minute),
            per_day: self.per_day.unwrap_or(now.per_day),
            per_month: self.per_month.unwrap_or(now.per_month),
            per_second: self.per_second.unwrap_or(now.per_second),
            allow_overage: self.allow_overage,
        }
    }
}

impl Accounts {
    /// Revokes a key of the owner's account permanently, like [`Operator::revoke_key`].
    pub async fn revoke_key(&self, owner: ProvenOwner, id: ApiKeyId) -> Result<KeyRevoked, Error> {
        self.core.block(self, move |accounts| accounts.revoke_as_owner(&owner, &id)).await
    }
}

impl Operator {
    /// Returns a key, or an error if it does not exist.
    pub fn show_key(&self, id: &ApiKeyId) -> Result<KeyView, OperatorError> {
        let key = self.store.read(|reader| reader.find_key(id))?.ok_or(NO_KEY)?;
        Ok(key.into())
    }

    /// Deactivates a key until it is reactivated.
    pub fn deactivate_key(&self, id: &ApiKeyId) -> Result<KeyView, OperatorError> {
        self.move_key(id, KeyEvent::Deactivate, "key.deactivate")
    }

    /// Activates a deactivated key again.
    pub fn reactivate_key(&self, id: &ApiKeyId) -> Result<KeyView, OperatorError> {
        self.move_key(id, KeyEvent::Reactivate, "key.reactivate")
    }

    /// Rotates the sealing key in two transactions. Between them, the key has the state `rotating` and refuses
    /// requests. If a rotation was interrupted after the first transaction, the next call finishes it.
    pub fn rotate_key(&self, id: &ApiKeyId) -> Result<KeyView, OperatorError> {
        let now = self.clock.now();
        let key = self.store.read(|reader| reader.find_key(id))?.ok_or(NO_KEY)?;
        if key.status != KeyStatus::Rotating {
            self.move_key(id, KeyEvent::StartRotation, "key.start_rotation")?;
        }
        self.perform(|tx| {
            let mut key = tx.lock_key(id)?.ok_or(NO_KEY)?;
            if key.status == KeyStatus::Active {
                let text = "another command has just finished the rotation of the key";
                return Err(OperatorError::Pointless(text).into());
            }
            let moved = key.status.apply(KeyEvent::FinishRotation).map_err(OperatorError::from)?;
            key.sealing_version = key.sealing_version.saturating_add(1);
            tx.set_sealing_version(id, key.sealing_version)?;
            tx.set_status(id, moved)?;
            tx.record_rotation(&IdentityRotation {
                api_key_id: *id,
                handle: key.handle.clone(),
                replaced_by: None,
                reason: RotationReason::SealingKey,
                at: now,
            })?;
            key.status = moved;
            let detail = json!({"sealing_version": key.sealing_version});
            Ok((key.into(), ActionRecord::on_key("key.finish_rotation", id, detail)))
        })
    }

    /// Revokes a key permanently, and deletes its webhooks and deliveries. Waits for running transactions that store
    /// messages of the key. Afterwards, all nodes refuse every message from or to the key.
    pub fn revoke_key(&self, id: &ApiKeyId) -> Result<KeyRevoked, OperatorError> {
        let now = self.clock.now();
        self.perform(|tx| {
            let key = tx.lock_key(id)?.ok_or(NO_KEY)?;
            revoke_locked(tx, key, now, OperatorError::from)
        })
    }

    /// Sets the plan of a key. The usage of the key so far counts against the new limits.
    pub fn set_plan(&self, id: &ApiKeyId, plan: Plan) -> Result<PlanView, OperatorError> {
        self.change_plan(id, |_| plan)
    }

    /// Sets the enterprise plan of a key, with agreed limits.
    pub fn agree(&self, id: &ApiKeyId, agreement: Agreement) -> Result<PlanView, OperatorError> {
        self.change_plan(id, |plan| Plan::Enterprise(agreement.on(plan)))
    }

    fn change_plan(
        &self,
        id: &ApiKeyId,
        next: impl Fn(&Plan) -> Plan,
    ) -> Result<PlanView, OperatorError> {
        let now = self.clock.now();
        self.perform(|tx| {
            let mut key = tx.lock_key(id)?.ok_or(NO_KEY)?;
            let plan = next(&key.plan);
            tx.set_plan(id, &plan)?;
            let query = FactsQuery { callers: vec![*id], ..FactsQuery::default() };
            if let Some(usage) = tx.lock_facts(&query)?.usage.get(id) {
                // A threshold is a percentage of a limit. If the limit becomes smaller, the current usage can reach a
                // threshold without a new request. Therefore this transaction stores the event.
                let before = (&Terms::new(&key.plan), usage);
                let after = (&Terms::new(&plan), usage);
                let thresholds = reached_thresholds(id, before, after, now);
                tx.apply(&WriteSet { thresholds, ..WriteSet::default() })?;
            }
            let mut detail = json!({"from": key.plan.name(), "to": plan.name()});
            if let (Plan::Enterprise(terms), Some(detail)) = (&plan, detail.as_object_mut()) {
                detail.insert("terms".to_owned(), json!(terms));
            }
            key.plan = plan;
            Ok((key.into(), ActionRecord::on_key("plan.set", id, detail)))
        })
    }

    fn move_key(
        &self,
        id: &ApiKeyId,
        event: KeyEvent,
        action: &'static str,
    ) -> Result<KeyView, OperatorError> {
        self.perform(|tx| {
            let mut key = tx.lock_key(id)?.ok_or(NO_KEY)?;
            let from = key.status;
            key.status = from.apply(event).map_err(OperatorError::from)?;
            tx.set_status(id, key.status)?;
            let detail = json!({"from": from, "to": key.status});
            Ok((key.into(), ActionRecord::on_key(action, id, detail)))
        })
    }
}

impl From<ApiKey> for PlanView {
    fn from(key: ApiKey) -> Self {
        let Terms { per_minute, per_day, per_month, per_second, overage } = Terms::new(&key.plan);
        let allow_overage = overage == OveragePolicy::Admit;
        Self { key: key.into(), per_minute, per_day, per_month, per_second, allow_overage }
    }
}

impl Accounts {
    fn revoke_as_owner(&self, owner: &ProvenOwner, id: &ApiKeyId) -> Result<KeyRevoked, Error> {
        const NO_KEY: Refusal = Refusal::KeyNotFound { field: None };
        let is_own = |key: &ApiKey| key.account_id == owner.session.account_id;
        // Refuses a key of another account before the transaction begins. The transaction locks rows that the key's own
        // requests to send messages need.
        self.core.store.read(|reader| reader.find_key(id))?.filter(is_own).ok_or(NO_KEY)?;
        let now = self.core.clock.now();
        let revoked = self.audited_act_as_owner(owner, "revoking a key", |tx| {
            let key = tx.lock_key(id)?.filter(is_own).ok_or(NO_KEY)?;
            let revoked = revoke_locked(tx, key, now, |IllegalTransition { from, .. }| {
                Refusal::KeyInactive { status: from, field: None }
            })?;
            let detail = Some(id.to_string());
            self.core.record(tx, &owner.origin(), ActivityKind::KeyRevoked, detail)?;
            Ok(revoked)
        });
        // Invalidates the cache even after an error: a commit that reported an error may still have revoked the key.
        self.core.cache.invalidate_on(CacheEvent::KeyRevoked(id));
        revoked
    }
}

/// Revokes a key that the transaction has locked. If the key is already revoked, fails with the error that `illegal`
/// creates.
fn revoke_locked<R>(
    tx: &mut Transaction,
    mut key: ApiKey,
    now: Timestamp,
    illegal: impl FnOnce(IllegalTransition) -> R,
) -> Result<(KeyRevoked, ActionRecord), Abort<R>> {
    let (id, from) = (key.id, key.status);
    let revoked = from.apply(KeyEvent::Revoke);
    key.status = revoked.map_err(|error| Abort::Refused(illegal(error)))?;
    let RevocationSummary { webhooks, deliveries } = tx.revoke_key(&id, now)?;
    let detail = json!({"from": from, "registrations": webhooks, "deliveries": deliveries});
    let revoked = KeyRevoked { key: key.into(), webhooks, deliveries };
    Ok((revoked, ActionRecord::on_key("key.revoke", &id, detail)))
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            api_key_id: key.id,
            account_id: key.account_id,
            did: key.did,
            status: key.status,
            plan: key.plan.name(),
            label: key.label,
            handle: key.handle,
        }
    }
}

pub(crate) const NO_KEY: OperatorError = OperatorError::NotFound("such API key");
