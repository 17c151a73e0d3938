//! The cache of facts that earlier batches read.
//!
//! Entries are valid for one facts version. Every transaction that changes a fact also changes the version. The cache
//! does not hold facts that do not exist.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sealpost_domain::{
    ApiKeyId, Session, TokenHash,
    ports::{AdmissionFacts, FactsQuery, KeyFacts, RecipientWebhooks},
};

/// Facts shared by all batches of a node.
#[derive(Debug)]
pub(crate) struct FactsCache {
    entries: Mutex<Entries>,
    /// Maximum number of sessions, of keys and of webhooks.
    max: usize,
}

#[derive(Debug, Default)]
struct Entries {
    /// `None` while the cache is empty.
    version: Option<String>,
    sessions: HashMap<TokenHash, Session>,
    keys: HashMap<ApiKeyId, Arc<KeyFacts>>,
    webhooks: HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
    /// The number of webhooks of all keys.
    webhook_count: usize,
}

impl FactsCache {
    pub(crate) fn new(max: usize) -> Self {
        Self { entries: Mutex::default(), max }
    }

    /// Returns the cached part of the wanted facts, if valid for the version.
    pub(crate) fn get(
        &self,
        version: &str,
        wanted: &FactsQuery,
        keys: &[ApiKeyId],
    ) -> AdmissionFacts {
        let entries = self.at(version);
        AdmissionFacts {
            sessions: pick(&entries.sessions, &wanted.sessions),
            keys: pick(&entries.keys, keys),
            webhooks: pick(&entries.webhooks, &wanted.recipients),
            ..AdmissionFacts::default()
        }
    }

    /// Adds facts that were read at the version.
    pub(crate) fn insert(&self, version: &str, read: &AdmissionFacts) {
        let mut entries = self.at(version);
        add(&mut entries.sessions, &read.sessions, self.max);
        add(&mut entries.keys, &read.keys, self.max);
        for (key, webhooks) in &read.webhooks {
            entries.add_webhooks(*key, webhooks, self.max);
        }
    }

    /// Clears the cache. A new connection may lead to another server, or to an earlier state of the same server.
    pub(crate) fn clear(&self) {
        *self.entries.lock().unwrap_or_else(PoisonError::into_inner) = Entries::default();
    }

    /// Locks the entries, and clears entries of another version.
    fn at(&self, version: &str) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.version.as_deref() != Some(version) {
            *entries = Entries { version: Some(version.to_owned()), ..Entries::default() };
        }
        entries
    }
}

impl Entries {
    /// Counts each webhook, because a key may have any number. A key without webhooks counts as one.
    fn add_webhooks(&mut self, key: ApiKeyId, webhooks: &Arc<RecipientWebhooks>, max: usize) {
        let count = (webhooks.enabled.len() + webhooks.disabled.len()).max(1);
        if self.webhook_count.saturating_add(count) > max {
            self.webhooks.clear();
            self.webhook_count = 0;
        }
        if count <= max {
            self.webhooks.insert(key, Arc::clone(webhooks));
            self.webhook_count += count;
        }
    }
}

fn pick<K: Copy + Eq + Hash, V: Clone>(cached: &HashMap<K, V>, wanted: &[K]) -> HashMap<K, V> {
    let found = |key: &K| cached.get(key).map(|value| (*key, value.clone()));
    wanted.iter().filter_map(found).collect()
}

/// Clears a full map before it adds: entries in use come back with the next batches.
fn add<K: Copy + Eq + Hash, V: Clone>(
    cached: &mut HashMap<K, V>,
    read: &HashMap<K, V>,
    max: usize,
) {
    if cached.len().saturating_add(read.len()) > max {
        cached.clear();
    }
    cached.extend(read.iter().take(max).map(|(key, value)| (*key, value.clone())));
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{AccountId, Timestamp};

    use super::*;

    fn read(from: u8, count: u8) -> AdmissionFacts {
        let session = |n| {
            let (token, end) = (TokenHash([n; 32]), Timestamp::from_millis(i64::from(n)));
            let session =
                Session { token, account_id: AccountId::new(end, [n; 10]), expires_at: end };
            (token, session)
        };
        AdmissionFacts {
            sessions: (from..from + count).map(session).collect(),
            ..AdmissionFacts::default()
        }
    }

    fn cached(cache: &FactsCache, version: &str) -> usize {
        let sessions = (0..100).map(|n| TokenHash([n; 32])).collect();
        cache.get(version, &FactsQuery { sessions, ..FactsQuery::default() }, &[]).sessions.len()
    }

    #[test]
    fn entries_are_valid_for_their_version_alone() {
        let cache = FactsCache::new(9);
        cache.insert("a", &read(0, 2));
        cache.insert("a", &read(2, 1));
        assert_eq!(cached(&cache, "a"), 3);
        assert_eq!(cached(&cache, "b"), 0);
        assert_eq!(cached(&cache, "a"), 0, "the entries of another version are gone");
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let cache = FactsCache::new(5);
        for from in 0..20 {
            cache.insert("a", &read(3 * from, 3));
            assert!(cached(&cache, "a") <= 5);
        }
        cache.insert("a", &read(0, 100));
        assert_eq!(cached(&cache, "a"), 5);
    }

    #[test]
    fn every_webhook_of_a_key_counts() {
        let cache = FactsCache::new(5);
        let key = |n| ApiKeyId::new(Timestamp::from_millis(1), [n; 10]);
        let count = |cache: &FactsCache| {
            let recipients: Vec<_> = (0..100).map(key).collect();
            let wanted = FactsQuery { recipients, ..FactsQuery::default() };
            cache.get("a", &wanted, &[]).webhooks.len()
        };
        let insert = |n, webhooks| {
            let disabled =
                vec![sealpost_domain::WebhookId::new(Timestamp::from_millis(1), [n; 10]); webhooks];
            let webhooks = Arc::new(RecipientWebhooks { enabled: vec![], disabled });
            let webhooks = HashMap::from([(key(n), webhooks)]);
            cache.insert("a", &AdmissionFacts { webhooks, ..AdmissionFacts::default() });
        };
        insert(1, 2);
        insert(2, 0);
        insert(3, 2);
        assert_eq!(count(&cache), 3);
        insert(4, 1);
        assert_eq!(count(&cache), 1, "all were cleared for the fourth");
        insert(5, 6);
        assert_eq!(count(&cache), 0, "a key with too many webhooks is not cached");
    }

    #[test]
    fn a_cleared_cache_is_empty() {
        let cache = FactsCache::new(9);
        cache.insert("a", &read(0, 2));
        cache.clear();
        assert_eq!(cached(&cache, "a"), 0);
    }
}
