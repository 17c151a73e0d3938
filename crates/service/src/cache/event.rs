//! The events after which cached data must be removed.

use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus, Refusal, Timestamp, TokenHash, ports::KeySnapshot,
};

use crate::caller::credentials::{CallerId, NO_SESSION};

/// An event after which cached data is wrong, or must no longer stay in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheEvent<'a> {
    /// All sessions of an account ended on this node. The cached API tokens of the account are removed too, because
    /// they may have ended as well.
    AccountLoggedOut(&'a AccountId),
    /// A transaction found that a key is not active.
    KeyInactive { key: &'a ApiKeyId, status: KeyStatus },
    /// The owner revoked a key on this node.
    KeyRevoked(&'a ApiKeyId),
    /// The periodic review has read the current state of a key from the database.
    KeyReviewed(&'a KeySnapshot),
    /// The stored DID of a key differs from the DID that is derived from the secrets of the key.
    KeyUnusable(&'a ApiKeyId),
    /// A transaction found that cached data is out of date: the key of the recipient, or the owner of the handle
    /// (readable name) that the sender used.
    RecipientStale { key: &'a ApiKeyId, handle: Option<&'a Handle> },
    /// The clock has reached this time. Channel secrets after their lifetime must be wiped.
    SecretsExpired(Timestamp),
    /// A session or an API token ended on this node, or was found to have ended elsewhere.
    SessionEnded(&'a TokenHash),
    /// The service stops. All channel secrets must be wiped, and no new channel secret may be cached.
    Stopped,
    /// The eviction interval has passed. Entries that were not read since the last such event must be removed.
    UnusedEvicted,
}

impl<'a> CacheEvent<'a> {
    /// Returns the event that follows from a refusal by a transaction. Returns `None` for most refusals.
    pub(super) fn of_refusal(
        caller: &'a CallerId,
        recipient: Option<&'a ApiKeyId>,
        refusal: &Refusal,
    ) -> Option<Self> {
        match refusal {
            refusal if *refusal == NO_SESSION => Some(Self::SessionEnded(&caller.session)),
            &Refusal::KeyInactive { status, field: None } => {
                Some(Self::KeyInactive { key: &caller.key, status })
            }
            &Refusal::KeyInactive { status, field: Some(_) } => {
                recipient.map(|key| Self::KeyInactive { key, status })
            }
            _ => None,
        }
    }
}
