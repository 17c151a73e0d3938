//! The settings of a dispatcher with their defaults, and the limits for each worker thread derived from them.

use std::{thread, time::Duration};

use rustls::pki_types::CertificateDer;
use sealpost_domain::EventsVersion;

use crate::{address_guard::AddressPolicy, retry::schedule::RetrySchedule};

/// The settings of a dispatcher.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Pauses between the attempts of a delivery.
    pub schedule: RetrySchedule,
    /// Maximum duration of an attempt, from the name lookup to the end of the response head.
    pub timeout: Duration,
    /// Time for which a node leases a delivery. Must exceed `timeout` by more than five seconds. After the end of a
    /// lease, another node may take the delivery.
    pub lease: Duration,
    /// Number of delivery workers: threads that send the requests.
    pub worker_threads: usize,
    /// Maximum number of requests in flight to one target. Until the first response of a target, and after an attempt
    /// without a response, the maximum is one.
    pub in_flight_per_target: usize,
    /// Maximum number of requests in flight to all targets of one account. `None` means an eighth of `in_flight_max`.
    /// Each worker thread has an equal part, at least `in_flight_per_target`.
    pub in_flight_per_account: Option<usize>,
    /// Maximum number of requests in flight to all targets of one host. Each worker thread has an equal part, at least
    /// one.
    pub in_flight_per_host: usize,
    /// Maximum number of requests per minute to all targets of one host. Further deliveries wait for the next minute.
    pub per_minute_per_host: usize,
    /// Maximum number of requests in flight to all targets together. Each worker thread has an equal part.
    pub in_flight_max: usize,
    /// Number of consecutive attempts without a response that opens the circuit breaker of a target. An open breaker
    /// allows one probe at a time, until a probe gets a response.
    pub breaker_failures: u32,
    /// Maximum time between two probes. The first pause is five seconds, and doubles after each failed probe. A
    /// `schedule` with a short first pause [shortens](RetrySchedule::scaled) both times.
    pub probe_pause_max: Duration,
    /// Maximum number of deliveries in memory. Further deliveries wait in the database.
    pub queue_max: usize,
    /// Time between two claims. A claim is a query that leases due deliveries from the database.
    pub sweep_every: Duration,
    /// Maximum number of deliveries that one claim leases from the database.
    pub claim_max: usize,
    /// Time after which events expire. Expired events are not sent.
    pub retention: Duration,
    /// Time for requests in flight to finish after [`Dispatcher::stop`](crate::Dispatcher::stop).
    pub drain: Duration,
    /// The rules for the URLs and IP addresses that webhooks may use.
    pub policy: AddressPolicy,
    /// The version of the events. The version determines the members of an `envelope.received` event.
    pub events: EventsVersion,
    /// Certificate authorities to trust besides the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            schedule: RetrySchedule::default(),
            timeout: Duration::from_secs(15),
            lease: Duration::from_secs(45),
            worker_threads: thread::available_parallelism().map_or(1, usize::from),
            in_flight_per_target: 8,
            in_flight_per_account: None,
            in_flight_per_host: 128,
            per_minute_per_host: 600_000,
            in_flight_max: 512,
            breaker_failures: 5,
            probe_pause_max: Duration::from_mins(5),
            queue_max: 10_000,
            sweep_every: Duration::from_secs(1),
            claim_max: 256,
            retention: Duration::from_hours(30 * 24),
            drain: Duration::from_secs(20),
            policy: AddressPolicy::default(),
            events: EventsVersion::default(),
            extra_roots: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the number of delivery workers: `worker_threads`, but at least 1 and at most `in_flight_max`.
    pub(crate) fn workers(&self) -> usize {
        self.worker_threads.clamp(1, self.in_flight_max.max(1))
    }

    /// Returns the maximum number of requests in flight of one worker: an equal part of `in_flight_max`.
    pub(crate) fn in_flight_per_worker(&self) -> usize {
        (self.in_flight_max / self.workers()).max(1)
    }

    /// Returns the maximum number of requests in flight of one account to the targets of one worker. At least
    /// `in_flight_per_target`, so that a single target can reach its own maximum.
    pub(crate) fn in_flight_per_account_and_worker(&self) -> usize {
        let in_all = self.in_flight_per_account.unwrap_or(self.in_flight_max / ACCOUNT_DIVISOR);
        in_all.div_ceil(self.workers()).max(self.in_flight_per_target).max(1)
    }

    pub(crate) fn in_flight_per_host_and_worker(&self) -> usize {
        self.in_flight_per_host.div_ceil(self.workers()).max(1)
    }

    /// Returns the lease time that must remain when an attempt starts: the timeout of the attempt, and the time to
    /// record its outcome.
    pub(crate) fn lease_min(&self) -> Duration {
        self.timeout + OUTCOME_TIME_MAX
    }
}

/// Time after which an idle connection to a target is closed.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Number of targets for which a worker thread keeps decrypted keys and connections. At this number, a new target
/// evicts the least recently used idle target.
pub(crate) const SENDERS_MAX: usize = 512;
/// Divisor for the default of [`Settings::in_flight_per_account`]: 8 means an eighth of all requests in flight.
const ACCOUNT_DIVISOR: usize = 8;

/// Maximum time to record an outcome: the five seconds that [`Settings::lease`] documents.
const OUTCOME_TIME_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_workers_together_keep_the_total_bound() {
        for (in_flight_max, worker_threads, workers, per_worker) in
            [(512, 2, 2, 256), (512, 1, 1, 512), (512, 3, 3, 170), (4, 16, 4, 1), (0, 0, 1, 1)]
        {
            let settings = Settings { worker_threads, in_flight_max, ..Settings::default() };
            assert_eq!(
                (settings.workers(), settings.in_flight_per_worker()),
                (workers, per_worker)
            );
        }
    }
}
