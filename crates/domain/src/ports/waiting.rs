//! The ports for waiting envelopes: envelopes of recipients without a webhook for received envelopes.

use super::error::StoreError;
use crate::{ApiKeyId, EnvelopeId, Timestamp};

/// Reads waiting envelopes.
pub trait WaitingLookup {
    /// Counts the waiting envelopes of a key, up to `limit`.
    fn count_waiting(&mut self, recipient: &ApiKeyId, limit: u32) -> Result<u64, StoreError>;

    /// Returns whether the waiting envelopes of any key are to be transferred.
    fn has_waiting_transfers(&mut self) -> Result<bool, StoreError>;
}

/// Ends the waiting of envelopes.
///
/// Inserting a webhook and revoking a key request a transfer of the key's waiting envelopes, in the same transaction. A
/// transfer takes several transactions, so any node can continue it.
pub trait WaitingRepo {
    /// Discards the waiting envelopes of a key: no later webhook receives them.
    fn skip_waiting(&mut self, recipient: &ApiKeyId, now: Timestamp) -> Result<(), StoreError>;

    /// Transfers up to `limit` waiting envelopes of one key, oldest first. `None` if no requested transfer is left.
    ///
    /// - If the key has webhooks for received envelopes, the oldest of them gets a delivery, due at `now`.
    /// - If the key is revoked, the envelopes bounce at `now`.
    ///
    /// Takes the first key after `after` in the order of ids. Skips keys whose transfer another transaction continues.
    fn transfer_waiting(
        &mut self,
        after: Option<&ApiKeyId>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WaitingTransfer>, StoreError>;
}

/// An envelope that waits for the first webhook of its recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingEnvelope {
    /// The envelope.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
}

/// A transferred portion of the waiting envelopes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingTransfer {
    /// The key.
    pub api_key_id: ApiKeyId,
    /// Number of envelopes that no longer wait.
    pub transferred: u64,
}
