//! Time windows in which requests and messages are counted, aligned to UTC: minute, day and calendar month.

use std::time::Duration;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, Utc};
use sealpost_domain::{Timestamp, WindowUse};

/// The length of a time window.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span {
    Day,
    Minute,
    Month,
}

impl Span {
    /// Returns the stored window if it is current at `now`, and otherwise a new window with nothing used.
    ///
    /// A stored window that begins after `now` is also treated as current: the clock of another node is ahead. If the
    /// nodes replaced each other's windows, a caller could use the limits of both windows. The window is replaced only
    /// if it begins more than [`CLOCK_DIFFERENCE_MAX_MS`] after `now`: then the other clock is wrong, and a full window
    /// would cause refusals until its end.
    pub(crate) fn current(self, stored: WindowUse, now: Timestamp) -> WindowUse {
        let start = self.start(now);
        let ahead_ms = stored.start.as_millis().saturating_sub(clamp_millis(now));
        let counts = start <= stored.start && ahead_ms <= CLOCK_DIFFERENCE_MAX_MS;
        if counts { stored } else { WindowUse { start, used: 0 } }
    }

    /// Returns the time from `now` to the end of the window if the window has reached `limit`. `None` if the window
    /// admits another request or message.
    pub(crate) fn wait(self, window: WindowUse, limit: u32, now: Timestamp) -> Option<Duration> {
        (window.used >= limit).then(|| self.end(window.start).since(now))
    }

    /// Returns the exclusive end of the window that contains `at`.
    pub(crate) fn end(self, at: Timestamp) -> Timestamp {
        let start = self.start(at).as_millis();
        let end = match self {
            Self::Day => start.saturating_add(DAY_MS),
            Self::Minute => start.saturating_add(MINUTE_MS),
            Self::Month => first_of_month(start)
                .and_then(|first| first.checked_add_months(Months::new(1)))
                .map_or(LAST_MS, midnight),
        };
        Timestamp::from_millis(end.min(LAST_MS))
    }

    fn start(self, at: Timestamp) -> Timestamp {
        let at = clamp_millis(at);
        let start = match self {
            Self::Day => at.saturating_sub(at.rem_euclid(DAY_MS)),
            Self::Minute => at.saturating_sub(at.rem_euclid(MINUTE_MS)),
            Self::Month => first_of_month(at).map_or(FIRST_MS, midnight),
        };
        Timestamp::from_millis(start)
    }
}

/// Returns `window` with one more request or message counted.
pub(crate) fn one_more(window: WindowUse) -> WindowUse {
    WindowUse { used: window.used.saturating_add(1), ..window }
}

/// Returns `at` in milliseconds, clamped to about 260,000 years before and after the epoch. Arithmetic with the result
/// cannot overflow, not even in microseconds.
pub(crate) fn clamp_millis(at: Timestamp) -> i64 {
    at.as_millis().clamp(FIRST_MS, LAST_MS)
}

fn first_of_month(millis: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp_millis(millis)?.date_naive().with_day(1)
}

fn midnight(date: NaiveDate) -> i64 {
    date.and_time(NaiveTime::MIN).and_utc().timestamp_millis()
}

/// Maximum difference between the clocks of nodes up to which limits are exact. Clocks that NTP synchronises differ far
/// less. A node with a wrong clock cannot cause refusals for much longer than this time.
pub(crate) const CLOCK_DIFFERENCE_MAX_MS: i64 = 5 * MINUTE_MS;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
const FIRST_MS: i64 = DateTime::<Utc>::MIN_UTC.timestamp_millis();
const LAST_MS: i64 = DateTime::<Utc>::MAX_UTC.timestamp_millis();
