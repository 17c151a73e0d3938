//! The node's cache of keys (with their policies), and of the webhooks of keys. Each entry has the facts version of its
//! key, a number that changes with every change of the key or its webhooks. Without the cache, PostgreSQL had 0.74 of
//! the rate of sends.
//!
//! Unknown keys are not cached: an attacker sends a different key each time.
//!
//! Also remembers which channels (shared key encapsulations) are stored, so that a batch inserts the row of a channel
//! only once.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use quick_cache::{Weighter, sync::Cache};
use sealpost_domain::{
    ApiKeyId, ChannelId,
    ports::{KeyFacts, RecipientWebhooks},
};

/// The cached keys and webhooks, and the ids of the channels whose rows are known to be in the database. All
/// transactions of a node share them. A full cache evicts the entries that are read least often.
#[derive(Debug)]
pub(crate) struct FactsCache {
    keys: Entries<KeyFacts>,
    webhooks: Entries<RecipientWebhooks>,
    /// The stored channels, each with the [`Generation`] of the transaction that found or stored its row. The row of an
    /// evicted channel is inserted again, which changes nothing.
    channels: Cache<(Generation, ChannelId), ()>,
    generation: AtomicU64,
}

/// The number of times that the cache was cleared. The database may lack channels that transactions of an earlier
/// generation have stored.
pub(crate) type Generation = u64;

/// A cache of values by API key, each with the facts version for which the value is valid.
type Entries<V> = Cache<ApiKeyId, (i64, Arc<V>), Size>;

impl FactsCache {
    /// Creates an empty cache. `max` is the maximum total [`Size`] of all keys, the maximum total size of all webhooks,
    /// and the maximum number of channels.
    pub(crate) fn new(max: usize) -> Self {
        let weight = u64::try_from(max).unwrap_or(u64::MAX);
        Self {
            keys: Cache::with_weighter(max, weight, Size),
            webhooks: Cache::with_weighter(max, weight, Size),
            channels: Cache::new(max),
            generation: AtomicU64::new(0),
        }
    }

    /// Returns the cached facts of `keys`, and the cached webhooks of `recipients`. Omits outdated entries, whose facts
    /// version is not the current version in `versions`.
    pub(crate) fn get(
        &self,
        keys: &[ApiKeyId],
        recipients: &[ApiKeyId],
        versions: &HashMap<ApiKeyId, i64>,
    ) -> (HashMap<ApiKeyId, Arc<KeyFacts>>, HashMap<ApiKeyId, Arc<RecipientWebhooks>>) {
        (current(&self.keys, keys, versions), current(&self.webhooks, recipients, versions))
    }

    /// Adds keys and webhooks to the cache, with the facts versions of the keys. The caller must read the versions
    /// first. Then an entry is never older than its version, and is valid until the version in the database changes.
    pub(crate) fn insert(
        &self,
        keys: &HashMap<ApiKeyId, Arc<KeyFacts>>,
        webhooks: &HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
        versions: &HashMap<ApiKeyId, i64>,
    ) {
        add(&self.keys, keys, versions);
        add(&self.webhooks, webhooks, versions);
    }

    /// Returns the generation (how often the cache was cleared) for a transaction that begins now. The transaction must
    /// already have its connection, because a new connection clears the cache.
    pub(crate) fn generation(&self) -> Generation {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns true if a transaction of this [`Generation`] has committed the row of the channel.
    pub(crate) fn has_channel(&self, generation: Generation, id: &ChannelId) -> bool {
        self.channels.get(&(generation, *id)).is_some()
    }

    /// Adds channels whose rows a transaction of this [`Generation`] has committed.
    pub(crate) fn insert_channels(&self, generation: Generation, ids: &[ChannelId]) {
        for id in ids {
            self.channels.insert((generation, *id), ());
        }
    }

    /// Clears the cache, and begins a new generation. Called for each new connection, because the connection may lead
    /// to another server, or to an earlier state of the same server. Channels that an older connection commits later
    /// are ignored, because they have an older generation.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.channels.clear();
        self.keys.clear();
        self.webhooks.clear();
    }
}

fn current<V>(
    entries: &Entries<V>,
    wanted: &[ApiKeyId],
    versions: &HashMap<ApiKeyId, i64>,
) -> HashMap<ApiKeyId, Arc<V>>
where
    Size: Weighter<ApiKeyId, (i64, Arc<V>)>,
{
    let current = |id: &ApiKeyId| {
        let (version, value) = entries.get(id)?;
        (versions.get(id) == Some(&version)).then_some((*id, value))
    };
    wanted.iter().filter_map(current).collect()
}

fn add<V>(
    entries: &Entries<V>,
    values: &HashMap<ApiKeyId, Arc<V>>,
    versions: &HashMap<ApiKeyId, i64>,
) where
    Size: Weighter<ApiKeyId, (i64, Arc<V>)>,
{
    for (id, value) in values {
        if let Some(version) = versions.get(id) {
            entries.insert(*id, (*version, Arc::clone(value)));
        }
    }
}

/// Computes the size of a cache entry.
///
/// - The size of a key is one, and one more for each [`ENTRIES_PER_KEY`] entries on its allowlist and blocklist.
/// - The size of a key's webhooks is their number, but at least one.
#[derive(Debug, Clone)]
struct Size;

impl Weighter<ApiKeyId, (i64, Arc<KeyFacts>)> for Size {
    fn weight(&self, _: &ApiKeyId, (_, key): &(i64, Arc<KeyFacts>)) -> u64 {
        let entries = key.policy.as_ref().map_or(0, |it| it.allowed.len() + it.blocked.len());
        as_weight(1 + entries / ENTRIES_PER_KEY)
    }
}

impl Weighter<ApiKeyId, (i64, Arc<RecipientWebhooks>)> for Size {
    fn weight(&self, _: &ApiKeyId, (_, webhooks): &(i64, Arc<RecipientWebhooks>)) -> u64 {
        as_weight(webhooks.0.len().max(1))
    }
}

fn as_weight(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Number of allowlist and blocklist entries that increase the size of a key by one. They take about 1.5 KB.
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
    fn a_stored_channel_is_known_until_the_next_connection() {
        let cache = FactsCache::new(9);
        let [known, late] = [1, 2].map(|n| ChannelId::new(Timestamp::from_millis(1), [n; 10]));
        let before = cache.generation();
        assert!(!cache.has_channel(before, &known));
        cache.insert_channels(before, &[known]);
        assert!(cache.has_channel(before, &known));
        cache.clear();
        // A commit on an older connection ends after the new connection was opened.
        cache.insert_channels(before, &[late]);
        let after = cache.generation();
        assert!(!cache.has_channel(after, &known) && !cache.has_channel(after, &late));
    }

    #[test]
    fn every_webhook_of_a_key_counts() {
        let cache = FactsCache::new(5);
        insert(&cache, 1, 2, 0);
        insert(&cache, 2, 0, 0);
        insert(&cache, 3, 2, 0);
        insert(&cache, 3, 2, 0);
        assert_eq!(found(&cache, 0), 3);
        assert_eq!(cache.webhooks.weight(), 5);
        insert(&cache, 4, 1, 0);
        assert!(found(&cache, 0) > 1, "a full cache evicts only as much as needed");
        assert!(cache.webhooks.weight() <= cache.webhooks.capacity());
        insert(&cache, 5, 6, 0);
        assert_eq!(cache.get(&[], &[key(5)], &HashMap::from([(key(5), 0)])).1.len(), 0);
        assert!(
            cache.webhooks.weight() <= cache.webhooks.capacity(),
            "a key with too many webhooks is not cached"
        );
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
            cache.keys.weight()
        };
        assert_eq!([insert(1, 63), insert(2, 64), insert(3, 192), insert(3, 192)], [1, 3, 7, 7]);
        assert_eq!([insert(3, 0), insert(4, 255)], [4, 8]);
        assert!(insert(5, 128) <= cache.keys.capacity());
    }
}
