//! Counts attempts and deliveries in atomics, so that no thread waits for a lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use sealpost_domain::{AttemptFailure, Outcome};

use crate::queue::target_queues::QueueCounts;

/// Statistics of a dispatcher: current numbers that are at most a second old, and counts since the start of the
/// dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Number of deliveries in the queues in memory.
    pub queued: usize,
    /// Number of attempts in flight.
    pub in_flight: usize,
    /// Number of targets with an open circuit breaker, which get only probe requests.
    pub open_breakers: usize,
    /// Number of connections of [relays](sealpost_domain::ports::Relays): webhooks whose receivers connect to the
    /// service.
    pub relays: usize,
    /// Number of attempts for each result: `succeeded`, or the class of the failure.
    pub attempts: [(&'static str, u64); RESULTS],
    /// Number of failed attempts that are followed by a retry.
    pub retries: u64,
    /// Number of failed attempts that are not followed by a retry.
    pub exhausted: u64,
    /// Number of deliveries that returned to the database without an attempt, for example because the target does not
    /// respond, the queues in memory are full, or the webhook was deleted or disabled.
    pub deferred: u64,
}

impl Stats {
    /// The name under which [`Stats::attempts`] counts successful attempts.
    pub const SUCCEEDED: &'static str = "succeeded";
}

/// Counters that all threads of a dispatcher increment.
#[derive(Debug, Default)]
pub(super) struct Counters {
    attempts: [AtomicU64; RESULTS],
    retries: AtomicU64,
    exhausted: AtomicU64,
    deferred: AtomicU64,
}

/// Gauges of one delivery worker. Only that worker writes them.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    queued: AtomicUsize,
    in_flight: AtomicUsize,
    open_breakers: AtomicUsize,
}

impl Counters {
    pub(super) fn count_attempt(&self, outcome: Outcome) {
        let (name, end) = match outcome {
            Outcome::Exhausted(failure) => (failure.as_str(), Some(&self.exhausted)),
            Outcome::Gone => (AttemptFailure::HttpStatus(0).as_str(), Some(&self.exhausted)),
            Outcome::Retry { failure, .. } => (failure.as_str(), Some(&self.retries)),
            Outcome::Succeeded => (Stats::SUCCEEDED, None),
        };
        let result = NAMES.iter().zip(&self.attempts).find(|(known, _)| **known == name);
        for counter in result.map(|(_, counter)| counter).into_iter().chain(end) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn count_deferred(&self, deliveries: usize) {
        let deliveries = u64::try_from(deliveries).unwrap_or(u64::MAX);
        self.deferred.fetch_add(deliveries, Ordering::Relaxed);
    }

    pub(super) fn read(&self, workers: &[Gauges], relays: usize) -> Stats {
        let sum = |gauge: fn(&Gauges) -> &AtomicUsize| {
            workers.iter().map(|worker| gauge(worker).load(Ordering::Relaxed)).sum()
        };
        let mut attempts = NAMES.map(|name| (name, 0));
        for (shown, counter) in attempts.iter_mut().zip(&self.attempts) {
            shown.1 = counter.load(Ordering::Relaxed);
        }
        Stats {
            queued: sum(|worker| &worker.queued),
            in_flight: sum(|worker| &worker.in_flight),
            open_breakers: sum(|worker| &worker.open_breakers),
            relays,
            attempts,
            retries: self.retries.load(Ordering::Relaxed),
            exhausted: self.exhausted.load(Ordering::Relaxed),
            deferred: self.deferred.load(Ordering::Relaxed),
        }
    }
}

impl Gauges {
    pub(super) fn set(&self, counts: QueueCounts, in_flight: usize) {
        self.queued.store(counts.queued, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
        self.open_breakers.store(counts.open_breakers, Ordering::Relaxed);
    }
}

const RESULTS: usize = 9;
const NAMES: [&str; RESULTS] = [
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
