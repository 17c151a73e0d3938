//! The cache of the send path: keys, handles, sessions, rate-limit refusals and channel secrets. All parts are bounded.
//!
//! [`CacheEvent`] lists the events that remove cached data.

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus, Refusal, Timestamp, TokenHash, ports::KeySnapshot,
};

use super::{
    bounded_cache::{BoundedCache, CacheMetrics},
    cached_key::CachedKey,
    channel_cache::ChannelCache,
    rate_limit_cache::RateLimitCache,
};
use crate::{
    caller::{
        bearer::Bearer,
        credentials::{CallerId, NO_SESSION},
    },
    settings::Settings,
};

/// All data that one node caches about keys and sessions.
pub(crate) struct KeyCache {
    keys: BoundedCache<ApiKeyId, Arc<CachedKey>>,
    handles: BoundedCache<Handle, ApiKeyId>,
    /// Sessions and API tokens.
    sessions: BoundedCache<TokenHash, Bearer>,
    pub(super) rate_limits: RateLimitCache,
    pub(crate) channels: ChannelCache,
    key_metrics: CacheMetrics,
    handle_metrics: CacheMetrics,
    session_metrics: CacheMetrics,
}

impl KeyCache {
    pub(crate) fn new(settings: &Settings) -> Self {
        let hints = settings.hints_cached_max;
        Self {
            keys: BoundedCache::new(settings.identities_cached_max),
            handles: BoundedCache::new(hints),
            sessions: BoundedCache::new(hints),
            rate_limits: RateLimitCache::new(hints),
            channels: ChannelCache::new(settings),
            key_metrics: CacheMetrics::new("keys"),
            handle_metrics: CacheMetrics::new("handles"),
            session_metrics: CacheMetrics::new("sessions"),
        }
    }

    /// Removes the data that the event makes wrong or unwanted. No other function removes data because of a change.
    pub(crate) fn invalidate_on(&self, event: CacheEvent<'_>) {
        match event {
            CacheEvent::AccountLoggedOut(account) => {
                self.sessions.remove_where(|_, session| session.account_id == *account);
            }
            CacheEvent::KeyInactive { key, status } => {
                self.channels.end(key);
                if status == KeyStatus::Revoked {
                    self.remove_root(key);
                }
            }
            CacheEvent::KeyRevoked(key) => {
                self.rate_limits.remove_key(key);
                self.remove_root(key);
                self.channels.end(key);
            }
            CacheEvent::KeyReviewed(snapshot) => {
                self.keys.remove_if(&snapshot.id, |key| is_outdated(key, snapshot));
                self.channels.end_outdated(snapshot);
            }
            CacheEvent::KeyUnusable(key) => {
                self.keys.remove(key);
                self.channels.end(key);
            }
            CacheEvent::RecipientStale { key, handle } => {
                self.channels.end(key);
                self.keys.remove(key);
                if let Some(handle) = handle {
                    self.handles.remove(handle);
                }
            }
            CacheEvent::SecretsExpired(now) => self.channels.wipe_expired(now),
            CacheEvent::SessionEnded(token) => self.sessions.remove(token),
            CacheEvent::Stopped => self.channels.close(),
            CacheEvent::UnusedEvicted => self.evict_unused(),
        }
    }

    pub(crate) fn bearer(&self, token: &TokenHash) -> Option<Bearer> {
        self.session_metrics.count(self.sessions.get(token))
    }

    pub(crate) fn key(&self, id: &ApiKeyId) -> Option<Arc<CachedKey>> {
        self.key_metrics.count(self.keys.get(id))
    }

    pub(crate) fn handle(&self, handle: &Handle) -> Option<ApiKeyId> {
        self.handle_metrics.count(self.handles.get(handle))
    }

    /// Caches a bearer token. If the token is cached already, its last use is kept and copied to `bearer`, so that no
    /// second use is recorded in the same hour.
    pub(super) fn insert_bearer(&self, bearer: &mut Bearer) {
        if let Some(cached) = self.sessions.get(&bearer.hash) {
            bearer.last_use = cached.last_use;
        }
        self.sessions.insert(bearer.hash, bearer.clone());
    }

    pub(super) fn insert_key(&self, id: ApiKeyId, key: Arc<CachedKey>) {
        self.keys.insert(id, key);
    }

    pub(super) fn insert_handle(&self, handle: Handle, owner: ApiKeyId) {
        self.handles.insert(handle, owner);
    }

    /// Returns the API keys that have secrets in memory: the root (secret of the identity), or secrets of channels.
    pub(super) fn keys_with_secrets(&self) -> Vec<ApiKeyId> {
        let mut keys = self.channels.parties();
        keys.extend(self.keys.keys_where(|_, key| key.has_root()));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Returns the number of entries of each kind. The names of the kinds are label values of the metric.
    pub(crate) fn entries(&self) -> [(&'static str, usize); 4] {
        [
            ("handles", self.handles.len()),
            ("keys", self.keys.len()),
            ("refused", self.rate_limits.len()),
            ("sessions", self.sessions.len()),
        ]
    }

    /// Removes a key that has a root (the secret of the identity) from the cache. A cached key without a root is
    /// revoked. It stays, because a revocation is permanent, and the entry saves look-ups.
    fn remove_root(&self, key: &ApiKeyId) {
        self.keys.remove_if(key, |key| key.has_root());
    }

    fn evict_unused(&self) {
        self.keys.evict_unused();
        self.handles.evict_unused();
        self.sessions.evict_unused();
        self.rate_limits.evict_unused();
    }
}

/// Returns true if the entry must be removed: it has secrets, but the key was revoked or its sealing key was rotated.
fn is_outdated(key: &CachedKey, now: &KeySnapshot) -> bool {
    key.has_root()
        && (now.status == KeyStatus::Revoked || key.sealing_version != now.sealing_version)
}

/// An event after which cached data is wrong, or must no longer stay in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheEvent<'a> {
    /// This node has ended all sessions of an account. The cached API tokens of the account are removed too, because
    /// they may have ended as well.
    AccountLoggedOut(&'a AccountId),
    /// A transaction found that a key is not active.
    KeyInactive { key: &'a ApiKeyId, status: KeyStatus },
    /// The owner has revoked a key through this node.
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
    /// A session or an API token has ended, through this node or another one.
    SessionEnded(&'a TokenHash),
    /// The service stops. All channel secrets must be wiped, and no new channel secret may be cached.
    Stopped,
    /// The eviction interval has passed. Entries that were not read since the last `UnusedEvicted` must be removed.
    UnusedEvicted,
}

impl<'a> CacheEvent<'a> {
    /// Returns the event that follows from a refusal by a transaction. Returns `None` if the refusal proves no cached
    /// data wrong.
    pub(super) fn from_refusal(
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

#[cfg(test)]
mod tests {
    use sealpost_domain::Session;

    use super::*;

    #[test]
    fn a_token_that_is_read_again_keeps_its_last_use() {
        let cache = KeyCache::new(&Settings::default());
        let now = Timestamp::from_millis(1_790_000_000_000);
        let session = Session {
            token: TokenHash([1; 32]),
            account_id: AccountId::new(now, [0; 10]),
            expires_at: Timestamp::from_millis(i64::MAX),
        };
        let is_first_use = || {
            let mut read = Bearer::from(session.clone());
            cache.insert_bearer(&mut read);
            read.first_use_in_hour(now).is_some()
        };
        assert_eq!([is_first_use(), is_first_use()], [true, false]);
        cache.invalidate_on(CacheEvent::SessionEnded(&session.token));
        assert!(is_first_use());
    }
}
