//! Chooses the due time of a deferred delivery: one that returns to the database without an attempt.

use std::time::Duration;

use sealpost_domain::Timestamp;

/// A range of due times, from `from` to `from + spread`. Each deferred delivery gets a random time in the range, so
/// that not all are due at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deferral {
    pub(crate) from: Timestamp,
    pub(crate) spread: Duration,
}

impl Deferral {
    /// Returns a range that contains only one time. If this is the current time, the delivery is due at once.
    pub(crate) fn until(due_at: Timestamp) -> Self {
        Self { from: due_at, spread: Duration::ZERO }
    }

    pub(crate) fn due_at(self, jitter: u32) -> Timestamp {
        let extra_ms = self.spread.as_millis() * u128::from(jitter) / u128::from(u32::MAX);
        self.from.plus(Duration::from_millis(u64::try_from(extra_ms).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::memory_outbox::NOW;

    #[test]
    fn due_times_are_spread_and_never_early() {
        let deferral = Deferral { from: NOW, spread: Duration::from_secs(30) };
        let after = |seconds| NOW.plus(Duration::from_secs(seconds));
        assert_eq!(deferral.due_at(0), NOW);
        assert_eq!(deferral.due_at(u32::MAX), after(30));
        let half = deferral.due_at(u32::MAX / 2);
        assert!(half > after(14) && half < after(15));
    }
}
