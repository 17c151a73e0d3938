//! Meters that show how much of each rate limit an API key has used.

use sealpost_domain::Timestamp;
use sealpost_service::{UsageReport, WindowReport};

use crate::dashboard::text::ago;

/// The usage of one limit in its current window.
pub(crate) struct UsageMeter {
    pub(crate) name: &'static str,
    window: LimitWindow,
    pub(crate) used: u32,
    pub(crate) limit: u32,
    /// The time at which the next window starts and the count is reset. Formatted as an HTML element.
    pub(crate) resets_at: String,
}

/// The period in which a limit counts requests or messages. The count restarts with each period.
#[derive(Clone, Copy)]
enum LimitWindow {
    Day,
    Minute,
    Month,
}

/// Returns the meters of an API key for the current minute, day and month.
pub(crate) fn usage_meters(usage: &UsageReport, now: Timestamp) -> [UsageMeter; 3] {
    let meter = |name, window, report: &WindowReport| UsageMeter {
        name,
        window,
        used: report.used,
        limit: report.limit,
        resets_at: ago(&report.resets_at, &now),
    };
    [
        meter("requests this minute", LimitWindow::Minute, &usage.minute),
        meter("requests today", LimitWindow::Day, &usage.day),
        meter("messages this month", LimitWindow::Month, &usage.month),
    ]
}

impl UsageMeter {
    /// Returns the value and the maximum of the HTML meter. A limit of 0 is shown as a full meter.
    pub(crate) fn value_and_max(&self) -> (u32, u32) {
        if self.limit == 0 { (1, 1) } else { (self.used, self.limit) }
    }

    /// Returns the used share of the limit in percent, at most 100. A limit of 0 counts as used up, because it admits
    /// nothing.
    pub(crate) fn percent(&self) -> u64 {
        let percent = (u64::from(self.used) * 100).checked_div(self.limit.into());
        percent.unwrap_or(100).min(100)
    }

    /// Returns true if at least 50 % of the limit is used. Lists show the meter only then.
    pub(in crate::dashboard) fn is_notable(&self) -> bool {
        self.percent() >= 50
    }

    /// Returns a warning about the effect of reaching the limit. Returns `None` below 80 % of the limit. Also returns
    /// `None` for the limit per minute, because its count restarts soon.
    pub(in crate::dashboard) fn advice(&self) -> Option<&'static str> {
        match (self.level(), self.window) {
            ("calm", _) | (_, LimitWindow::Minute) => None,
            (_, LimitWindow::Day) => Some("At the limit, requests are refused until the day ends."),
            (_, LimitWindow::Month) => {
                Some("At the limit, messages are refused until the month ends.")
            }
        }
    }

    /// Returns the CSS class of the meter: `full` at 100 %, `high` from 80 %, otherwise `calm`.
    pub(crate) fn level(&self) -> &'static str {
        match self.percent() {
            0..80 => "calm",
            80..100 => "high",
            _ => "full",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter_of(window: LimitWindow, used: u32, limit: u32) -> UsageMeter {
        UsageMeter { name: "", window, used, limit, resets_at: String::new() }
    }

    #[test]
    fn advice_is_given_from_80_percent_of_a_day_or_a_month() {
        let has_advice = |window, used| meter_of(window, used, 100).advice().is_some();
        assert_eq!(
            [79, 80, 100].map(|used| has_advice(LimitWindow::Day, used)),
            [false, true, true]
        );
        assert_eq!([79, 100].map(|used| has_advice(LimitWindow::Month, used)), [false, true]);
        assert!(!has_advice(LimitWindow::Minute, 100));
    }

    #[test]
    fn a_meter_is_full_at_its_limit() {
        let meter = |used, limit| meter_of(LimitWindow::Day, used, limit);
        let seen = |used, limit| (meter(used, limit).percent(), meter(used, limit).level());
        assert_eq!(seen(0, 20), (0, "calm"));
        assert_eq!(seen(15, 20), (75, "calm"));
        assert_eq!(seen(16, 20), (80, "high"));
        assert_eq!(seen(20, 20), (100, "full"));
        assert_eq!(seen(u32::MAX, 20), (100, "full"));
        assert_eq!(seen(1, 0), (100, "full"));
        assert_eq!(seen(0, 0), (100, "full"));
    }
}
