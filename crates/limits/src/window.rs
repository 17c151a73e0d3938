//! Windows aligned to UTC: the minute, the day and the calendar month.

use std::time::Duration;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, Utc};
use sealpost_domain::{Timestamp, WindowUse};

/// How long a window is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span {
    Day,
    Minute,
    Month,
}

impl Span {
    /// The window that counts at `now`. Windows do not run backwards: on a node whose clock is behind, the window
    /// that another node has begun counts already, or both nodes' windows could be filled in turn.
    ///
    /// One that begins further ahead than clocks may be apart was begun by a clock that was wrong, and would refuse the
    /// key until that time comes: there the window of `now` begins anew, unused, since what was used of it before is
    /// lost. No two nodes that keep the time come to this, whatever ends between them.
    pub(crate) fn current(self, stored: WindowUse, now: Timestamp) -> WindowUse {
        let start = self.start(now);
        let ahead_ms = stored.start.as_millis().saturating_sub(tellable(now));
        let counts = start <= stored.start && ahead_ms <= CLOCKS_APART_MAX_MS;
        if counts { stored } else { WindowUse { start, used: 0 } }
    }

    /// How long `window` stays full; `None` while it has room.
    pub(crate) fn wait(self, window: WindowUse, limit: u32, now: Timestamp) -> Option<Duration> {
        (window.used >= limit).then(|| self.end(window.start).since(now))
    }

    /// When the window that `at` lies in ends and the next one begins.
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
        let at = tellable(at);
        let start = match self {
            Self::Day => at.saturating_sub(at.rem_euclid(DAY_MS)),
            Self::Minute => at.saturating_sub(at.rem_euclid(MINUTE_MS)),
            Self::Month => first_of_month(at).map_or(FIRST_MS, midnight),
        };
        Timestamp::from_millis(start)
    }
}

/// One more was admitted in `window`.
pub(crate) fn one_more(window: WindowUse) -> WindowUse {
    WindowUse { used: window.used.saturating_add(1), ..window }
}

/// Milliseconds since the Unix epoch, kept within the years that the calendar knows, of which there are a quarter
/// of a million on either side. All arithmetic past this point has room, in microseconds too.
pub(crate) fn tellable(at: Timestamp) -> i64 {
    at.as_millis().clamp(FIRST_MS, LAST_MS)
}

fn first_of_month(millis: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp_millis(millis)?.date_naive().with_day(1)
}

fn midnight(date: NaiveDate) -> i64 {
    date.and_time(NaiveTime::MIN).and_utc().timestamp_millis()
}

/// How far apart the clocks of nodes may be, so that a limit is still exact. NTP keeps them apart by much less, and no
/// key waits much longer than this after a clock was wrong.
pub(crate) const CLOCKS_APART_MAX_MS: i64 = 5 * MINUTE_MS;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
const FIRST_MS: i64 = DateTime::<Utc>::MIN_UTC.timestamp_millis();
const LAST_MS: i64 = DateTime::<Utc>::MAX_UTC.timestamp_millis();
