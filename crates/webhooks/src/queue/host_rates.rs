//! Bounds the requests per minute to each host, over all webhooks and all delivery workers.

use std::collections::HashMap;

use parking_lot::Mutex;
use sealpost_domain::Timestamp;

#[derive(Debug)]
pub(crate) struct HostRates {
    per_minute_max: usize,
    minute: Mutex<Minute>,
}

/// The current minute, and the number of requests to each host in this minute.
#[derive(Debug, Default)]
struct Minute {
    number: i64,
    requests: HashMap<String, usize>,
}

impl HostRates {
    pub(crate) fn new(per_minute_max: usize) -> Self {
        Self { per_minute_max: per_minute_max.max(1), minute: Mutex::default() }
    }

    /// Counts a request to the host. Returns `false` without counting if the host has reached its limit for this
    /// minute.
    pub(super) fn acquire(&self, host: &str, now: Timestamp) -> bool {
        let mut minute = self.minute.lock();
        let number = now.as_millis().div_euclid(MINUTE_MS);
        if minute.number != number {
            *minute = Minute { number, requests: HashMap::new() };
        }
        match minute.requests.get_mut(host) {
            Some(count) if *count >= self.per_minute_max => return false,
            Some(count) => *count += 1,
            None => drop(minute.requests.insert(host.to_owned(), 1)),
        }
        true
    }
}

const MINUTE_MS: i64 = 60_000;
