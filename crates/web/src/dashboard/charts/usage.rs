//! Meters that show how much of each rate limit an API key has used.

use sealpost_domain::Timestamp;
use sealpost_service::{UsageReport, WindowReport};

use crate::dashboard::text::ago;

/// The usage of one limit in its current window.
pub(crate) struct UsageMeter {
    pub(crate) name: &'static str,
    /// The effect of reaching the limit. `None` for the limit per minute, because its count restarts soon.
    effect: Option<&'static str>,
    pub(crate) used: u32,
    pub(crate) limit: u32,
    /// The time at which the next window starts and the count is reset. Formatted as an HTML element.
    pub(crate) resets_at: String,
}

/// Returns the meters of an API key for the current minute, day and month.
pub(crate) fn usage_meters(usage: &UsageReport, now: Timestamp) -> [UsageMeter; 3] {
    let meter = |name, effect, report: &WindowReport| UsageMeter {
        name,
        effect,
        used: report.used,
        limit: report.limit,
        resets_at: ago(&report.resets_at, &now),
    };
    [
        meter("requests this minute", None, &usage.minute),
        meter("requests today", Some(DAY_LIMIT), &usage.day),
        meter("messages this month", Some(MONTH_LIMIT), &usage.month),
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
    pub(crate) fn is_notable(&self) -> bool {
        self.percent() >= 50
    }

    /// Returns a warning about the effect of reaching the limit. Returns `None` below 80 % of the limit, and for the
    /// limit per minute.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        self.effect.filter(|_| self.level() != "calm")
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

const DAY_LIMIT: &str = "At the limit, requests are refused until the day ends.";
const MONTH_LIMIT: &str = "At the limit, messages are refused until the month ends.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_from_80_percent_of_a_day_or_a_month() {
        let now = Timestamp::from_millis(0);
        for (used, is_given) in [(79, false), (80, true), (100, true)] {
            let report = WindowReport { limit: 100, used, remaining: 100 - used, resets_at: now };
            let usage = UsageReport { minute: report, day: report, month: report };
            let advice = usage_meters(&usage, now).map(|meter| meter.advice());
            let expected = [None, Some(DAY_LIMIT), Some(MONTH_LIMIT)];
            assert_eq!(advice, if is_given { expected } else { [None; 3] });
        }
    }

    #[test]
    fn a_meter_is_full_at_its_limit() {
        let seen = |used, limit| {
            let (effect, resets_at) = (None, String::new());
            let meter = UsageMeter { name: "", effect, used, limit, resets_at };
            (meter.percent(), meter.level())
        };
        assert_eq!(seen(0, 20), (0, "calm"));
        assert_eq!(seen(15, 20), (75, "calm"));
        assert_eq!(seen(16, 20), (80, "high"));
        assert_eq!(seen(20, 20), (100, "full"));
        assert_eq!(seen(u32::MAX, 20), (100, "full"));
        assert_eq!(seen(1, 0), (100, "full"));
        assert_eq!(seen(0, 0), (100, "full"));
    }
}
