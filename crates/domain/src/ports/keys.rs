//! The port for API keys and handles.

use super::{error::StoreError, lookup::HandleOwner};
use crate::{AccountId, ApiKey, ApiKeyId, Handle, KeyStatus, Plan, Timestamp};

/// Reads and writes API keys and handles.
pub trait KeyRepo {
    /// Inserts a new key with its usage counters at zero.
    fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError>;

    /// Counts the keys of the account that are not revoked.
    fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Points a handle to `owner`. The caller has checked that the handle is free or belongs to the
    /// same account. If a concurrent transaction took the handle, returns
    /// [`StoreError::Contended`].
    fn assign_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// Returns whether an erased account had this handle. No other account may take it.
    fn is_handle_erased(&mut self, handle: &Handle) -> Result<bool, StoreError>;

    /// Frees a handle of `owner`. If a concurrent transaction moved the handle, returns
    /// [`StoreError::Contended`].
    fn release_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// Finds the handle that resolves to the key; `None` if there is no such handle.
    fn find_handle_of(&mut self, id: &ApiKeyId) -> Result<Option<Handle>, StoreError>;

    /// Sets the handle that views of a locked key show.
    fn set_shown_handle(
        &mut self,
        id: &ApiKeyId,
        handle: Option<&Handle>,
    ) -> Result<(), StoreError>;

    /// Counts the handles that revoked keys reserve for the account.
    fn count_revoked_handles(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Counts the webhooks of a key.
    fn count_webhooks(&mut self, key: &ApiKeyId) -> Result<u64, StoreError>;

    /// Locks the usage of the key until the transaction ends, then reads the key. Every transaction that changes a key
    /// locks the key first, and every send of the key takes the same lock. Therefore these transactions exclude each
    /// other.
    fn lock_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets the state of a locked key. The caller has checked that the state machine allows the transition.
    fn set_status(&mut self, id: &ApiKeyId, status: KeyStatus) -> Result<(), StoreError>;

    /// Sets the newest sealing version of a locked key.
    fn set_sealing_version(&mut self, id: &ApiKeyId, version: u32) -> Result<(), StoreError>;

    /// Sets the plan of a locked key. The usage counters stay.
    fn set_plan(&mut self, id: &ApiKeyId, plan: &Plan) -> Result<(), StoreError>;

    /// Revokes a locked key: sets the state, and deletes the root, the webhooks and a bounded number of deliveries. The
    /// handle stays reserved for the account. Unopened envelopes of these deliveries bounce at `now`, unless another
    /// delivery of them succeeded. Records the change for the key's correspondents.
    fn revoke_key(
        &mut self,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<RevocationSummary, StoreError>;
}

/// The rows that a revocation deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevocationSummary {
    /// Number of webhooks.
    pub webhooks: u64,
    /// Number of deliveries deleted at once. Housekeeping deletes the rest of a long backlog.
    pub deliveries: u64,
}
