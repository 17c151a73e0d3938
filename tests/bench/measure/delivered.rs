//! Compares acknowledged envelopes with received webhook requests.

use std::{
    collections::{HashMap, hash_map::Entry},
    thread,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use sealpost_domain::EnvelopeId;

use crate::{
    load::{micros, micros_histogram},
    stage::receiver::Receiver,
};

pub(crate) struct Delivered {
    /// Time from the send response to the first attempt, in microseconds. Zero if the attempt came before the
    /// response.
    pub(crate) latency: Histogram<u64>,
    /// Envelopes acknowledged but not received in time.
    pub(crate) lost: usize,
    /// Repeated webhook requests for one envelope.
    pub(crate) duplicates: usize,
    /// The time from the last response to the last webhook request.
    pub(crate) waited: Duration,
}

impl Delivered {
    /// Waits until every acknowledged envelope was delivered, at most for `timeout`.
    pub(crate) fn within(
        receiver: &Receiver,
        acknowledged: &[(EnvelopeId, Instant)],
        timeout: Duration,
    ) -> Self {
        let started = Instant::now();
        let (mut arrived, mut duplicates) = (HashMap::new(), 0);
        loop {
            for (id, at) in receiver.take() {
                match arrived.entry(id) {
                    Entry::Occupied(_) => duplicates += 1,
                    Entry::Vacant(first) => drop(first.insert(at)),
                }
            }
            let lost = acknowledged.iter().filter(|(id, _)| !arrived.contains_key(id)).count();
            if lost == 0 || started.elapsed() > timeout {
                let (latency, waited) = (latencies(&arrived, acknowledged), started.elapsed());
                return Self { latency, lost, duplicates, waited };
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

fn latencies(
    arrived: &HashMap<EnvelopeId, Instant>,
    acknowledged: &[(EnvelopeId, Instant)],
) -> Histogram<u64> {
    let mut latency = micros_histogram();
    for (id, answered) in acknowledged {
        if let Some(at) = arrived.get(id) {
            latency.saturating_record(micros(at.saturating_duration_since(*answered)));
        }
    }
    latency
}

/// Longer than a lease, so that the sweep finds deliveries dropped from memory.
pub(crate) const DELIVERY_TIMEOUT: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(10);
