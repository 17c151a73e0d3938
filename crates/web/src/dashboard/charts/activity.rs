//! A chart of days, as an SVG that needs neither script nor style of its own.

use sealpost_domain::ports::DailyCount;

/// Days side by side, each with a bar for what was sent and one for what was delivered.
pub(super) struct Chart {
    pub(super) days: Vec<Day>,
    /// What the highest line stands for.
    pub(super) top: u64,
    pub(super) sent: u64,
    pub(super) delivered: u64,
}

/// One day's bars; lengths are in the chart's own units.
pub(super) struct Day {
    pub(super) date: String,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) delivered: u64,
    pub(super) sent_bar: Bar,
    pub(super) delivered_bar: Bar,
}

/// A rectangle that stands on the ground line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) x: u64,
    pub(super) y: u64,
    pub(super) height: u64,
}

impl Chart {
    pub(super) const WIDTH: u64 = 600;
    pub(super) const HEIGHT: u64 = 120;
    pub(super) const BAR_WIDTH: u64 = 8;

    pub(super) fn of(days: &[DailyCount]) -> Self {
        let highest = days.iter().map(|day| day.sent.max(day.delivered)).max().unwrap_or_default();
        let top = round_up(highest);
        let number = u64::try_from(days.len()).unwrap_or(1).max(1);
        let slot = Self::WIDTH / number;
        let bar = |place: u64, offset: u64, count: u64| {
            let height = height_of(count, top);
            Bar { x: place * slot + offset, y: Self::HEIGHT - height, height }
        };
        let day = |(place, day): (u64, &DailyCount)| Day {
            date: day.day.to_string().get(..10).unwrap_or_default().to_owned(),
            sent: day.sent,
            received: day.received,
            delivered: day.delivered,
            sent_bar: bar(place, 1, day.sent),
            delivered_bar: bar(place, 1 + Self::BAR_WIDTH + 1, day.delivered),
        };
        Self {
            top,
            sent: days.iter().map(|day| day.sent).sum(),
            delivered: days.iter().map(|day| day.delivered).sum(),
            days: (0..).zip(days).map(day).collect(),
        }
    }
}

/// A day with anything at all shows.
fn height_of(count: u64, top: u64) -> u64 {
    let height = u128::from(count) * u128::from(Chart::HEIGHT) / u128::from(top.max(1));
    let height = u64::try_from(height).unwrap_or(Chart::HEIGHT).min(Chart::HEIGHT);
    if count > 0 { height.max(1) } else { 0 }
}

/// The next number that is easy to read: 1, 2 or 5 with zeros.
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
        let day = |(place, (sent, delivered)): (i64, &(u64, u64))| DailyCount {
            day: Timestamp::from_millis(place * 86_400_000),
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
    fn bars_stand_on_the_ground_in_proportion() {
        let chart = Chart::of(&days(&[(10, 5), (0, 0)]));
        let first = &chart.days[0];
        assert_eq!((&*first.date, chart.top, chart.sent), ("1970-01-01", 10, 10));
        assert_eq!(first.sent_bar, Bar { x: 1, y: 0, height: 120 });
        assert_eq!(first.delivered_bar, Bar { x: 10, y: 60, height: 60 });
        assert_eq!(chart.days[1].sent_bar, Bar { x: 301, y: 120, height: 0 });
    }

    proptest! {
        #[test]
        fn nothing_leaves_the_chart(counts in proptest::collection::vec(any::<(u32, u32)>(), 0..=30)) {
            let counts: Vec<_> = counts.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect();
            for day in Chart::of(&days(&counts)).days {
                for bar in [day.sent_bar, day.delivered_bar] {
                    prop_assert_eq!(bar.y + bar.height, Chart::HEIGHT);
                    prop_assert!(bar.x + Chart::BAR_WIDTH <= Chart::WIDTH);
                }
            }
        }
    }
}
