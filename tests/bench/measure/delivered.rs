//! Holds what was acknowledged against what was received, envelope by envelope.

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
    /// From the answer to the send to the first attempt at its webhook, in microseconds; nothing where the notice
    /// was there before the answer.
    pub(crate) latency: Histogram<u64>,
    /// Acknowledged, and not received in time.
    pub(crate) lost: usize,
    /// Received again.
    pub(crate) duplicates: usize,
    /// For how long after the last answer the last notice was waited for.
    pub(crate) waited: Duration,
}

impl Delivered {
    /// Waits until every acknowledged envelope was delivered, or until it must have been.
    pub(crate) fn of(receiver: &Receiver, acknowledged: &[(EnvelopeId, Instant)]) -> Self {
        let begun = Instant::now();
        let (mut arrived, mut duplicates) = (HashMap::new(), 0);
        loop {
            for (id, at) in receiver.take() {
                match arrived.entry(id) {
                    Entry::Occupied(_) => duplicates += 1,
                    Entry::Vacant(first) => drop(first.insert(at)),
                }
            }
            let lost = acknowledged.iter().filter(|(id, _)| !arrived.contains_key(id)).count();
            if lost == 0 || begun.elapsed() > PATIENCE {
                let (latency, waited) = (latencies(&arrived, acknowledged), begun.elapsed());
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

/// Longer than a lease, so that what found no room in memory has been swept up.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(10);
