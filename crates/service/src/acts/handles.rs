//! Assigns and releases handles. A handle is the unique readable name of an API key.

use sealpost_domain::{
    AccountId, ApiKeyId, Handle, IdentityRotation, KeyStatus, ReservedHandles, RotationReason,
    ports::HandleOwner,
};
use serde::Serialize;
use serde_json::json;

use super::{
    audited::{ActionRecord, Concerned, Operator, OperatorError, record_operator_act},
    keys::{KeyView, NO_KEY},
};

/// A released handle, and the key that had it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names describe the fields")]
pub struct HandleReleased {
    pub handle: Handle,
    pub api_key_id: ApiKeyId,
    pub account_id: AccountId,
}

impl Operator {
    /// Frees a handle, so that any account can take it. The state of the key that had the handle does not change.
    pub fn release_handle(&self, handle: &Handle) -> Result<HandleReleased, OperatorError> {
        let subject = format!("handle:{handle}");
        self.perform(|tx| {
            let no_owner = OperatorError::NotFound("key with this handle");
            let owner = tx.find_handle(handle)?.ok_or(no_owner)?;
            let key = tx.lock_key(&owner.api_key_id)?;
            tx.release_handle(handle, &owner)?;
            // A revoked key displays its handle permanently, so that senders recognise the key in earlier messages.
            if key.is_some_and(|key| key.status != KeyStatus::Revoked) {
                tx.set_shown_handle(&owner.api_key_id, None)?;
            }
            let HandleOwner { account_id, api_key_id } = owner;
            let released = HandleReleased { handle: handle.clone(), api_key_id, account_id };
            let detail = json!({"api_key_id": api_key_id, "account_id": account_id});
            let concerned = Concerned::Account(account_id);
            Ok((released, ActionRecord::new("handle.release", &subject, concerned, detail)))
        })
    }

    /// Assigns a handle, which may be reserved, to a key. The handle must be free or belong to a revoked key of any
    /// account. Refuses a key that is revoked or already has a handle.
    pub fn assign_handle(&self, handle: &Handle, id: &ApiKeyId) -> Result<KeyView, OperatorError> {
        if ReservedHandles::looks_like_an_id(handle) {
            return Err(OperatorError::Pointless(
                "a handle must not look like an id or a secret: choose another",
            ));
        }
        let now = self.clock.now();
        let subject = format!("handle:{handle}");
        self.perform(|tx| {
            let mut key = tx.lock_key(id)?.ok_or(NO_KEY)?;
            if key.status == KeyStatus::Revoked {
                return Err(OperatorError::Pointless(
                    "a revoked key cannot receive: assign the handle to another key",
                )
                .into());
            }
            if let Some(other) = tx.find_handle_of(id)? {
                return Err(OperatorError::HasHandle(other).into());
            }
            let before = tx.find_handle(handle)?;
            if let Some(owner) = &before {
                let holder = tx.find_key(&owner.api_key_id)?;
                if holder.is_some_and(|holder| holder.status != KeyStatus::Revoked) {
                    return Err(OperatorError::HandleInUse(owner.api_key_id).into());
                }
                tx.release_handle(handle, owner)?;
            }
            tx.assign_handle(handle, &HandleOwner { account_id: key.account_id, api_key_id: *id })?;
            tx.set_shown_handle(id, Some(handle))?;
            if let Some(owner) = &before {
                tx.record_rotation(&IdentityRotation {
                    api_key_id: owner.api_key_id,
                    handle: Some(handle.clone()),
                    replaced_by: Some(*id),
                    reason: RotationReason::Replaced,
                    at: now,
                })?;
                if owner.account_id != key.account_id {
                    // The owner sees that a handle which a revoked key reserved was given to another account.
                    let detail = format!("handle.assign {subject}");
                    record_operator_act(tx, self.clock.now(), owner.account_id, detail)?;
                }
            }
            let from = before.map(|owner| owner.api_key_id);
            let detail = json!({"api_key_id": id, "from": from});
            key.handle = Some(handle.clone());
            let concerned = Concerned::Key(*id);
            Ok((key.into(), ActionRecord::new("handle.assign", &subject, concerned, detail)))
        })
    }
}
