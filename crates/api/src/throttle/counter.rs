//! Counts requests per minute, in memory, separately for each key of a map. A key is for example a client address; it
//! is not an API key.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ipnet::IpNet;
use sealpost_domain::Timestamp;

/// Limits the number of requests of each key in each minute (of UTC). A key is for example a client address.
pub struct Throttle<Key = IpNet> {
    per_minute: u32,
    minute: Mutex<Minute<Key>>,
}

struct Minute<Key> {
    start_ms: i64,
    counts: HashMap<Key, u32>,
}

impl<Key: Eq + Hash> Throttle<Key> {
    /// Creates a limit of `per_minute` requests for each key. 0 turns the limit off.
    pub fn new(per_minute: u32) -> Self {
        let minute = Mutex::new(Minute { start_ms: 0, counts: HashMap::new() });
        Self { per_minute, minute }
    }

    /// Returns the maximum number of requests per minute.
    pub(crate) fn per_minute(&self) -> u32 {
        self.per_minute
    }

    /// Counts a request for several keys at once. The limit of each key is multiplied by its factor. If any key has
    /// reached its limit, counts nothing and returns the time until the next minute as the error.
    pub fn admit_all(
        &self,
        keys: impl Iterator<Item = (Key, u32)> + Clone,
        now: Timestamp,
    ) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        minute.advance_to(now);
        let is_full = |(key, factor): (Key, u32)| {
            let count = minute.counts.get(&key).copied().unwrap_or(0);
            count >= self.per_minute.saturating_mul(factor)
        };
        if keys.clone().any(is_full) {
            return Err(minute.end().since(now));
        }
        for (key, _) in keys {
            *minute.count_mut(key) += 1;
        }
        Ok(())
    }

    /// Counts one request of `key` as `cost` requests. If this would exceed the limit, counts nothing and returns the
    /// time until the next minute as the error. A `cost` over the limit is reduced to the limit.
    pub fn admit(&self, key: Key, cost: u32, now: Timestamp) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        minute.advance_to(now);
        let end = minute.end();
        let count = minute.count_mut(key);
        let counted = count.saturating_add(cost.min(self.per_minute));
        if counted > self.per_minute {
            return Err(end.since(now));
        }
        *count = counted;
        Ok(())
    }
}

impl<Key: Eq + Hash> Minute<Key> {
    /// Clears the counts if `now` is in a later minute than the counted requests. Keeps the counts if the clock was set
    /// back.
    fn advance_to(&mut self, now: Timestamp) {
        let millis = now.as_millis();
        let start_ms = millis.saturating_sub(millis.rem_euclid(MINUTE_MS));
        if start_ms > self.start_ms {
            self.start_ms = start_ms;
            self.counts.clear();
        }
    }

    fn end(&self) -> Timestamp {
        Timestamp::from_millis(self.start_ms.saturating_add(MINUTE_MS))
    }

    /// Returns the count of a key. If the map is full, clears all counts instead of refusing new keys. An attacker with
    /// so many addresses could not be stopped by a limit per address anyway.
    fn count_mut(&mut self, key: Key) -> &mut u32 {
        if self.counts.len() >= COUNTS_MAX && !self.counts.contains_key(&key) {
            self.counts.clear();
        }
        self.counts.entry(key).or_insert(0)
    }
}

const MINUTE_MS: i64 = 60_000;
/// Maximum number of keys in the map of counts. A full map takes about 10 MB of memory.
const COUNTS_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + millis)
    }

    #[test]
    fn the_limit_holds_until_the_end_of_the_minute() {
        let throttle = Throttle::new(2);
        let (alice, bob) = ("192.0.2.1", "192.0.2.2");
        assert!(throttle.admit(alice, 1, at(0)).is_ok());
        assert!(throttle.admit(alice, 1, at(29_000)).is_ok());
        assert_eq!(throttle.admit(alice, 1, at(30_500)), Err(Duration::from_millis(29_500)));
        assert!(throttle.admit(bob, 1, at(30_500)).is_ok());
        assert!(throttle.admit(alice, 1, at(60_000)).is_ok());
    }

    #[test]
    fn a_request_counts_for_all_keys_or_for_none() {
        let throttle = Throttle::new(2);
        let admit = |host| throttle.admit_all([(host, 1), ("site", 2)].into_iter(), at(30_500));
        assert!(admit("a").is_ok() && admit("a").is_ok());
        assert_eq!(admit("a"), Err(Duration::from_millis(29_500)));
        assert!(admit("b").is_ok() && admit("b").is_ok(), "refused requests do not count");
        assert!(admit("c").is_err());
        assert!(throttle.admit_all([("c", 1)].into_iter(), at(30_500)).is_ok());
    }

    #[test]
    fn a_higher_cost_is_admitted_less_often() {
        let throttle = Throttle::new(9);
        let admitted =
            |key, cost| (0..20).filter(|_| throttle.admit(key, cost, at(0)).is_ok()).count();
        assert_eq!(admitted(1, 4), 2);
        assert_eq!(admitted(1, 1), 1, "the rest is left for lower costs");
        assert_eq!(admitted(2, 10), 1, "a cost over the limit is admitted once");
        assert_eq!(admitted(3, 1), 9);
    }

    #[test]
    fn a_clock_set_back_clears_no_counts() {
        let throttle = Throttle::new(1);
        let alice = "192.0.2.1";
        assert!(throttle.admit(alice, 1, at(60_000)).is_ok());
        assert_eq!(throttle.admit(alice, 1, at(59_000)), Err(Duration::from_mins(1) + SECOND));
        assert!(throttle.admit(alice, 1, at(120_000)).is_ok());
    }

    #[test]
    fn zero_turns_the_limit_off() {
        let throttle = Throttle::new(0);
        assert!((0..1000).all(|_| throttle.admit("192.0.2.1", 1, at(0)).is_ok()));
        assert!(throttle.minute.lock().unwrap().counts.is_empty());
    }

    #[test]
    fn a_full_map_is_cleared() {
        let throttle = Throttle::new(1);
        for number in 0..=u32::try_from(COUNTS_MAX).unwrap() {
            let address = std::net::Ipv4Addr::from_bits(number);
            assert!(throttle.admit(address, 1, at(0)).is_ok());
        }
        assert_eq!(throttle.minute.lock().unwrap().counts.len(), 1);
    }

    const SECOND: Duration = Duration::from_secs(1);
}
