//! The result of a load.

use std::{
    collections::BTreeMap,
    iter,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use sealpost_domain::EnvelopeId;

use super::Window;
use crate::{measure::cpu, wire::Frame};

pub(crate) struct Tally {
    window: Window,
    /// The number of responses in the window by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// The latency of responses in the window, in microseconds.
    pub(crate) latency: Histogram<u64>,
    /// All responses, also outside the window.
    pub(crate) responses: u64,
    /// Responses with status 200, also outside the window.
    pub(crate) accepted: u64,
    /// Every acknowledged envelope and its time, also outside the window.
    pub(crate) acknowledged: Vec<(EnvelopeId, Instant)>,
    /// The CPU time of the load generator.
    pub(crate) cpu: Duration,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        Self {
            window,
            statuses: BTreeMap::new(),
            latency: micros_histogram(),
            responses: 0,
            accepted: 0,
            acknowledged: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    pub(crate) fn note(&mut self, response: &Frame<'_>, since: Instant, now: Instant) {
        let status = response.status();
        self.responses += 1;
        if (self.window.from..self.window.until).contains(&now) {
            *self.statuses.entry(status).or_default() += 1;
            self.latency.saturating_record(micros(now - since));
        }
        if status == 200 {
            self.accepted += 1;
            self.acknowledged.extend(envelope_ids(response.body).map(|id| (id, now)));
        }
    }

    pub(crate) fn finish(mut self) -> Self {
        self.cpu = cpu::of_this_thread();
        self
    }

    /// Returns the number of responses in the window with this status.
    pub(crate) fn with_status(&self, status: u16) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }
}

/// Creates a histogram of up to ten minutes with three digits.
pub(crate) fn micros_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are valid")
}

pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the envelope ids of a response to a send or a batch. An echo has none.
pub(crate) fn envelope_ids(mut body: &[u8]) -> impl Iterator<Item = EnvelopeId> {
    iter::from_fn(move || {
        let start = body.windows(ID_FIELD.len()).position(|window| window == ID_FIELD)?;
        let (id, rest) = body.get(start + ID_FIELD.len()..)?.split_at_checked(ID_LEN)?;
        body = rest;
        std::str::from_utf8(id).ok()?.parse().ok()
    })
}

const ID_FIELD: &[u8] = br#""envelope_id":""#;
const ID_LEN: usize = EnvelopeId::PREFIX.len() + 26;
