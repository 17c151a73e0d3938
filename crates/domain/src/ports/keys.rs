//! The port for API keys and their handles (readable names).

use super::{error::StoreError, lookup::HandleOwner};
use crate::{AccountId, ApiKey, ApiKeyId, Handle, KeyStatus, Plan, Timestamp};

/// Reads and writes API keys, and their handles (readable names).
pub trait KeyRepo {
    /// Inserts a new key and its usage counters, which start at zero.
    fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError>;

    /// Counts the keys of the account that are not revoked.
    fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Assigns a handle to the key in `owner`. The caller has checked that the handle is free or belongs to the same
    /// account. Returns [`StoreError::Contended`] if a concurrent transaction took the handle.
    fn assign_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// Returns whether the handle belonged to an erased account. No other account may take such a
    /// handle.
    fn is_handle_erased(&mut self, handle: &Handle) -> Result<bool, StoreError>;

    /// Releases a handle that belongs to `owner`. Returns [`StoreError::Contended`] if a concurrent transaction gave
    /// the handle to another key.
    fn release_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError>;

    /// Finds the handle by which senders can address the key. `None` if the key has none.
    fn find_handle_of(&mut self, id: &ApiKeyId) -> Result<Option<Handle>, StoreError>;

    /// Sets the handle that is displayed for a locked key; `None` displays no handle. This does not assign the handle:
    /// see [`KeyRepo::assign_handle`].
    fn set_shown_handle(
        &mut self,
        id: &ApiKeyId,
        handle: Option<&Handle>,
    ) -> Result<(), StoreError>;

    /// Counts the handles of the account's revoked keys. Such a handle stays reserved for the account.
    fn count_revoked_handles(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Counts the webhooks of a key.
    fn count_webhooks(&mut self, key: &ApiKeyId) -> Result<u64, StoreError>;

    /// Locks the usage row of the key until the transaction ends, then reads the key. `None` if the key does not exist.
    ///
    /// All changes of a key and all sends of the key lock this row first. Therefore they never run concurrently.
    fn lock_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets the status of a locked key. The caller has checked that the state machine allows the change.
    fn set_status(&mut self, id: &ApiKeyId, status: KeyStatus) -> Result<(), StoreError>;

    /// Sets the newest version of the sealing key (the key pair to which messages are encrypted) of a locked key.
    fn set_sealing_version(&mut self, id: &ApiKeyId, version: u32) -> Result<(), StoreError>;

    /// Sets the plan of a locked key. The usage counters do not change.
    fn set_plan(&mut self, id: &ApiKeyId, plan: &Plan) -> Result<(), StoreError>;

    /// Revokes a locked key: sets the status, and deletes the root (the secret of the identity), the webhooks and a
    /// bounded number of their deliveries. The handle stays reserved for the account. Records the change, so that
    /// housekeeping informs the key's correspondents.
    ///
    /// An unopened envelope of a deleted delivery bounces at `now` (its sender gets an event), unless another delivery
    /// of the envelope has succeeded.
    fn revoke_key(
        &mut self,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<RevocationSummary, StoreError>;
}

/// The numbers of rows deleted by the revocation of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevocationSummary {
    /// Number of deleted webhooks.
    pub webhooks: u64,
    /// Number of deliveries that this call deleted. Housekeeping deletes the rest of a long backlog.
    pub deliveries: u64,
}
