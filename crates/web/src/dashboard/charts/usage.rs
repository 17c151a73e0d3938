//! Meters that show how much of each rate limit an API key has used.

use sealpost_service::{UsageReport, WindowReport};

use crate::dashboard::text::when;

/// The usage of one limit in its current window.
pub(crate) struct UsageMeter {
    pub(crate) name: &'static str,
    pub(crate) used: u32,
    pub(crate) limit: u32,
    pub(crate) resets_at: String,
}

/// Returns the meters of an API key for the current minute, day and month.
pub(crate) fn usage_meters(usage: &UsageReport) -> [UsageMeter; 3] {
    let meter = |name, window: &WindowReport| UsageMeter {
        name,
        used: window.used,
        limit: window.limit,
        resets_at: when(&window.resets_at),
    };
    [
        meter("requests this minute", &usage.minute),
        meter("requests today", &usage.day),
        meter("messages this month", &usage.month),
    ]
}

impl UsageMeter {
    /// Returns the used share of the limit in percent, at most 100. A limit of 0 counts as used up, because it admits
    /// nothing.
    pub(crate) fn percent(&self) -> u64 {
        let percent = (u64::from(self.used) * 100).checked_div(self.limit.into());
        percent.unwrap_or(100).min(100)
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

    #[test]
    fn a_meter_is_full_at_its_limit() {
        let meter = |used, limit| UsageMeter { name: "", used, limit, resets_at: String::new() };
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
