//! What came of a load.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use sealpost_domain::EnvelopeId;

use super::Window;
use crate::{measure::cpu, wire::Frame};

pub(crate) struct Tally {
    window: Window,
    /// How many answers of the window had which status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Of the window's answers, in microseconds.
    pub(crate) latency: Histogram<u64>,
    /// Every answer, also outside the window.
    pub(crate) answers: u64,
    /// Those of them that were 200.
    pub(crate) accepted: u64,
    /// Every envelope that was acknowledged, also outside the window, and when.
    pub(crate) acknowledged: Vec<(EnvelopeId, Instant)>,
    /// What generating the load took.
    pub(crate) cpu: Duration,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        Self {
            window,
            statuses: BTreeMap::new(),
            latency: micros_histogram(),
            answers: 0,
            accepted: 0,
            acknowledged: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    pub(crate) fn note(&mut self, answer: &Frame<'_>, since: Instant, now: Instant) {
        let status = answer.status();
        self.answers += 1;
        if (self.window.from..self.window.until).contains(&now) {
            *self.statuses.entry(status).or_default() += 1;
            self.latency.saturating_record(micros(now - since));
        }
        if status == 200 {
            self.accepted += 1;
            self.acknowledged.extend(envelope_id(answer.body).map(|id| (id, now)));
        }
    }

    pub(crate) fn finish(mut self) -> Self {
        self.cpu = cpu::of_this_thread();
        self
    }

    /// How many answers of the window had this status.
    pub(crate) fn with_status(&self, status: u16) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }
}

/// Up to ten minutes, to three digits.
pub(crate) fn micros_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("sound bounds")
}

pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Of the answer to a send; an echo has none.
fn envelope_id(body: &[u8]) -> Option<EnvelopeId> {
    let start = body.windows(ID_FIELD.len()).position(|window| window == ID_FIELD)?;
    let id = body.get(start + ID_FIELD.len()..)?.get(..ID_LEN)?;
    std::str::from_utf8(id).ok()?.parse().ok()
}

const ID_FIELD: &[u8] = br#""envelope_id":""#;
const ID_LEN: usize = EnvelopeId::PREFIX.len() + 26;
