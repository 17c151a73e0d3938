//! The bystander: an honest tenant that sends at a fixed rate, and the latency and errors that it gets.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use sealpost_domain::EnvelopeId;

use super::client::{Client, Response};
use crate::{
    load::{envelope_ids, micros, micros_histogram},
    measure::delivered::Delivered,
    stage::receiver::Receiver,
};

pub(crate) struct Bystander {
    pub(crate) client: Client,
    /// Sent in turn, repeatedly.
    pub(crate) requests: Arc<Vec<Vec<u8>>>,
}

/// Latency and errors of the bystander in one window.
pub(crate) struct Experience {
    /// From the scheduled time of a send to its response or its failure, in microseconds.
    pub(crate) sends: Histogram<u64>,
    /// From the response to the event, in microseconds. Undelivered events count with [`PATIENCE`].
    pub(crate) events: Histogram<u64>,
    /// Failed sends by status or kind of error.
    pub(crate) failures: BTreeMap<String, u64>,
    /// Acknowledged envelopes without an event after [`PATIENCE`].
    pub(crate) undelivered: usize,
}

/// The results of all sends.
struct Sends {
    latency: Histogram<u64>,
    failures: BTreeMap<String, u64>,
    acknowledged: Vec<(EnvelopeId, Instant)>,
}

impl Bystander {
    /// Sends at fixed times for this time, then waits for the events. No send waits for another.
    pub(crate) fn watch(&self, receiver: &Receiver, span: Duration) -> Experience {
        drop(receiver.take());
        let until = Instant::now() + span;
        let mut due = Instant::now();
        let mut sends = Sends::new();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut requests = self.requests.iter().cycle();
            while due < until {
                let request = requests.next().expect("the requests repeat without end");
                thread::sleep(due.saturating_duration_since(Instant::now()));
                threads.push(scope.spawn(move || (self.client.ask(request), due, Instant::now())));
                due += EVERY;
            }
            for thread in threads {
                let (result, due, at) = thread.join().expect("a send does not panic");
                sends.note(result, due, at);
            }
        });
        let delivered = Delivered::within(receiver, &sends.acknowledged, PATIENCE);
        let mut events = delivered.latency;
        for _ in 0..delivered.lost {
            events.saturating_record(micros(PATIENCE));
        }
        let Sends { latency, failures, .. } = sends;
        Experience { sends: latency, events, failures, undelivered: delivered.lost }
    }
}

impl Experience {
    /// Returns whether a send failed, an event is missing, or nothing was sent.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.is_empty() || self.undelivered > 0 || self.sends.is_empty()
    }
}

impl Sends {
    fn new() -> Self {
        Self { latency: micros_histogram(), failures: BTreeMap::new(), acknowledged: Vec::new() }
    }

    fn note(&mut self, result: io::Result<Response>, due: Instant, at: Instant) {
        self.latency.saturating_record(micros(at - due));
        let failure = match result {
            Ok(Response { status: 200, body }) => match envelope_ids(&body).next() {
                Some(id) => return self.acknowledged.push((id, at)),
                None => "no envelope id".to_owned(),
            },
            Ok(Response { status, .. }) => status.to_string(),
            // A read that times out.
            Err(error) if error.kind() == ErrorKind::WouldBlock => ErrorKind::TimedOut.to_string(),
            Err(error) => error.kind().to_string(),
        };
        *self.failures.entry(failure).or_default() += 1;
    }
}

/// The pause between two sends: 40 sends a second.
const EVERY: Duration = Duration::from_millis(25);
/// Longest wait for the events of a window.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
