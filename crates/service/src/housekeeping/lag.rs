//! Says that the chores' time is far behind the clock, apart because it is said once and not every turn.

use std::time::Duration;

use sealpost_domain::Timestamp;

/// Whether it was said.
#[derive(Default)]
pub(super) struct Lag {
    said: bool,
}

impl Lag {
    /// The chores are done by the instant `by`, and the clock says `now`.
    pub(super) fn tell(&mut self, by: Timestamp, now: Timestamp) {
        if self.is_news(by, now) {
            tracing::warn!(
                clock = %now,
                housekeeping = %by,
                "housekeeping goes by a time that is far behind this clock, and slowly catches up: where it stood still \
                 for so long, as while the service was stopped, nothing is wrong; else set the clock, this machine's or the database's, before \
                 housekeeping deletes what has not had its time"
            );
        }
    }

    /// Once, until it has caught up.
    fn is_news(&mut self, by: Timestamp, now: Timestamp) -> bool {
        let is_far = now.since(by) > FAR;
        let is_news = is_far && !self.said;
        self.said = is_far;
        is_news
    }
}

/// A turn that took long is no news.
const FAR: Duration = Duration::from_hours(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_more_than_an_hour_ahead_is_news_once_until_it_is_not() {
        let mut lag = Lag::default();
        let hour = 3_600_000;
        for (by, now, is_news) in [
            (0, hour, false),
            (0, hour + 1, true),
            (1, 9 * hour, false),
            (8 * hour, 9 * hour, false),
            (8 * hour, 9 * hour + 1, true),
            (9 * hour, 0, false),
        ] {
            let [by, now] = [by, now].map(Timestamp::from_millis);
            assert_eq!(lag.is_news(by, now), is_news, "{now}");
        }
    }
}
