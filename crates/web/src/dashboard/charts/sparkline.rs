//! The SVG sparkline of a webhook: a small bar chart of the succeeded and failed attempts in the last 24 hours. This
//! period is divided into equal parts, and each part has one bar.

use sealpost_domain::Timestamp;
use sealpost_service::{AttemptCount, RecentAttempts};

use crate::{dashboard::text::to_minute, html::text::thousands};

/// The bars of a sparkline: one stacked bar for each part of the period.
pub(crate) struct Sparkline {
    pub(crate) bars: Vec<SparklineBar>,
    /// The sparkline as text, for screen readers.
    pub(crate) summary: String,
}

/// A stacked bar: failed attempts above succeeded attempts. Lengths are in units of the view box of the SVG.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SparklineBar {
    pub(crate) x: u32,
    pub(crate) succeeded: u32,
    pub(crate) failed: u32,
    /// The tooltip of the bar: the time at which its part of the period starts, and the counts of attempts in that
    /// part.
    pub(crate) title: String,
}

impl Sparkline {
    pub(crate) const WIDTH: u32 = 120;
    pub(crate) const HEIGHT: u32 = 30;
    pub(crate) const BAR_WIDTH: u32 = 4;
    const SLOT: u32 = 5;

    pub(crate) fn new(recent: &RecentAttempts) -> Self {
        let total = |count: &AttemptCount| count.succeeded + count.failed;
        let top = recent.parts.iter().map(total).max().unwrap_or_default();
        let bar = |(index, count): (u32, &AttemptCount)| SparklineBar {
            x: index * Self::SLOT,
            succeeded: height_of(count.succeeded, top),
            failed: height_of(count.failed, top),
            title: format!(
                "from {}: {} succeeded, {} failed",
                to_minute(&start_of(recent, index)),
                thousands(count.succeeded),
                thousands(count.failed)
            ),
        };
        let failed = recent.attempts - recent.succeeded;
        let summary = format!(
            "Attempts over time: {} succeeded, {} failed",
            thousands(recent.succeeded),
            thousands(failed)
        );
        Self { bars: (0..).zip(&recent.parts).map(bar).collect(), summary }
    }
}

impl SparklineBar {
    /// Returns the y coordinate of the top of the bar's failed part.
    pub(crate) fn failed_y(&self) -> u32 {
        self.succeeded_y().saturating_sub(self.failed)
    }

    /// Returns the y coordinate of the top of the bar's succeeded part.
    pub(crate) fn succeeded_y(&self) -> u32 {
        Sparkline::HEIGHT - self.succeeded
    }
}

/// Returns the height of one part of a bar, in units of the view box. The parts are the succeeded and the failed
/// attempts. `count` is the number of attempts in this part, and `top` is the number of attempts in the highest bar.
///
/// A part with attempts is at least 2 units high, so that it is visible. This can make a bar up to 2 units higher, so
/// the scale leaves 2 units free.
fn height_of(count: u32, top: u32) -> u32 {
    let scale = u64::from(Sparkline::HEIGHT - 2);
    let height = u64::from(count) * scale / u64::from(top.max(1));
    let height = u32::try_from(height).unwrap_or_default();
    if count > 0 { height.max(2) } else { 0 }
}

/// Returns the time at which the part number `index` of the period starts.
fn start_of(recent: &RecentAttempts, index: u32) -> Timestamp {
    let parts = i64::try_from(recent.parts.len()).unwrap_or(1).max(1);
    let length = recent.until.as_millis() - recent.since.as_millis();
    Timestamp::from_millis(recent.since.as_millis() + length / parts * i64::from(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_attempts_stand_above_succeeded_attempts() {
        let mut parts = [AttemptCount::default(); 24];
        parts[0] = AttemptCount { succeeded: 3, failed: 1 };
        parts[23] = AttemptCount { succeeded: 0, failed: 2 };
        let recent = RecentAttempts {
            since: Timestamp::from_millis(0),
            until: Timestamp::from_millis(86_400_000),
            attempts: 6,
            succeeded: 3,
            p95_ms: None,
            is_truncated: false,
            parts,
        };
        let Sparkline { bars, summary } = Sparkline::new(&recent);
        assert_eq!((bars[0].succeeded_y(), bars[0].succeeded), (9, 21));
        assert_eq!((bars[0].failed_y(), bars[0].failed), (2, 7));
        assert_eq!((bars[1].succeeded, bars[1].failed), (0, 0));
        assert_eq!((bars[23].x, bars[23].failed), (115, 14));
        assert_eq!(bars[23].title, "from 1970-01-01 23:00 UTC: 0 succeeded, 2 failed");
        assert_eq!(summary, "Attempts over time: 3 succeeded, 3 failed");
    }
}
