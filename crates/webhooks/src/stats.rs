//! What the dispatcher counts, for whoever watches it. Atomics alone, so that counting delays nothing.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use sealpost_domain::{AttemptFailure, Outcome};

use crate::targets::Census;

/// How the dispatcher does: the first three as of a second ago at the most, the others since it was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Deliveries that wait for their turn in memory.
    pub queued: usize,
    /// Attempts under way.
    pub in_flight: usize,
    /// Targets to which nothing is sent but probes, because they do not answer.
    pub open_breakers: usize,
    /// Attempts by how they ended: `succeeded`, or the class of their failure.
    pub attempts: [(&'static str, u64); KINDS],
    /// Attempts that failed and will be followed by another.
    pub retries: u64,
    /// Attempts that failed and were the last.
    pub exhausted: u64,
    /// Deliveries that were given back without an attempt: their target does not answer, or their webhook has
    /// ended.
    pub postponed: u64,
}

impl Stats {
    /// The name of those attempts that did not fail.
    pub const SUCCEEDED: &'static str = "succeeded";
}

/// Counted by all threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    attempts: [AtomicU64; KINDS],
    retries: AtomicU64,
    exhausted: AtomicU64,
    postponed: AtomicU64,
}

/// How one thread that sends stands; it writes, everybody reads.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    queued: AtomicUsize,
    in_flight: AtomicUsize,
    open_breakers: AtomicUsize,
}

impl Counters {
    pub(crate) fn attempted(&self, outcome: Outcome) {
        let (name, followed_by) = match outcome {
            Outcome::Exhausted(failure) => (failure.as_str(), Some(&self.exhausted)),
            Outcome::Gone => (AttemptFailure::HttpStatus(0).as_str(), Some(&self.exhausted)),
            Outcome::Retry { failure, .. } => (failure.as_str(), Some(&self.retries)),
            Outcome::Succeeded => (Stats::SUCCEEDED, None),
        };
        let kind = NAMES.iter().zip(&self.attempts).find(|(known, _)| **known == name);
        for counter in kind.map(|(_, counter)| counter).into_iter().chain(followed_by) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn postponed(&self, deliveries: usize) {
        let deliveries = u64::try_from(deliveries).unwrap_or(u64::MAX);
        self.postponed.fetch_add(deliveries, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, lanes: &[Gauges]) -> Stats {
        let sum = |of: fn(&Gauges) -> &AtomicUsize| {
            lanes.iter().map(|lane| of(lane).load(Ordering::Relaxed)).sum()
        };
        let mut attempts = NAMES.map(|name| (name, 0));
        for (shown, counter) in attempts.iter_mut().zip(&self.attempts) {
            shown.1 = counter.load(Ordering::Relaxed);
        }
        Stats {
            queued: sum(|lane| &lane.queued),
            in_flight: sum(|lane| &lane.in_flight),
            open_breakers: sum(|lane| &lane.open_breakers),
            attempts,
            retries: self.retries.load(Ordering::Relaxed),
            exhausted: self.exhausted.load(Ordering::Relaxed),
            postponed: self.postponed.load(Ordering::Relaxed),
        }
    }
}

impl Gauges {
    pub(crate) fn show(&self, census: Census, in_flight: usize) {
        self.queued.store(census.queued, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
        self.open_breakers.store(census.open_breakers, Ordering::Relaxed);
    }
}

const KINDS: usize = 9;
const NAMES: [&str; KINDS] = [
    Stats::SUCCEEDED,
    AttemptFailure::BlockedAddress.as_str(),
    AttemptFailure::Connect.as_str(),
    AttemptFailure::Dns.as_str(),
    AttemptFailure::HttpStatus(0).as_str(),
    AttemptFailure::Protocol.as_str(),
    AttemptFailure::Timeout.as_str(),
    AttemptFailure::Tls.as_str(),
    AttemptFailure::TooLarge.as_str(),
];
