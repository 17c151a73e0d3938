//! Warns when the stored time of housekeeping falls far behind the clock. Rows expire by this stored time, which each
//! run advances only by a limited step.
//!
//! If the clock is wrongly set forward, the stored time therefore falls behind: with the default settings, one node
//! deletes in an hour only what was due within ten hours. The operator of an embedded database, whose machine has the
//! only clock, would otherwise lose all its envelopes in the next run. The warning lets the operator correct the clock
//! in time. Each lag is logged once, not in every run.

use std::time::Duration;

use sealpost_domain::Timestamp;

/// Records whether the current lag has already caused a warning.
#[derive(Default)]
pub(super) struct ClockLag {
    is_warned: bool,
}

impl ClockLag {
    /// Logs a warning when the lag becomes large. `time` is the stored time of the housekeeping task that lags most,
    /// and `now` is the time of the clock.
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

    /// Returns true if the lag exceeds [`LAG_MAX`], and did not exceed it at the previous call.
    fn is_new(&mut self, time: Timestamp, now: Timestamp) -> bool {
        let is_large = now.since(time) > LAG_MAX;
        let is_new = is_large && !self.is_warned;
        self.is_warned = is_large;
        is_new
    }
}

/// The lag above which a warning is logged. Even slow housekeeping lags less.
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
