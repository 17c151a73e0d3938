//! The node's cache of keys (with their policies), and of the webhooks of keys. Each entry has the facts version of its
//! key, a number that changes with every change of the key or its webhooks.
//!
//! Unknown keys are not cached: an attacker sends a different key each time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sealpost_domain::{
    ApiKeyId,
    ports::{KeyFacts, RecipientWebhooks},
};

/// The cached keys and webhooks, shared by all transactions of a node.
#[derive(Debug)]
pub(crate) struct FactsCache {
    entries: Mutex<Entries>,
    /// Limits both parts of the cache: the total size of the cached keys (see `key_size`), and the number of cached
    /// webhooks.
    max: usize,
}

#[derive(Debug, Default)]
struct Entries {
    keys: HashMap<ApiKeyId, (i64, Arc<KeyFacts>)>,
    /// Sum of the sizes of the cached keys.
    key_size: usize,
    webhooks: HashMap<ApiKeyId, (i64, Arc<RecipientWebhooks>)>,
    /// Number of cached webhooks of all keys. A key without webhooks counts as one.
    webhook_count: usize,
}

impl FactsCache {
    pub(crate) fn new(max: usize) -> Self {
        Self { entries: Mutex::default(), max }
    }

    /// Returns the cached keys and webhooks with the current version.
    pub(crate) fn get(
        &self,
        keys: &[ApiKeyId],
        recipients: &[ApiKeyId],
        versions: &HashMap<ApiKeyId, i64>,
    ) -> (HashMap<ApiKeyId, Arc<KeyFacts>>, HashMap<ApiKeyId, Arc<RecipientWebhooks>>) {
        let entries = self.lock();
        (pick(&entries.keys, keys, versions), pick(&entries.webhooks, recipients, versions))
    }

    /// Adds keys and webhooks to the cache, with the facts versions of the keys. The caller must read the versions
    /// before the keys and webhooks. Then a cached entry is never older than its version, and is valid until the
    /// version in the database changes.
    pub(crate) fn insert(
        &self,
        keys: &HashMap<ApiKeyId, Arc<KeyFacts>>,
        webhooks: &HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
        versions: &HashMap<ApiKeyId, i64>,
    ) {
        let mut entries = self.lock();
        let version = |id| versions.get(id).copied();
        for (id, key) in keys {
            let Some(version) = version(id) else { continue };
            entries.insert_key(*id, version, key, self.max);
        }
        for (id, of_key) in webhooks {
            let Some(version) = version(id) else { continue };
            entries.insert_webhooks(*id, version, of_key, self.max);
        }
    }

    /// Clears the cache. Called for each new connection, because the connection may lead to another server, or to an
    /// earlier state of the same server.
    pub(crate) fn clear(&self) {
        *self.lock() = Entries::default();
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Adds an API key to the cache. If the cache is full, first removes all other keys; the next batches read those in
    /// use again. Adds nothing if the key alone exceeds the maximum.
    fn insert_key(&mut self, id: ApiKeyId, version: i64, key: &Arc<KeyFacts>, max: usize) {
        if let Some((_, old)) = self.keys.remove(&id) {
            self.key_size -= key_size(&old);
        }
        let size = key_size(key);
        if self.key_size.saturating_add(size) > max {
            self.keys.clear();
            self.key_size = 0;
        }
        if size <= max {
            self.keys.insert(id, (version, Arc::clone(key)));
            self.key_size += size;
        }
    }

    /// Adds the webhooks of a key. The maximum of the cache is a number of webhooks; a key without webhooks counts as
    /// one. If the webhooks do not fit, removes the webhooks of all other keys. Adds nothing if this key alone exceeds
    /// the maximum.
    fn insert_webhooks(
        &mut self,
        id: ApiKeyId,
        version: i64,
        of_key: &Arc<RecipientWebhooks>,
        max: usize,
    ) {
        if let Some((_, old)) = self.webhooks.remove(&id) {
            self.webhook_count -= size(&old);
        }
        let size = size(of_key);
        if self.webhook_count.saturating_add(size) > max {
            self.webhooks.clear();
            self.webhook_count = 0;
        }
        if size <= max {
            self.webhooks.insert(id, (version, Arc::clone(of_key)));
            self.webhook_count += size;
        }
    }
}

/// Returns the size of a key in the cache: one, and one more for each [`ENTRIES_PER_KEY`] entries on its allowlist and
/// blocklist.
fn key_size(key: &KeyFacts) -> usize {
    let entries = key.policy.as_ref().map_or(0, |it| it.allowed.len() + it.blocked.len());
    1 + entries / ENTRIES_PER_KEY
}

fn size(of_key: &RecipientWebhooks) -> usize {
    of_key.0.len().max(1)
}

fn pick<V>(
    entries: &HashMap<ApiKeyId, (i64, Arc<V>)>,
    wanted: &[ApiKeyId],
    versions: &HashMap<ApiKeyId, i64>,
) -> HashMap<ApiKeyId, Arc<V>> {
    let current = |id: &ApiKeyId| {
        let (version, value) = entries.get(id)?;
        (versions.get(id) == Some(version)).then(|| (*id, Arc::clone(value)))
    };
    wanted.iter().filter_map(current).collect()
}

/// Number of allowlist and blocklist entries that count as one key. This number of entries takes about 1.5 KB.
const ENTRIES_PER_KEY: usize = 64;

#[cfg(test)]
mod tests {
    use sealpost_domain::{
        AccountId, GovernanceStanding, KeyStatus, Plan, RecipientPolicy, Target, Timestamp,
        WebhookId, Wrapped, ports::RecipientWebhook,
    };

    use super::*;

    fn key(n: u8) -> ApiKeyId {
        ApiKeyId::new(Timestamp::from_millis(1), [n; 10])
    }

    fn insert(cache: &FactsCache, n: u8, count: usize, version: i64) {
        let target = Arc::new(Target {
            webhook_id: WebhookId::new(Timestamp::from_millis(1), [n; 10]),
            account_id: AccountId::new(Timestamp::from_millis(1), [n; 10]),
            url: String::new(),
            secret: Wrapped(vec![]),
            retiring: vec![],
        });
        let webhook = RecipientWebhook { events: vec![], is_active: true, target };
        let of_key = Arc::new(RecipientWebhooks(vec![webhook; count]));
        let versions = HashMap::from([(key(n), version)]);
        cache.insert(&HashMap::new(), &HashMap::from([(key(n), of_key)]), &versions);
    }

    fn found(cache: &FactsCache, version: i64) -> usize {
        let keys: Vec<_> = (0..100).map(key).collect();
        let versions = keys.iter().map(|key| (*key, version)).collect();
        cache.get(&[], &keys, &versions).1.len()
    }

    #[test]
    fn entries_are_valid_for_their_version_alone() {
        let cache = FactsCache::new(9);
        insert(&cache, 1, 2, 5);
        insert(&cache, 2, 1, 5);
        insert(&cache, 3, 1, 6);
        assert_eq!((found(&cache, 5), found(&cache, 6), found(&cache, 7)), (2, 1, 0));
        insert(&cache, 1, 2, 7);
        assert_eq!((found(&cache, 5), found(&cache, 7)), (1, 1));
    }

    #[test]
    fn every_webhook_of_a_key_counts() {
        let cache = FactsCache::new(5);
        insert(&cache, 1, 2, 0);
        insert(&cache, 2, 0, 0);
        insert(&cache, 3, 2, 0);
        insert(&cache, 3, 2, 0);
        assert_eq!(found(&cache, 0), 3);
        insert(&cache, 4, 1, 0);
        assert_eq!(found(&cache, 0), 1, "the others were evicted");
        insert(&cache, 5, 6, 0);
        assert_eq!(found(&cache, 0), 0, "a key with too many webhooks is not cached");
    }

    #[test]
    fn long_lists_of_a_policy_count() {
        let cache = FactsCache::new(9);
        let insert = |n, entries| {
            let blocked = (0..entries).map(key).collect();
            let policy = RecipientPolicy { blocked, ..RecipientPolicy::default() };
            let facts = KeyFacts {
                account_id: AccountId::new(Timestamp::from_millis(1), [n; 10]),
                status: KeyStatus::Active,
                plan: Plan::Explorer,
                handle: None,
                sealing_version: 1,
                standing: GovernanceStanding::default(),
                policy: Some(Arc::new(policy)),
            };
            let keys = HashMap::from([(key(n), Arc::new(facts))]);
            cache.insert(&keys, &HashMap::new(), &HashMap::from([(key(n), 0)]));
            let keys: Vec<_> = (0..100).map(key).collect();
            cache.get(&keys, &[], &keys.iter().map(|key| (*key, 0)).collect()).0.len()
        };
        assert_eq!([insert(1, 63), insert(2, 64), insert(3, 192), insert(3, 192)], [1, 2, 3, 3]);
        assert_eq!([insert(3, 0), insert(4, 255), insert(5, 128)], [3, 4, 1]);
    }

    #[test]
    fn a_cleared_cache_is_empty() {
        let cache = FactsCache::new(9);
        insert(&cache, 1, 2, 0);
        cache.clear();
        assert_eq!(found(&cache, 0), 0);
    }
}
