//! A database that is away is told of once, not once a try.

use std::error::Error;

use sealpost_domain::ports::StoreError;

/// One kind of work on the database, and whether it is failing now.
#[derive(Debug)]
pub(crate) struct Outage {
    work: &'static str,
    failing: bool,
}

impl Outage {
    pub(crate) const fn of(work: &'static str) -> Self {
        Self { work, failing: false }
    }

    /// The work failed; only the first failure in a row is logged. Being in another's way is no outage.
    pub(crate) fn failed(&mut self, error: &StoreError) {
        if matches!(error, StoreError::Contended(_)) {
            return;
        }
        if !self.failing {
            let error: &(dyn Error + 'static) = error;
            tracing::error!(error, work = self.work, "the database fails the dispatcher");
        }
        self.failing = true;
    }

    /// The work succeeded.
    pub(crate) fn over(&mut self) {
        if self.failing {
            tracing::info!(work = self.work, "the database serves the dispatcher again");
        }
        self.failing = false;
    }
}
