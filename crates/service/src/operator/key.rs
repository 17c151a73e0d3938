//! Key states and plans.

use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Did, EnterpriseTerms, Handle, KeyEvent, KeyStatus, Label, Plan,
    ports::{RevocationSummary, StoreError, Tx},
};
use sealpost_limits::Terms;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Deed, Operator, OperatorError};

/// A key as operators see it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the contract says what each field means")]
pub struct KeyShown {
    pub api_key_id: ApiKeyId,
    pub account_id: AccountId,
    pub did: Did,
    pub status: KeyStatus,
    pub plan: &'static str,
    pub label: Label,
    pub handle: Option<Handle>,
}

/// A key that was revoked, and what went with it.
#[derive(Debug, Clone, Serialize)]
pub struct KeyRevoked {
    /// The key as it is now.
    #[serde(flatten)]
    pub key: KeyShown,
    /// Its webhooks.
    #[serde(rename = "registrations")]
    pub webhooks: u64,
    /// Their pending deliveries that were deleted at once; of a long backlog housekeeping deletes the rest.
    pub deliveries: u64,
}

/// What is agreed about an enterprise key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Requests in a minute of UTC. Like the other numbers, `None` leaves it as it is under the key's plan now.
    pub per_minute: Option<u32>,
    /// Requests in a day of UTC.
    pub per_day: Option<u32>,
    /// Messages in a month of UTC.
    pub per_month: Option<u32>,
    /// Messages a second.
    pub per_second: Option<u32>,
    /// Whether messages past the monthly allowance are admitted and recorded.
    pub allow_overage: bool,
}

impl Agreement {
    /// The terms of a key that was on this plan.
    fn on(&self, plan: &Plan) -> EnterpriseTerms {
        let now = Terms::of(plan);
        EnterpriseTerms {
            per_minute: self.per_minute.unwrap_or(now.per_minute),
            per_day: self.per_day.unwrap_or(now.per_day),
            per_month: self.per_month.unwrap_or(now.per_month),
            per_second: self.per_second.unwrap_or(now.per_second),
            allow_overage: self.allow_overage,
        }
    }
}

impl Operator {
    /// A key as it is now.
    pub fn show_key(&self, id: &ApiKeyId) -> Result<KeyShown, OperatorError> {
        let key = self.store.lookup()?.find_key(id)?.ok_or(NO_KEY)?;
        Ok(key.into())
    }

    /// Disables a key until it is reactivated.
    pub fn deactivate_key(&self, id: &ApiKeyId) -> Result<KeyShown, OperatorError> {
        self.move_key(id, KeyEvent::Deactivate, "key.deactivate")
    }

    /// Enables a key that was deactivated.
    pub fn reactivate_key(&self, id: &ApiKeyId) -> Result<KeyShown, OperatorError> {
        self.move_key(id, KeyEvent::Reactivate, "key.reactivate")
    }

    /// Gives a key a new sealing key. It is `rotating`, and so paused, from the first transaction to the second; a
    /// rotation that broke off in between is finished by the next.
    pub fn rotate_key(&self, id: &ApiKeyId) -> Result<KeyShown, OperatorError> {
        let key = self.store.lookup()?.find_key(id)?.ok_or(NO_KEY)?;
        if key.status != KeyStatus::Rotating {
            self.move_key(id, KeyEvent::StartRotation, "key.start_rotation")?;
        }
        self.act(|tx| {
            let Some(mut key) = tx.lock_key(id)? else { return Ok(Err(NO_KEY)) };
            let moved = match key.status.apply(KeyEvent::FinishRotation) {
                Ok(moved) => moved,
                Err(illegal) => return Ok(Err(illegal.into())),
            };
            key.sealing_version = key.sealing_version.saturating_add(1);
            tx.set_sealing_version(id, key.sealing_version)?;
            tx.set_status(id, moved)?;
            key.status = moved;
            let detail = json!({"sealing_version": key.sealing_version});
            Ok(Ok((key.into(), deed("key.finish_rotation", id, detail))))
        })
    }

    /// Ends a key for good, with everything that hangs on it, at once on every node: batches that rely on it are
    /// waited for, and later ones find it revoked.
    pub fn revoke_key(&self, id: &ApiKeyId) -> Result<KeyRevoked, OperatorError> {
        self.act(|tx| {
            let Some(mut key) = tx.lock_key(id)? else { return Ok(Err(NO_KEY)) };
            let from = key.status;
            key.status = match from.apply(KeyEvent::Revoke) {
                Ok(moved) => moved,
                Err(illegal) => return Ok(Err(illegal.into())),
            };
            let RevocationSummary { webhooks, deliveries } = tx.revoke_key(id)?;
            let detail = json!({"from": from, "registrations": webhooks, "deliveries": deliveries});
            let revoked = KeyRevoked { key: key.into(), webhooks, deliveries };
            Ok(Ok((revoked, deed("key.revoke", id, detail))))
        })
    }

    /// Puts a key on a plan. What it has used stays, and counts against the new limits.
    pub fn set_plan(&self, id: &ApiKeyId, plan: Plan) -> Result<KeyShown, OperatorError> {
        self.change_plan(id, |_| plan)
    }

    /// Puts a key on the plan enterprise, under these terms.
    pub fn agree(&self, id: &ApiKeyId, agreed: Agreement) -> Result<KeyShown, OperatorError> {
        self.change_plan(id, |plan| Plan::Enterprise(agreed.on(plan)))
    }

    fn change_plan(
        &self,
        id: &ApiKeyId,
        next: impl Fn(&Plan) -> Plan,
    ) -> Result<KeyShown, OperatorError> {
        self.act(|tx| {
            let Some(mut key) = tx.lock_key(id)? else { return Ok(Err(NO_KEY)) };
            let plan = next(&key.plan);
            tx.set_plan(id, &plan)?;
            let mut detail = json!({"from": key.plan.name(), "to": plan.name()});
            if let (Plan::Enterprise(terms), Some(detail)) = (&plan, detail.as_object_mut()) {
                detail.insert("terms".to_owned(), json!(terms));
            }
            key.plan = plan;
            Ok(Ok((key.into(), deed("plan.set", id, detail))))
        })
    }

    fn move_key(
        &self,
        id: &ApiKeyId,
        event: KeyEvent,
        action: &'static str,
    ) -> Result<KeyShown, OperatorError> {
        self.act(|tx| move_locked(tx, id, event, action))
    }
}

fn move_locked(
    tx: &mut dyn Tx,
    id: &ApiKeyId,
    event: KeyEvent,
    action: &'static str,
) -> Result<Result<(KeyShown, Deed), OperatorError>, StoreError> {
    let Some(mut key) = tx.lock_key(id)? else { return Ok(Err(NO_KEY)) };
    let from = key.status;
    key.status = match from.apply(event) {
        Ok(moved) => moved,
        Err(illegal) => return Ok(Err(illegal.into())),
    };
    tx.set_status(id, key.status)?;
    let detail = json!({"from": from, "to": key.status});
    Ok(Ok((key.into(), deed(action, id, detail))))
}

fn deed(action: &'static str, id: &ApiKeyId, detail: Value) -> Deed {
    Deed { action, subject: id.to_string(), detail }
}

impl From<ApiKey> for KeyShown {
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

const NO_KEY: OperatorError = OperatorError::NotFound("such API key");
