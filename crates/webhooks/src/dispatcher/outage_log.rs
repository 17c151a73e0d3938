//! Logs an outage of the database once, instead of once for each failed call.

use sealpost_domain::{ports::StoreError, with_causes};

/// Tracks whether calls of one kind to the database fail.
#[derive(Debug)]
pub(super) struct OutageLog {
    work: &'static str,
    is_failing: bool,
}

impl OutageLog {
    pub(super) const fn new(work: &'static str) -> Self {
        Self { work, is_failing: false }
    }

    /// Records the result of a call. Returns its value, or `None` after a failure.
    pub(super) fn record<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => {
                self.record_success();
                Some(value)
            }
            Err(error) => {
                self.record_failure(&error);
                None
            }
        }
    }

    /// Logs the first of several failures in a row. Ignores conflicts between transactions, which are not an outage.
    pub(super) fn record_failure(&mut self, error: &StoreError) {
        if matches!(error, StoreError::Contended(_)) {
            return;
        }
        if !self.is_failing {
            tracing::error!(
                error = with_causes(error),
                work = self.work,
                "the dispatcher cannot use the database; retrying until the database is back"
            );
        }
        self.is_failing = true;
    }

    pub(super) fn record_success(&mut self) {
        if self.is_failing {
            tracing::info!(work = self.work, "the dispatcher can use the database again");
        }
        self.is_failing = false;
    }
}
