//! The ports for waiting envelopes: envelopes that wait because their recipient has no webhook for received envelopes.

use crate::ports::error::StoreError;
use crate::{ApiKeyId, EnvelopeId, Timestamp};

/// Counts waiting envelopes, and finds requested transfers (see [`WaitingRepo`]).
pub trait WaitingLookup {
    /// Counts the waiting envelopes of a key that were sealed at `oldest` or later, up to `limit`.
    fn count_waiting(
        &mut self,
        recipient: &ApiKeyId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Returns whether a transfer of waiting envelopes is requested for any key.
    fn has_waiting_transfers(&mut self) -> Result<bool, StoreError>;

    /// Returns whether rows of deleted webhooks are left. The undelivered envelopes among them wait after the rows are
    /// deleted: see [`HousekeepingRepo::purge_deleted_webhooks`].
    ///
    /// [`HousekeepingRepo::purge_deleted_webhooks`]: crate::ports::HousekeepingRepo::purge_deleted_webhooks
    fn has_deleted_webhooks(&mut self) -> Result<bool, StoreError>;

    /// Returns whether the correspondents of a changed key are not informed yet: see
    /// [`HousekeepingRepo::inform_correspondents`](crate::ports::HousekeepingRepo::inform_correspondents).
    fn has_rotations(&mut self) -> Result<bool, StoreError>;
}

/// Ends the waiting of envelopes. A waiting envelope is transferred to a webhook of its recipient, bounces, or is
/// skipped. A later webhook does not receive skipped envelopes.
///
/// Inserting a webhook or revoking a key requests a transfer of the key's waiting envelopes, in the same transaction.
/// The transfer itself is done in portions, one transaction each, and any node can do the next portion.
pub trait WaitingRepo {
    /// Ends the waiting of a key's envelopes without a delivery: no later webhook receives these envelopes.
    fn skip_waiting(&mut self, recipient: &ApiKeyId, now: Timestamp) -> Result<(), StoreError>;

    /// Transfers up to `limit` waiting envelopes of one key, oldest first. `None` if no requested transfer is left.
    /// Leaves envelopes that were sealed before `oldest` to [`HousekeepingRepo::purge_envelopes`].
    ///
    /// [`HousekeepingRepo::purge_envelopes`]: crate::ports::HousekeepingRepo::purge_envelopes
    ///
    /// - If the key has webhooks for received envelopes, each envelope gets a delivery to the oldest of these webhooks,
    ///   due at `now`.
    /// - If the key is revoked, the envelopes bounce at `now` (their senders get an event).
    ///
    /// Chooses the first key with a requested transfer after `after`, in the order of ids. Skips a key while another
    /// transaction transfers its envelopes.
    fn transfer_waiting(
        &mut self,
        after: Option<&ApiKeyId>,
        oldest: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WaitingTransfer>, StoreError>;
}

/// An envelope that waits until its recipient has a webhook for received envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingEnvelope {
    /// The envelope.
    pub envelope_id: EnvelopeId,
    /// The API key that can open the envelope.
    pub recipient: ApiKeyId,
}

/// The result of one call of [`WaitingRepo::transfer_waiting`]: a portion of the waiting envelopes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingTransfer {
    /// The key whose envelopes waited.
    pub api_key_id: ApiKeyId,
    /// Number of envelopes in this portion, which no longer wait.
    pub transferred: u64,
}
