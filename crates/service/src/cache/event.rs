//! Events that invalidate cached data.

use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus, Refusal, Timestamp, TokenHash, ports::KeySnapshot,
};

use crate::caller::credentials::{CallerId, NO_SESSION};

/// A change that cached data must not outlive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheEvent<'a> {
    /// Every session of an account ended on this node.
    AccountLoggedOut(&'a AccountId),
    /// A transaction found a key in another state than active.
    KeyInactive { key: &'a ApiKeyId, status: KeyStatus },
    /// The owner revoked a key on this node.
    KeyRevoked(&'a ApiKeyId),
    /// A review read the current state of a key.
    KeyReviewed(&'a KeySnapshot),
    /// The stored row of a key contradicts its root.
    KeyUnusable(&'a ApiKeyId),
    /// A transaction found that a cached recipient, or the owner of its handle, is out of date.
    RecipientStale { key: &'a ApiKeyId, handle: Option<&'a Handle> },
    /// Channel secrets may have reached the end of their life.
    SecretsExpired(Timestamp),
    /// A session ended.
    SessionEnded(&'a TokenHash),
    /// The service stops: every secret goes, and no new one is kept.
    Stopped,
    /// A round of eviction: entries that no request has read since the last round are unused.
    UnusedEvicted,
}

impl<'a> CacheEvent<'a> {
    /// Derives the event from a refusal of a transaction. Most refusals change no cached data.
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
