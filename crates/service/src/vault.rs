//! Where secrets of a short life are kept: a bounded number of them, each for a bounded time, the oldest of which makes
//! room for a new one, however much it is used. What leaves is dropped here and now: what is dropped late is wiped late.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sealpost_domain::{ApiKeyId, Timestamp};

/// What a secret is found by, and the keys that it ends with.
pub(crate) trait Name: Copy + Eq + Hash {
    fn parties(&self) -> [ApiKeyId; 2];
}

pub(crate) struct Vault<K, V> {
    life: Duration,
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    max: usize,
    last: u64,
    by_name: HashMap<K, Entry<V>>,
    /// In the order of coming.
    by_number: BTreeMap<u64, K>,
    by_party: HashMap<ApiKeyId, HashSet<K>>,
}

struct Entry<V> {
    number: u64,
    since: Timestamp,
    value: Arc<V>,
}

impl<K: Name, V> Vault<K, V> {
    pub(crate) fn new(max: usize, life: Duration) -> Self {
        let held = Held {
            max,
            last: 0,
            by_name: HashMap::new(),
            by_number: BTreeMap::new(),
            by_party: HashMap::new(),
        };
        Self { life, held: Mutex::new(held) }
    }

    /// What is held under this name and still has its time.
    pub(crate) fn get(&self, name: &K, now: Timestamp) -> Option<Arc<V>> {
        let mut held = self.lock();
        let entry = held.by_name.get(name)?;
        if self.is_over(entry.since, now) {
            held.remove(name);
            return None;
        }
        Some(Arc::clone(&entry.value))
    }

    /// Holds a value from now on, unless somebody was quicker with one that will do; the one that is held. Where
    /// nothing is held any more, it is the caller's alone.
    pub(crate) fn share(
        &self,
        name: K,
        value: V,
        now: Timestamp,
        will_do: impl FnOnce(&V) -> bool,
    ) -> Arc<V> {
        let mut held = self.lock();
        if let Some(entry) = held.by_name.get(&name)
            && !self.is_over(entry.since, now)
            && will_do(&entry.value)
        {
            return Arc::clone(&entry.value);
        }
        let value = Arc::new(value);
        held.insert(name, Arc::clone(&value), now);
        value
    }

    /// Lets go of this value, if it is still the one under its name.
    pub(crate) fn let_go(&self, name: &K, value: &Arc<V>) {
        let mut held = self.lock();
        if held.by_name.get(name).is_some_and(|entry| Arc::ptr_eq(&entry.value, value)) {
            held.remove(name);
        }
    }

    /// Lets go of everything that ends with this key.
    pub(crate) fn let_go_of(&self, party: &ApiKeyId) {
        let mut held = self.lock();
        for name in held.by_party.remove(party).unwrap_or_default() {
            held.remove(&name);
        }
    }

    /// Lets go of what ends with this key and is meant.
    pub(crate) fn let_go_of_where(&self, party: &ApiKeyId, is_meant: impl Fn(&K, &V) -> bool) {
        let mut held = self.lock();
        let Some(names) = held.by_party.get(party) else { return };
        let is_meant =
            |name: &K| held.by_name.get(name).is_some_and(|entry| is_meant(name, &entry.value));
        let meant: Vec<_> = names.iter().copied().filter(is_meant).collect();
        for name in meant {
            held.remove(&name);
        }
    }

    /// Whom it would matter to end.
    pub(crate) fn parties(&self) -> Vec<ApiKeyId> {
        self.lock().by_party.keys().copied().collect()
    }

    /// Lets go of what has had its time.
    pub(crate) fn retire(&self, now: Timestamp) {
        let mut held = self.lock();
        let is_over =
            |name: &K| held.by_name.get(name).is_none_or(|entry| self.is_over(entry.since, now));
        let over: Vec<_> = held.by_number.values().copied().filter(is_over).collect();
        for name in over {
            held.remove(&name);
        }
    }

    /// Lets go of everything, and holds nothing from now on.
    pub(crate) fn close(&self) {
        let mut held = self.lock();
        held.max = 0;
        held.by_name.clear();
        held.by_number.clear();
        held.by_party.clear();
    }

    /// Either way: a clock that was set back far must not make anything last until it has caught up.
    fn is_over(&self, since: Timestamp, now: Timestamp) -> bool {
        now.abs_diff(since) >= self.life
    }

    fn lock(&self) -> MutexGuard<'_, Held<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Name, V> Held<K, V> {
    fn insert(&mut self, name: K, value: Arc<V>, since: Timestamp) {
        self.remove(&name);
        while self.by_name.len() >= self.max {
            let Some((_, oldest)) = self.by_number.pop_first() else { return };
            self.remove(&oldest);
        }
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        self.by_number.insert(number, name);
        for party in name.parties() {
            self.by_party.entry(party).or_default().insert(name);
        }
        self.by_name.insert(name, Entry { number, since, value });
    }

    fn remove(&mut self, name: &K) {
        let Some(entry) = self.by_name.remove(name) else { return };
        self.by_number.remove(&entry.number);
        for party in name.parties() {
            if let Some(names) = self.by_party.get_mut(&party) {
                names.remove(name);
                if names.is_empty() {
                    self.by_party.remove(&party);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two keys, by number.
    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    struct Of(u8, u8);

    impl Name for Of {
        fn parties(&self) -> [ApiKeyId; 2] {
            [key(self.0), key(self.1)]
        }
    }

    fn key(n: u8) -> ApiKeyId {
        ApiKeyId::new(at(0), [n; 10])
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn vault(max: usize) -> Vault<Of, u32> {
        Vault::new(max, Duration::from_millis(100))
    }

    fn put(vault: &Vault<Of, u32>, name: Of, value: u32, now: i64) -> Arc<u32> {
        vault.share(name, value, at(now), |_| false)
    }

    fn is_empty(vault: &Vault<Of, u32>) -> bool {
        let held = vault.lock();
        held.by_name.is_empty() && held.by_number.is_empty() && held.by_party.is_empty()
    }

    #[test]
    fn a_value_has_its_time_and_not_a_millisecond_more() {
        for (now, is_there) in
            [(1000, true), (1099, true), (1100, false), (901, true), (900, false)]
        {
            let vault = vault(9);
            let value = put(&vault, Of(1, 2), 7, 1000);
            assert_eq!(vault.get(&Of(1, 2), at(now)).is_some(), is_there, "{now}");
            assert_eq!(Arc::strong_count(&value), if is_there { 2 } else { 1 }, "{now}");
        }
    }

    #[test]
    fn what_has_had_its_time_is_dropped_without_being_asked_for() {
        let vault = vault(9);
        let (old, new) = (put(&vault, Of(1, 2), 1, 1000), put(&vault, Of(1, 3), 2, 1050));
        vault.retire(at(1120));
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
        vault.retire(at(1150));
        assert!(is_empty(&vault));
    }

    #[test]
    fn the_oldest_makes_room() {
        let vault = vault(2);
        let values = [1, 2, 3].map(|n| put(&vault, Of(n, 9), n.into(), 1000));
        assert_eq!(values.each_ref().map(Arc::strong_count), [1, 2, 2]);
        assert!(vault.get(&Of(1, 9), at(1000)).is_none());
        // Replaced, it is the newest.
        let replaced = put(&vault, Of(2, 9), 4, 1001);
        assert_eq!(values.each_ref().map(Arc::strong_count), [1, 1, 2]);
        put(&vault, Of(5, 9), 5, 1002);
        assert_eq!((Arc::strong_count(&values[2]), Arc::strong_count(&replaced)), (1, 2));
    }

    #[test]
    fn whoever_comes_second_gets_what_will_do() {
        let vault = vault(9);
        let first = put(&vault, Of(1, 2), 1, 1000);
        let second = vault.share(Of(1, 2), 2, at(1099), |held| *held == 1);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(*vault.share(Of(1, 2), 3, at(1099), |held| *held == 2), 3);
        assert_eq!(*vault.share(Of(1, 2), 4, at(1199), |held| *held == 3), 4, "the other is over");
    }

    #[test]
    fn what_ends_with_a_key_goes_and_nothing_else() {
        let vault = vault(9);
        let names = [Of(1, 2), Of(2, 1), Of(1, 3), Of(3, 2), Of(3, 4), Of(2, 2)];
        let values = names.map(|name| put(&vault, name, 0, 1000));
        vault.let_go_of(&key(2));
        assert_eq!(values.each_ref().map(Arc::strong_count), [1, 1, 2, 1, 2, 1]);
        vault.let_go_of(&key(2));
        vault.let_go_of(&key(3));
        assert!(is_empty(&vault));
    }

    #[test]
    fn a_value_that_was_replaced_is_let_go_of_without_its_successor() {
        let vault = vault(9);
        let (old, new) = (put(&vault, Of(1, 2), 1, 1000), put(&vault, Of(1, 2), 2, 1000));
        vault.let_go(&Of(1, 2), &old);
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
        vault.let_go(&Of(1, 2), &new);
        assert!(is_empty(&vault));
    }

    #[test]
    fn a_closed_vault_holds_nothing() {
        let vault = vault(9);
        let before = put(&vault, Of(1, 2), 1, 1000);
        vault.close();
        let after = put(&vault, Of(1, 3), 2, 1000);
        assert_eq!((Arc::strong_count(&before), Arc::strong_count(&after)), (1, 1));
        assert!(is_empty(&vault));
    }
}
