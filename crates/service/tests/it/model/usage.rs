//! Computes the usage of a key naively. Each result is counted again from the times of all admitted requests, and the
//! limit per second uses exact arithmetic.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::truth::Refused;

/// Limits of a plan. Each value of `per_second` must divide 1,000,000, so that the interval between messages is a whole
/// number of microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) per_minute: u32,
    pub(super) per_day: u32,
    pub(super) per_month: u32,
    pub(super) per_second: u32,
    pub(super) overage: bool,
}

impl Terms {
    pub(super) const EXPLORER: Self =
        Self { per_minute: 20, per_day: 1_000, per_month: 1_000, per_second: 10, overage: false };
    pub(super) const BUILDER: Self = Self {
        per_minute: 200,
        per_day: 10_000,
        per_month: 10_000,
        per_second: 100,
        overage: false,
    };
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Window {
    Day,
    Minute,
    Month,
}

impl Window {
    /// Returns a text that is equal for all instants in the same window, and different for instants in other windows.
    fn name(self, at: i64) -> String {
        let format = match self {
            Self::Day => "%Y-%m-%d",
            Self::Minute => "%Y-%m-%dT%H:%M",
            Self::Month => "%Y-%m",
        };
        instant(at).format(format).to_string()
    }

    /// Returns the first millisecond of the next window, in milliseconds since the Unix epoch.
    pub(super) fn next(self, at: i64) -> i64 {
        let today = instant(at).date_naive();
        let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc().timestamp_millis();
        match self {
            Self::Day => midnight(today.succ_opt().unwrap()),
            Self::Minute => (at / 60_000 + 1) * 60_000,
            Self::Month => midnight(match today.month() {
                12 => NaiveDate::from_ymd_opt(today.year() + 1, 1, 1).unwrap(),
                month => NaiveDate::from_ymd_opt(today.year(), month + 1, 1).unwrap(),
            }),
        }
    }
}

/// Times of a key's admitted requests and messages, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Default)]
pub(super) struct Used {
    requests: Vec<i64>,
    messages: Vec<i64>,
    /// Theoretical arrival time of the next message, in microseconds since the Unix epoch.
    arrival_us: i64,
}

impl Used {
    pub(super) fn count_request(&mut self, now: i64) {
        self.requests.push(now);
    }

    pub(super) fn count_message(&mut self, terms: &Terms, now: i64) {
        self.messages.push(now);
        self.arrival_us = self.arrival_us.max(now * 1000) + interval_us(terms).unwrap();
    }

    /// Returns the end of the minute or of the day whose limit is reached, in milliseconds since the Unix epoch. If
    /// both limits are reached, returns the later end. Returns `None` if no limit is reached.
    pub(super) fn full_until(&self, terms: &Terms, now: i64) -> Option<i64> {
        let limits = [(Window::Minute, terms.per_minute), (Window::Day, terms.per_day)];
        let full = limits
            .into_iter()
            .filter(|(window, limit)| count(&self.requests, *window, now) >= *limit);
        full.map(|(window, _)| window.next(now)).max()
    }

    /// Checks the limit of messages per second, then the limit per month.
    pub(super) fn check_message(&self, terms: &Terms, now: i64) -> Result<(), Refused> {
        let used_up = count(&self.messages, Window::Month, now) >= terms.per_month;
        let month_until = (used_up && !terms.overage).then(|| Window::Month.next(now));
        match (self.too_fast_until(terms, now), month_until) {
            (None, None) => Ok(()),
            (Some(until), month_until) => {
                let until = month_until.map_or(until, |month| month.max(until));
                Err(Refused::until("RATE_LIMIT_EXCEEDED", now, until))
            }
            (None, Some(until)) => Err(Refused::until("MONTHLY_LIMIT_EXCEEDED", now, until)),
        }
    }

    /// Returns the time (milliseconds since the Unix epoch) from which the next message is admitted, or `None` if a
    /// message is admitted now. A message is too early if its theoretical arrival time would be more than a second
    /// ahead of `now`.
    fn too_fast_until(&self, terms: &Terms, now: i64) -> Option<i64> {
        let Some(interval_us) = interval_us(terms) else { return Some(now + 1000) };
        let open_us = self.arrival_us + interval_us - 1_000_000;
        (open_us > now * 1000).then(|| (open_us + 999) / 1000)
    }

    /// Returns the usage and the limits in the JSON form of responses.
    pub(super) fn shown(&self, terms: &Terms, now: i64) -> Value {
        let window = |window: Window, limit: u32, admitted: &[i64]| {
            let used = count(admitted, window, now);
            json!({
                "limit": limit,
                "used": used,
                "remaining": limit.saturating_sub(used),
                "resets_at": time(window.next(now)),
            })
        };
        json!({
            "minute": window(Window::Minute, terms.per_minute, &self.requests),
            "day": window(Window::Day, terms.per_day, &self.requests),
            "month": window(Window::Month, terms.per_month, &self.messages),
        })
    }
}

/// Formats a time (milliseconds since the Unix epoch) as responses do.
pub(super) fn time(at: i64) -> String {
    instant(at).to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn count(admitted: &[i64], window: Window, now: i64) -> u32 {
    let present = window.name(now);
    let count = admitted.iter().filter(|at| window.name(**at) == present).count();
    u32::try_from(count).unwrap()
}

/// Returns the interval between two messages in microseconds. `None` if the limit is zero.
fn interval_us(terms: &Terms) -> Option<i64> {
    1_000_000_i64.checked_div(terms.per_second.into())
}

fn instant(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).unwrap()
}
