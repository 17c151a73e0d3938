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
    /// Time from the opening of a circuit breaker to the first probe. Doubles after each failed probe.
    pub probe_pause: Duration,
    /// Maximum time between two probes. If the first pause of `schedule` is shorter than the default, `probe_pause` and
    /// `probe_pause_max` are shortened in proportion.
    pub probe_pause_max: Duration,
    /// Maximum number of deliveries in memory. Further deliveries wait in the database.
    pub queue_max: usize,
    /// Time between two claims. A claim is a query that leases due deliveries from the database.
    pub sweep_every: Duration,
    /// Maximum number of deliveries that one claim leases from the database.
    pub claim_max: usize,
    /// Maximum number of deliveries to one target that one claim leases, if other targets have due deliveries.
    pub claim_per_target_max: usize,
    /// Time after which a webhook is disabled if all its attempts have failed during this time.
    pub failing_max: Duration,
    /// Time after which events expire. Expired events are not sent.
    pub retention: Duration,
    /// Time for requests in flight to finish after [`Dispatcher::stop`](crate::Dispatcher::stop).
    pub drain: Duration,
    /// The rules for the URLs and IP addresses that webhooks may use.
    pub policy: AddressPolicy,
    /// The version of the events. The version determines the members of an `envelope.received` event.
    pub events: EventsVersion,
    /// Value of the header `User-Agent`.
    pub user_agent: String,
    /// Certificate authorities to trust besides the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Bounds that operators rarely change.
    pub bounds: Bounds,
}

/// Bounds of a dispatcher. The command line has no options for them.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum time to open a TCP connection to a target.
    pub connect_timeout: Duration,
    /// Maximum time of a TLS handshake.
    pub tls_handshake_timeout: Duration,
    /// Time after which an idle connection to a target is closed.
    pub keep_alive: Duration,
    /// Maximum number of bytes that are read from a response body. If a body is longer, the connection is closed.
    pub response_body_max_bytes: usize,
    /// Maximum time to read a response body.
    pub response_body_timeout: Duration,
    /// Number of targets for which a worker thread keeps decrypted keys and connections. At this number, a new target
    /// evicts the least recently used idle target.
    pub senders_max: usize,
    /// Number of targets whose queue and circuit breaker a worker thread keeps. Above this number, targets are removed
    /// after an idle time of `keep_alive` instead of `known_target_ttl`.
    pub known_targets_max: usize,
    /// Time for which the circuit breaker of an idle target is kept. At least twice the longest probe pause applies,
    /// even if this setting is shorter.
    pub known_target_ttl: Duration,
    /// Limits the requests in flight to all untried targets together: `in_flight_max` divided by this number. A target
    /// is untried until its first attempt has ended.
    pub untried_quota_divisor: usize,
    /// Average response time from which a target counts as slow.
    pub slow_response: Duration,
    /// Limits the requests in flight to all slow targets together: `in_flight_max` divided by this number. With the
    /// default limits, untried, slow and unresponsive targets together leave an eighth of `in_flight_max` to responsive
    /// targets.
    pub slow_quota_divisor: usize,
    /// Limits the requests in flight to all unresponsive targets together: `in_flight_max` divided by this number.
    pub unresponsive_quota_divisor: usize,
    /// Reserves a part of `queue_max` for newly sent deliveries: `queue_max` divided by this number. Deliveries claimed
    /// from the database cannot use this part.
    pub claim_reserve_divisor: usize,
    /// Maximum number of test events in flight. The same number of test events may wait; further ones are refused.
    pub tests_in_flight_max: usize,
    /// Minimum time until a delivery to an unresponsive target is due again. Does not apply to the delivery that
    /// becomes the next probe. If the first pause of `schedule` is shorter than the default, this time is shortened in
    /// proportion.
    pub deferral_min: Duration,
    /// Maximum difference between the due times of deliveries that one SQL statement returns to the database. If the
    /// first pause of `schedule` is shorter than the default, this time is shortened in proportion.
    pub release_window: Duration,
    /// Maximum number of deliveries that one SQL statement returns to the database or makes due earlier.
    pub release_batch_max: usize,
    /// Maximum number of outcomes of attempts that one transaction records.
    pub outcome_batch_max: usize,
    /// Time to wait for more outcomes of attempts before a transaction starts. If the process is killed during this
    /// time, the outcomes are lost and the deliveries are attempted again.
    pub outcome_linger: Duration,
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
            probe_pause: Duration::from_secs(5),
            probe_pause_max: Duration::from_mins(5),
            queue_max: 10_000,
            sweep_every: Duration::from_secs(1),
            claim_max: 256,
            claim_per_target_max: 64,
            failing_max: Duration::from_hours(5 * 24),
            retention: Duration::from_hours(30 * 24),
            drain: Duration::from_secs(20),
            policy: AddressPolicy::default(),
            events: EventsVersion::default(),
            user_agent: concat!("Sealpost/", env!("CARGO_PKG_VERSION")).to_owned(),
            extra_roots: Vec::new(),
            bounds: Bounds::default(),
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            tls_handshake_timeout: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            response_body_max_bytes: 16 * 1024,
            response_body_timeout: Duration::from_secs(1),
            senders_max: 512,
            known_targets_max: 10_000,
            known_target_ttl: Duration::from_mins(10),
            untried_quota_divisor: 2,
            slow_response: Duration::from_secs(1),
            slow_quota_divisor: 8,
            unresponsive_quota_divisor: 4,
            claim_reserve_divisor: 4,
            tests_in_flight_max: 16,
            deferral_min: Duration::from_secs(30),
            release_window: Duration::from_secs(5),
            release_batch_max: 512,
            outcome_batch_max: 512,
            outcome_linger: Duration::from_millis(10),
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
