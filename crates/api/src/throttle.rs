//! Counts requests per minute in memory, separately for each client.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

use ipnet::IpNet;
use parking_lot::Mutex;
use sealpost_domain::{AccountId, TokenHash};

/// Limits the number of requests per minute of each client, for example of each address or account.
///
/// The minute of a client begins with its first request. The time is monotonic: a change of the system clock neither
/// prolongs nor ends a minute.
pub struct Throttle<Client = IpNet> {
    /// The maximum number of requests per minute. 0 turns the limit off.
    pub(crate) per_minute: u32,
    minutes: Mutex<Minutes<Client>>,
}

/// The session or the account whose requests are counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionOrAccount {
    /// All sessions of an account together.
    Account(AccountId),
    /// One session.
    Session(TokenHash),
}

struct Minutes<Client> {
    by_client: HashMap<Client, Minute>,
    /// The next time at which ended minutes are removed from the map; `None` before the first request.
    sweep_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Minute {
    ends_at: Instant,
    used: u32,
}

impl<Client: Eq + Hash> Throttle<Client> {
    /// Creates a limit of `per_minute` requests for each client. 0 turns the limit off.
    pub fn new(per_minute: u32) -> Self {
        let minutes = Mutex::new(Minutes { by_client: HashMap::new(), sweep_at: None });
        Self { per_minute, minutes }
    }

    /// Returns the time until the limits of all `clients` admit a request that counts as `cost` requests. Returns
    /// `None` if they admit it now. The number beside each client multiplies its limit. A `cost` over the limit is
    /// reduced to the limit.
    pub(crate) fn wait(
        &self,
        clients: impl Iterator<Item = (Client, u32)>,
        cost: u32,
        now: Instant,
    ) -> Option<Duration> {
        if self.per_minute == 0 {
            return None;
        }
        let minutes = self.minutes.lock();
        self.wait_in(&minutes, clients, cost, now)
    }

    /// Counts a request as `cost` requests of each of `clients`. The number beside each client multiplies its limit. If
    /// the request would exceed the limit of any client, counts nothing. The error is then the time until all limits
    /// admit the request.
    pub fn admit(
        &self,
        clients: impl Iterator<Item = (Client, u32)> + Clone,
        cost: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut minutes = self.minutes.lock();
        if let Some(wait) = self.wait_in(&minutes, clients.clone(), cost, now) {
            return Err(wait);
        }
        for (client, _) in clients {
            let minute = minutes.at(client, now);
            minute.used = minute.used.saturating_add(cost.min(self.per_minute));
        }
        Ok(())
    }

    /// Reverses the count of a request that [`admit`](Self::admit) counted at `counted_at` with a cost of 1. Skips a
    /// client whose minute has ended since then.
    pub(crate) fn refund(&self, clients: impl Iterator<Item = (Client, u32)>, counted_at: Instant) {
        let mut minutes = self.minutes.lock();
        for (client, _) in clients {
            // A minute that contains the request began at or before the request.
            let minute = minutes.by_client.get_mut(&client);
            if let Some(minute) = minute.filter(|minute| minute.ends_at <= counted_at + MINUTE) {
                minute.used = minute.used.saturating_sub(1);
            }
        }
    }

    fn wait_in(
        &self,
        minutes: &Minutes<Client>,
        clients: impl Iterator<Item = (Client, u32)>,
        cost: u32,
        now: Instant,
    ) -> Option<Duration> {
        let wait = |(client, factor): (Client, u32)| {
            let minute = minutes.by_client.get(&client).filter(|minute| minute.ends_at > now)?;
            let counted = minute.used.saturating_add(cost.min(self.per_minute));
            let is_full = counted > self.per_minute.saturating_mul(factor);
            is_full.then(|| minute.ends_at.saturating_duration_since(now))
        };
        clients.filter_map(wait).max()
    }
}

impl<Client: Eq + Hash> Minutes<Client> {
    /// Returns the minute of a client: its count of requests, and its end. Begins a new minute if none runs at `now`.
    /// If the map is full, clears all counts instead of refusing new clients: a limit per address would not stop an
    /// attacker with so many addresses anyway.
    fn at(&mut self, client: Client, now: Instant) -> &mut Minute {
        if self.sweep_at.is_none_or(|sweep_at| sweep_at <= now) {
            self.by_client.retain(|_, minute| minute.ends_at > now);
            self.sweep_at = Some(now + MINUTE);
        }
        if self.by_client.len() >= COUNTS_MAX && !self.by_client.contains_key(&client) {
            self.by_client.clear();
        }
        let new = Minute { ends_at: now + MINUTE, used: 0 };
        let minute = self.by_client.entry(client).or_insert(new);
        if minute.ends_at <= now {
            *minute = new;
        }
        minute
    }
}

const MINUTE: Duration = Duration::from_mins(1);
/// Maximum number of clients in the map of counts. A full map takes about 10 MB of memory.
const COUNTS_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    impl<Client: Eq + Hash + Clone> Throttle<Client> {
        fn admit_one(&self, client: Client, cost: u32, now: Instant) -> Result<(), Duration> {
            self.admit(std::iter::once((client, 1)), cost, now)
        }
    }

    fn clock() -> impl Fn(u64) -> Instant {
        let start = Instant::now();
        move |millis| start + Duration::from_millis(millis)
    }

    #[test]
    fn the_limit_holds_for_a_minute_from_the_first_request() {
        let (throttle, at) = (Throttle::new(2), clock());
        let (alice, bob) = ("192.0.2.1", "192.0.2.2");
        assert!(throttle.admit_one(alice, 1, at(0)).is_ok());
        assert!(throttle.admit_one(alice, 1, at(29_000)).is_ok());
        assert_eq!(throttle.admit_one(alice, 1, at(30_500)), Err(Duration::from_millis(29_500)));
        assert!(throttle.admit_one(bob, 1, at(30_500)).is_ok());
        assert!(throttle.admit_one(alice, 1, at(60_000)).is_ok());
        assert!(throttle.admit_one(bob, 1, at(90_499)).is_ok());
        assert_eq!(throttle.admit_one(bob, 1, at(90_499)), Err(Duration::from_millis(1)));
    }

    #[test]
    fn a_request_counts_for_all_clients_or_for_none() {
        let (throttle, at) = (Throttle::new(2), clock());
        let admit = |host| throttle.admit([(host, 1), ("site", 2)].into_iter(), 1, at(30_500));
        assert!(admit("a").is_ok() && admit("a").is_ok());
        assert_eq!(admit("a"), Err(MINUTE));
        assert!(admit("b").is_ok() && admit("b").is_ok(), "refused requests do not count");
        assert!(admit("c").is_err());
        assert!(throttle.admit_one("c", 1, at(30_500)).is_ok());
    }

    #[test]
    fn the_wait_is_known_without_counting() {
        let (throttle, at) = (Throttle::new(1), clock());
        let wait = |millis| throttle.wait(std::iter::once(("a", 1)), 1, at(millis));
        assert_eq!([wait(0), wait(0)], [None, None]);
        assert!(throttle.admit_one("a", 1, at(0)).is_ok());
        assert_eq!(wait(1_000), Some(Duration::from_secs(59)));
        assert_eq!(wait(60_000), None);
    }

    #[test]
    fn a_refund_changes_only_the_minute_of_the_request() {
        let (throttle, at) = (Throttle::new(1), clock());
        let refund = |millis| throttle.refund(std::iter::once(("a", 1)), at(millis));
        refund(0);
        assert!(throttle.admit_one("a", 1, at(0)).is_ok());
        refund(0);
        assert!(throttle.admit_one("a", 1, at(1_000)).is_ok());
        assert!(throttle.admit_one("a", 1, at(1_000)).is_err());
        assert!(throttle.admit_one("a", 1, at(61_001)).is_ok());
        refund(1_000);
        assert!(throttle.admit_one("a", 1, at(61_001)).is_err());
    }

    #[test]
    fn a_higher_cost_is_admitted_less_often() {
        let (throttle, at) = (Throttle::new(9), clock());
        let admitted = |client, cost| {
            (0..20).filter(|_| throttle.admit_one(client, cost, at(0)).is_ok()).count()
        };
        assert_eq!(admitted(1, 4), 2);
        assert_eq!(admitted(1, 1), 1, "the rest is left for lower costs");
        assert_eq!(admitted(2, 10), 1, "a cost over the limit is admitted once");
        assert_eq!(admitted(3, 1), 9);
    }

    #[test]
    fn zero_turns_the_limit_off() {
        let (throttle, at) = (Throttle::new(0), clock());
        assert!((0..1000).all(|_| throttle.admit_one("192.0.2.1", 1, at(0)).is_ok()));
        assert!(throttle.minutes.lock().by_client.is_empty());
    }

    #[test]
    fn ended_minutes_are_removed() {
        let (throttle, at) = (Throttle::new(1), clock());
        for client in 0..100_u64 {
            assert!(throttle.admit_one(client, 1, at(client)).is_ok());
        }
        assert!(throttle.admit_one(100, 1, at(60_050)).is_ok());
        assert_eq!(throttle.minutes.lock().by_client.len(), 50);
    }

    #[test]
    fn a_full_map_is_cleared() {
        let (throttle, at) = (Throttle::new(1), clock());
        for number in 0..=u32::try_from(COUNTS_MAX).unwrap() {
            let address = std::net::Ipv4Addr::from_bits(number);
            assert!(throttle.admit_one(address, 1, at(0)).is_ok());
        }
        assert_eq!(throttle.minutes.lock().by_client.len(), 1);
    }
}
