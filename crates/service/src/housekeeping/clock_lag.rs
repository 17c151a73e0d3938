//! Warns once when the stored time of the housekeeping tasks falls far behind the clock.
//!
//! Such a lag reveals a wrong clock before housekeeping deletes live rows. A warning on every run would flood the log.

use std::time::Duration;

use sealpost_domain::Timestamp;

/// Remembers whether the current lag has caused a warning.
#[derive(Default)]
pub(super) struct ClockLag {
    is_warned: bool,
}

impl ClockLag {
    /// Logs a warning if the lag of `time` behind `now` has become large. `time` is the stored time of the housekeeping
    /// tasks.
    pub(super) fn warn(&mut self, time: Timestamp, now: Timestamp) {
        if self.is_new(time, now) {
            tracing::warn!(
                clock = %now,
                housekeeping = %time,
                "housekeeping goes by a time that is far behind this clock, and slowly catches up: after a long stop \
                 of the service this is normal; otherwise set the clock of this machine or of the database before \
                 housekeeping deletes live rows"
            );
        }
    }

    /// Returns whether the lag exceeds [`LAG_MAX`] now and did not at the previous call.
    fn is_new(&mut self, time: Timestamp, now: Timestamp) -> bool {
        let is_large = now.since(time) > LAG_MAX;
        let is_new = is_large && !self.is_warned;
        self.is_warned = is_large;
        is_new
    }
}

/// Minimum lag that causes a warning. Even a slow housekeeping run lags less.
const LAG_MAX: Duration = Duration::from_hours(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_of_more_than_an_hour_is_new_once_until_it_is_caught_up() {
        let mut lag = ClockLag::default();
        let hour = 3_600_000;
        for (time, now, is_new) in [
            (0, hour, false),
            (0, hour + 1, true),
            (1, 9 * hour, false),
            (8 * hour, 9 * hour, false),
            (8 * hour, 9 * hour + 1, true),
            (9 * hour, 0, false),
        ] {
            let [time, now] = [time, now].map(Timestamp::from_millis);
            assert_eq!(lag.is_new(time, now), is_new, "{now}");
        }
    }
}
