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
    /// How many requests may be under way to one target.
    pub in_flight_per_target: usize,
    /// How many requests may be under way on one thread.
    pub in_flight_max: usize,
    /// How many deliveries are held in memory.
    pub queue_max: usize,
    /// How often the database is asked for what is due.
    pub sweep_every: Duration,
    /// How many deliveries are taken from the database at once.
    pub claim_max: usize,
    /// How many of one target are taken from the database at once.
    pub claim_per_target_max: usize,
    /// A registration that has met nothing but failures for so long is disabled.
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
    /// What a lease must still be worth for an attempt to begin: the attempt, and the time to write its outcome down.
    pub(crate) fn attempt_max(&self) -> Duration {
        self.timeout + SETTLE_MAX
    }
}

const SETTLE_MAX: Duration = Duration::from_secs(5);
