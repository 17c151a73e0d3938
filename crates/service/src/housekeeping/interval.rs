//! Measures a recurring interval with the clock of the service.

use std::time::Duration;

use sealpost_domain::Timestamp;

/// A recurring interval: becomes due each time that the duration `every` has passed.
pub(crate) struct Interval {
    pub(crate) every: Duration,
    pub(crate) last: Timestamp,
}

impl Interval {
    /// Returns true if `now` differs from `last` by at least `every`, and then sets `last` to `now`. The difference may
    /// also be negative, because the clock can be set back.
    pub(crate) fn take(&mut self, now: Timestamp) -> bool {
        let is_due = now.abs_diff(self.last) >= self.every;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_due_after_its_length_in_either_direction_of_the_clock() {
        let mut interval =
            Interval { every: Duration::from_millis(100), last: Timestamp::from_millis(1_000) };
        for (now, is_due) in [
            (1_000, false),
            (1_099, false),
            (1_100, true),
            (1_199, false),
            (1_200, true),
            (1_101, false),
            (1_100, true),
        ] {
            assert_eq!(interval.take(Timestamp::from_millis(now)), is_due, "{now}");
        }
    }
}
