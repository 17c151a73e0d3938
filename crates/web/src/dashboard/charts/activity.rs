//! The SVG chart of messages sent and events delivered per day. The chart has no script and no inline style, because
//! the Content Security Policy of the pages forbids both.

use sealpost_domain::ports::DailyCount;

/// The data of the chart: two bars for each day, for messages sent and for events delivered.
pub(in crate::dashboard) struct ActivityChart {
    pub(in crate::dashboard) days: Vec<ChartDay>,
    /// The number of messages or events at the top of the chart's scale.
    pub(in crate::dashboard) top: u64,
    pub(in crate::dashboard) sent: u64,
    pub(in crate::dashboard) delivered: u64,
}

/// The counts and the bars of one day. Lengths are in units of the view box of the SVG.
pub(in crate::dashboard) struct ChartDay {
    pub(in crate::dashboard) date: String,
    pub(in crate::dashboard) sent: u64,
    pub(in crate::dashboard) received: u64,
    pub(in crate::dashboard) delivered: u64,
    pub(in crate::dashboard) sent_bar: ChartBar,
    pub(in crate::dashboard) delivered_bar: ChartBar,
}

/// A bar of the chart: a rectangle that stands on the base line.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dashboard) struct ChartBar {
    pub(in crate::dashboard) x: u64,
    pub(in crate::dashboard) y: u64,
    pub(in crate::dashboard) height: u64,
}

impl ActivityChart {
    pub(in crate::dashboard) const WIDTH: u64 = 600;
    pub(in crate::dashboard) const HEIGHT: u64 = 120;
    pub(in crate::dashboard) const BAR_WIDTH: u64 = 8;

    pub(in crate::dashboard) fn new(days: &[DailyCount]) -> Self {
        let highest = days.iter().map(|day| day.sent.max(day.delivered)).max().unwrap_or_default();
        let top = round_up(highest);
        let number = u64::try_from(days.len()).unwrap_or(1).max(1);
        let slot = Self::WIDTH / number;
        let bar = |index: u64, offset: u64, count: u64| {
            let height = height_of(count, top);
            ChartBar { x: index * slot + offset, y: Self::HEIGHT - height, height }
        };
        let day = |(index, day): (u64, &DailyCount)| ChartDay {
            date: day.day.to_string().get(..10).unwrap_or_default().to_owned(),
            sent: day.sent,
            received: day.received,
            delivered: day.delivered,
            sent_bar: bar(index, 1, day.sent),
            delivered_bar: bar(index, 1 + Self::BAR_WIDTH + 1, day.delivered),
        };
        Self {
            top,
            sent: days.iter().map(|day| day.sent).sum(),
            delivered: days.iter().map(|day| day.delivered).sum(),
            days: (0..).zip(days).map(day).collect(),
        }
    }
}

/// Returns the height of a bar in units of the view box of the SVG. A count above 0 is at least 1 unit high, so that
/// the bar is visible.
fn height_of(count: u64, top: u64) -> u64 {
    let height = u128::from(count) * u128::from(ActivityChart::HEIGHT) / u128::from(top.max(1));
    let height = u64::try_from(height).unwrap_or(ActivityChart::HEIGHT).min(ActivityChart::HEIGHT);
    if count > 0 { height.max(1) } else { 0 }
}

/// Rounds up to the next number that is easy to read: 1, 2 or 5, followed by zeros.
fn round_up(number: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            let round = power.saturating_mul(digit);
            if round >= number {
                return round;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sealpost_domain::Timestamp;

    use super::*;

    fn days(counts: &[(u64, u64)]) -> Vec<DailyCount> {
        let day = |(index, (sent, delivered)): (i64, &(u64, u64))| DailyCount {
            day: Timestamp::from_millis(index * 86_400_000),
            sent: *sent,
            received: 0,
            delivered: *delivered,
        };
        (0..).zip(counts).map(day).collect()
    }

    #[test]
    fn the_top_is_a_round_number() {
        for (number, round) in [(0, 1), (1, 1), (3, 5), (6, 10), (11, 20), (501, 1000)] {
            assert_eq!(round_up(number), round, "{number}");
        }
        assert!(round_up(u64::MAX) == u64::MAX);
    }

    #[test]
    fn the_height_of_a_bar_is_proportional_to_its_count() {
        let chart = ActivityChart::new(&days(&[(10, 5), (0, 0)]));
        let first = &chart.days[0];
        assert_eq!((&*first.date, chart.top, chart.sent), ("1970-01-01", 10, 10));
        assert_eq!(first.sent_bar, ChartBar { x: 1, y: 0, height: 120 });
        assert_eq!(first.delivered_bar, ChartBar { x: 10, y: 60, height: 60 });
        assert_eq!(chart.days[1].sent_bar, ChartBar { x: 301, y: 120, height: 0 });
    }

    proptest! {
        #[test]
        fn all_bars_are_inside_the_chart(counts in proptest::collection::vec(any::<(u32, u32)>(), 0..=30)) {
            let counts: Vec<_> = counts.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect();
            for day in ActivityChart::new(&days(&counts)).days {
                for bar in [day.sent_bar, day.delivered_bar] {
                    prop_assert_eq!(bar.y + bar.height, ActivityChart::HEIGHT);
                    prop_assert!(bar.x + ActivityChart::BAR_WIDTH <= ActivityChart::WIDTH);
                }
            }
        }
    }
}
