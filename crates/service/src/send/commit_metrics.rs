//! Metrics and tracing spans of the committer, the thread that stores messages in batches. The embedding program
//! decides if they are recorded.

use std::time::Duration;

use metrics::{Counter, Histogram};
use sealpost_domain::{SPAN_TARGET, TraceParent};
use sealpost_wallet::random;
use tracing::Level;

use super::command::{Decided, Verdict};
use crate::caller::admission::Purpose;

/// The metrics of the committer. Each metric is looked up once, so counting costs one atomic operation.
pub(super) struct CommitMetrics {
    batch_size: Histogram,
    duration: Histogram,
    failures: Counter,
    refused: Counter,
    replayed: Counter,
    stale: Counter,
    stored: Counter,
}

impl CommitMetrics {
    pub(super) fn new() -> Self {
        let sends = |outcome| metrics::counter!("sealpost_sends_total", "outcome" => outcome);
        Self {
            batch_size: metrics::histogram!("sealpost_commit_batch_size"),
            duration: metrics::histogram!("sealpost_commit_duration_seconds"),
            failures: metrics::counter!("sealpost_commit_failures_total"),
            refused: sends("refused"),
            replayed: sends("replayed"),
            stale: sends("stale"),
            stored: sends("stored"),
        }
    }

    /// Records the size and the duration of a stored batch.
    pub(super) fn committed(&self, batch_size: usize, took: Duration) {
        // The conversion is exact, because a batch is far smaller than 2^32.
        self.batch_size.record(f64::from(u32::try_from(batch_size).unwrap_or(u32::MAX)));
        self.duration.record(took);
        record_span(batch_size, took);
    }

    /// Counts the result of a send. Other requests in the batch are not counted.
    pub(super) fn decided(&self, purpose: Purpose, decided: &Decided) {
        if purpose != Purpose::Send {
            return;
        }
        match decided.verdict {
            Verdict::Admitted => {}
            Verdict::Refused(_) => self.refused.increment(1),
            Verdict::Replayed(_) => self.replayed.increment(1),
            Verdict::Stale => self.stale.increment(1),
            Verdict::Stored(_) => self.stored.increment(1),
        }
    }

    /// Counts a batch that was not stored.
    pub(super) fn failed(&self) {
        self.failures.increment(1);
    }
}

/// Records the tracing span of a commit, if an exporter of spans exists. A commit serves many requests, so its span has
/// a trace of its own.
fn record_span(batch_size: usize, took: Duration) {
    if !tracing::enabled!(target: SPAN_TARGET, Level::TRACE) {
        return;
    }
    let Ok(ids) = random() else { return };
    tracing::trace!(
        target: SPAN_TARGET,
        span = "commit",
        kind = "internal",
        trace = %TraceParent::root(ids),
        duration_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        is_error = false,
        sealpost.batch_size = batch_size,
    );
}
