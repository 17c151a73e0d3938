//! What the service counts, through the `metrics` facade: whoever embeds it installs a recorder, or counts nothing. The
//! handles are asked for once, so that counting is an atomic.

use std::time::Duration;

use metrics::{Counter, Histogram};

use crate::batch::{Decided, Verdict};

/// What the committer counts.
pub(crate) struct CommitFigures {
    batch_size: Histogram,
    duration: Histogram,
    failures: Counter,
    refused: Counter,
    replayed: Counter,
    stale: Counter,
    stored: Counter,
}

impl CommitFigures {
    pub(crate) fn new() -> Self {
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

    /// A batch was decided and is stored.
    pub(crate) fn committed(&self, decided: &[Decided], took: Duration) {
        // Batches are far smaller than what a float counts exactly.
        self.batch_size.record(f64::from(u32::try_from(decided.len()).unwrap_or(u32::MAX)));
        self.duration.record(took);
        for Decided { verdict, .. } in decided {
            match verdict {
                Verdict::Admitted => {}
                Verdict::Refused(_) => self.refused.increment(1),
                Verdict::Replayed(_) => self.replayed.increment(1),
                Verdict::Stale => self.stale.increment(1),
                Verdict::Stored => self.stored.increment(1),
            }
        }
    }

    /// A batch was not stored.
    pub(crate) fn failed(&self) {
        self.failures.increment(1);
    }
}

/// What one cache counts.
pub(crate) struct CacheFigures {
    hits: Counter,
    misses: Counter,
}

impl CacheFigures {
    pub(crate) fn new(cache: &'static str) -> Self {
        let lookups = |result| metrics::counter!("sealpost_cache_lookups_total", "cache" => cache, "result" => result);
        Self { hits: lookups("hit"), misses: lookups("miss") }
    }

    /// Counts a look-up and hands on what it found.
    pub(crate) fn count<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_some() { &self.hits } else { &self.misses }.increment(1);
        found
    }
}
