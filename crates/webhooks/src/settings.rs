//! What an operator or an embedder may choose about delivery.

use std::{thread, time::Duration};

use rustls::pki_types::CertificateDer;

use crate::{AddressPolicy, RetrySchedule};

/// How notices are delivered.
#[derive(Debug, Clone)]
pub struct Settings {
    /// When failed attempts are tried again.
    pub schedule: RetrySchedule,
    /// How long a receiver may take to answer, from the look-up of its name on.
    pub timeout: Duration,
    /// How long this node holds a delivery that it took. Must exceed `timeout` by more than five seconds; what a
    /// dead node held is taken over when it has passed.
    pub lease: Duration,
    /// How many threads send.
    pub arbiters: usize,
    /// How many requests may be under way to one target that answers.
    pub in_flight_per_target: usize,
    /// How many requests may be under way in all. Each thread has an equal part of them.
    pub in_flight_max: usize,
    /// After how many attempts in a row without an answer a target's breaker opens: nothing is sent to it then, and
    /// after a pause one probe at a time, until one is answered.
    pub breaker_failures: u32,
    /// How long a breaker stays open before the first probe. The pause doubles with each probe that gets no answer.
    pub probe_pause: Duration,
    /// How long it stays open between two probes at the most. A schedule that begins sooner than the contract's
    /// shortens both pauses in proportion.
    pub probe_pause_max: Duration,
    /// How many deliveries are held in memory.
    pub queue_max: usize,
    /// How often the database is asked for what is due.
    pub sweep_every: Duration,
    /// How many deliveries are taken from the database at once.
    pub claim_max: usize,
    /// How many of one target are taken from the database at once.
    pub claim_per_target_max: usize,
    /// A webhook that has met nothing but failures for so long is disabled.
    pub failing_max: Duration,
    /// How long requests that are under way may go on once the dispatcher is stopped.
    pub drain: Duration,
    /// Which addresses notices may go to.
    pub policy: AddressPolicy,
    /// What the dispatcher calls itself.
    pub user_agent: String,
    /// Authorities to trust besides the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            schedule: RetrySchedule::default(),
            timeout: Duration::from_secs(15),
            lease: Duration::from_secs(45),
            arbiters: thread::available_parallelism().map_or(1, usize::from),
            in_flight_per_target: 8,
            in_flight_max: 512,
            breaker_failures: 5,
            probe_pause: Duration::from_secs(5),
            probe_pause_max: Duration::from_mins(5),
            queue_max: 10_000,
            sweep_every: Duration::from_secs(1),
            claim_max: 256,
            claim_per_target_max: 64,
            failing_max: Duration::from_hours(5 * 24),
            drain: Duration::from_secs(20),
            policy: AddressPolicy::default(),
            user_agent: concat!("Sealpost/", env!("CARGO_PKG_VERSION")).to_owned(),
            extra_roots: Vec::new(),
        }
    }
}

impl Settings {
    /// How many threads send: never more than there are requests to share among them.
    pub(crate) fn lanes(&self) -> usize {
        self.arbiters.clamp(1, self.in_flight_max.max(1))
    }

    /// How many requests may be under way on one thread, so that together they keep to the maximum.
    pub(crate) fn in_flight_per_lane(&self) -> usize {
        (self.in_flight_max / self.lanes()).max(1)
    }

    /// What a lease must still be worth for an attempt to begin: the attempt, and the time to write its outcome down.
    pub(crate) fn attempt_max(&self) -> Duration {
        self.timeout + SETTLE_MAX
    }
}

const SETTLE_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_together_keep_to_the_maximum() {
        for (in_flight_max, arbiters, lanes, per_lane) in
            [(512, 2, 2, 256), (512, 1, 1, 512), (512, 3, 3, 170), (4, 16, 4, 1), (0, 0, 1, 1)]
        {
            let settings = Settings { arbiters, in_flight_max, ..Settings::default() };
            assert_eq!((settings.lanes(), settings.in_flight_per_lane()), (lanes, per_lane));
        }
    }
}
