//! A bounded store of short-lived secrets, used for channels.
//!
//! Unlike `BoundedCache`:
//! - An entry lives for a fixed time, however often it is read.
//! - An entry belongs to two API keys, and can be removed by either of them.
//! - A full vault evicts its oldest entry.
//!
//! A removed value is dropped at once, because dropping it wipes the secret.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::Hash,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use sealpost_domain::{ApiKeyId, Timestamp};

/// The key of an entry in the vault. It names the two API keys that share the secret.
pub(super) trait VaultKey: Copy + Eq + Hash {
    fn parties(&self) -> [ApiKeyId; 2];
}

pub(super) struct SecretVault<K, V> {
    life: Duration,
    entries: Mutex<Entries<K, V>>,
}

struct Entries<K, V> {
    max: usize,
    last_number: u64,
    by_key: HashMap<K, Entry<V>>,
    /// The keys of `by_key` in the order of their insertion, to find the oldest entry.
    by_number: BTreeMap<u64, K>,
    by_party: HashMap<ApiKeyId, HashSet<K>>,
}

struct Entry<V> {
    number: u64,
    since: Timestamp,
    value: Arc<V>,
}

impl<K: VaultKey, V> SecretVault<K, V> {
    pub(super) fn new(max: usize, life: Duration) -> Self {
        let entries = Entries {
            max,
            last_number: 0,
            by_key: HashMap::new(),
            by_number: BTreeMap::new(),
            by_party: HashMap::new(),
        };
        Self { life, entries: Mutex::new(entries) }
    }

    /// Returns the value under `key`, or `None` if no value is stored or the value has expired.
    pub(super) fn get(&self, key: &K, now: Timestamp) -> Option<Arc<V>> {
        let mut entries = self.entries.lock();
        let entry = entries.by_key.get(key)?;
        if self.is_expired(entry.since, now) {
            entries.remove(key);
            return None;
        }
        Some(Arc::clone(&entry.value))
    }

    /// Stores `value` under `key` and returns it. If an unexpired value is stored already and `fits` returns true for
    /// it, returns the stored value instead, so that concurrent callers share one value. A closed vault stores nothing.
    pub(super) fn share(
        &self,
        key: K,
        value: V,
        now: Timestamp,
        fits: impl FnOnce(&V) -> bool,
    ) -> Arc<V> {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.by_key.get(&key)
            && !self.is_expired(entry.since, now)
            && fits(&entry.value)
        {
            return Arc::clone(&entry.value);
        }
        let value = Arc::new(value);
        entries.insert(key, Arc::clone(&value), now);
        value
    }

    /// Removes the entry under `key` if its value is still `value`. A newer value under the same key stays.
    pub(super) fn remove(&self, key: &K, value: &Arc<V>) {
        let mut entries = self.entries.lock();
        if entries.by_key.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.value, value)) {
            entries.remove(key);
        }
    }

    /// Removes all values that belong to an API key.
    pub(super) fn remove_party(&self, party: &ApiKeyId) {
        let mut entries = self.entries.lock();
        for key in entries.by_party.remove(party).unwrap_or_default() {
            entries.remove(&key);
        }
    }

    /// Removes the values that belong to an API key and for which `matches` is true.
    pub(super) fn remove_party_where(&self, party: &ApiKeyId, matches: impl Fn(&K, &V) -> bool) {
        let mut entries = self.entries.lock();
        let Some(keys) = entries.by_party.get(party) else { return };
        let matches =
            |key: &K| entries.by_key.get(key).is_some_and(|entry| matches(key, &entry.value));
        let matching: Vec<_> = keys.iter().copied().filter(matches).collect();
        for key in matching {
            entries.remove(&key);
        }
    }

    /// Returns the API keys that have at least one value.
    pub(super) fn parties(&self) -> Vec<ApiKeyId> {
        self.entries.lock().by_party.keys().copied().collect()
    }

    pub(super) fn wipe_expired(&self, now: Timestamp) {
        let mut entries = self.entries.lock();
        let is_expired =
            |key: &K| entries.by_key.get(key).is_none_or(|entry| self.is_expired(entry.since, now));
        let expired: Vec<_> = entries.by_number.values().copied().filter(is_expired).collect();
        for key in expired {
            entries.remove(&key);
        }
    }

    /// Removes all values, and stores no value from now on.
    pub(super) fn close(&self) {
        let mut entries = self.entries.lock();
        entries.max = 0;
        entries.by_key.clear();
        entries.by_number.clear();
        entries.by_party.clear();
    }

    /// Returns true if a value has expired: `now` and `since`, the time of its insertion, differ by at least one
    /// lifetime. If the clock was set back, `since` can be later than `now`.
    fn is_expired(&self, since: Timestamp, now: Timestamp) -> bool {
        now.abs_diff(since) >= self.life
    }
}

impl<K: VaultKey, V> Entries<K, V> {
    fn insert(&mut self, key: K, value: Arc<V>, since: Timestamp) {
        self.remove(&key);
        while self.by_key.len() >= self.max {
            let Some((_, oldest)) = self.by_number.pop_first() else { return };
            self.remove(&oldest);
        }
        self.last_number = self.last_number.wrapping_add(1);
        let number = self.last_number;
        self.by_number.insert(number, key);
        for party in key.parties() {
            self.by_party.entry(party).or_default().insert(key);
        }
        self.by_key.insert(key, Entry { number, since, value });
    }

    fn remove(&mut self, key: &K) {
        let Some(entry) = self.by_key.remove(key) else { return };
        self.by_number.remove(&entry.number);
        for party in key.parties() {
            if let Some(keys) = self.by_party.get_mut(&party) {
                keys.remove(key);
                if keys.is_empty() {
                    self.by_party.remove(&party);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
