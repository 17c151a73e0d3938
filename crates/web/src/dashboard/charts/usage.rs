//! Meters that show how much of each rate limit an API key has used.

use sealpost_domain::Timestamp;
use sealpost_service::{KeyStanding, WindowReport};

use crate::dashboard::text::ago;

/// The usage of one limit in its current window.
pub(in crate::dashboard) struct UsageMeter {
    pub(in crate::dashboard) name: &'static str,
    pub(in crate::dashboard) used: u32,
    pub(in crate::dashboard) limit: u32,
    /// The time of the next window, as an HTML element.
    pub(in crate::dashboard) resets_at: String,
}

/// Returns the meters of an API key for the current minute, day and month.
pub(in crate::dashboard) fn usage_meters(
    standing: &KeyStanding,
    now: &Timestamp,
) -> [UsageMeter; 3] {
    let meter = |name, window: &WindowReport| UsageMeter {
        name,
        used: window.used,
        limit: window.limit,
        resets_at: ago(&window.resets_at, now),
    };
    [
        meter("requests this minute", &standing.usage.minute),
        meter("requests today", &standing.usage.day),
        meter("messages this month", &standing.usage.month),
    ]
}

impl UsageMeter {
    /// Returns the used share of the limit in percent, at most 100. A limit of 0 counts as used up, because it admits
    /// nothing.
    pub(in crate::dashboard) fn percent(&self) -> u64 {
        let percent = (u64::from(self.used) * 100).checked_div(self.limit.into());
        percent.unwrap_or(100).min(100)
    }

    /// Returns the CSS class of the meter: `full` at 100 %, `high` from 80 %, otherwise `calm`.
    pub(in crate::dashboard) fn level(&self) -> &'static str {
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
