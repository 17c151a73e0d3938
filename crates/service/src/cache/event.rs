//! Events that invalidate cached data.

use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus, Refusal, Timestamp, TokenHash, ports::KeySnapshot,
};

use crate::caller::credentials::{CallerId, NO_SESSION};

/// An event that makes cached data wrong or unwanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheEvent<'a> {
    /// Every session of an account ended on this node. Also drops its API tokens, which may have ended too.
    AccountLoggedOut(&'a AccountId),
    /// A transaction found that a key is not active.
    KeyInactive { key: &'a ApiKeyId, status: KeyStatus },
    /// The owner revoked a key on this node.
    KeyRevoked(&'a ApiKeyId),
    /// The key-reviewer thread has read the current state of a key.
    KeyReviewed(&'a KeySnapshot),
    /// The stored row of a key contradicts its root.
    KeyUnusable(&'a ApiKeyId),
    /// A transaction found that a cached recipient, or the owner of its handle, is out of date.
    RecipientStale { key: &'a ApiKeyId, handle: Option<&'a Handle> },
    /// The clock has reached this time. Channel secrets older than their lifetime have expired.
    SecretsExpired(Timestamp),
    /// A session or an API token ended, or was found to have ended.
    SessionEnded(&'a TokenHash),
    /// The service stops. All channel secrets are wiped, and no new one is cached.
    Stopped,
    /// The interval of eviction has passed: entries without a read since the last such event are evicted.
    UnusedEvicted,
}

impl<'a> CacheEvent<'a> {
    /// Returns the event that a transaction's refusal implies. Most refusals imply none.
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
