//! The SVG chart of two numbers for each of several days. The chart has no script and no inline style, because the
//! Content Security Policy of the pages forbids both.

use sealpost_domain::Timestamp;

use crate::dashboard::text::short_day;

/// The data of the chart: two bars for each day.
pub(crate) struct DayChart {
    pub(crate) bars: Vec<DayBars>,
    /// The number at the top of the chart's scale.
    pub(crate) top: u64,
    /// The name of each day below the chart. Empty for most days, so that the chart shows at most five names.
    pub(crate) names: Vec<String>,
    pub(crate) bar_width: u64,
}

/// The two numbers of one day, such as sent and received messages.
pub(crate) struct ChartDay {
    pub(crate) day: Timestamp,
    pub(crate) first: u64,
    pub(crate) second: u64,
    /// The numbers as text, for the tooltip of the day.
    pub(crate) title: String,
}

/// The bars of one day. Lengths are in units of the view box of the SVG.
pub(crate) struct DayBars {
    pub(crate) title: String,
    pub(crate) first: ChartBar,
    pub(crate) second: ChartBar,
}

/// A bar of the chart: a rectangle that stands on the base line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChartBar {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) height: u64,
}

impl DayChart {
    /// The width of the chart: a multiple of 14 and of 30. So the bars of a chart of 14 or 30 days stand exactly above
    /// the names of their days.
    pub(crate) const WIDTH: u64 = 630;
    pub(crate) const HEIGHT: u64 = 120;

    pub(crate) fn new(days: impl IntoIterator<Item = ChartDay>) -> Self {
        let days: Vec<_> = days.into_iter().collect();
        let highest = days.iter().map(|day| day.first.max(day.second)).max().unwrap_or_default();
        let top = round_up(highest);
        let slot = Self::WIDTH / u64::try_from(days.len()).unwrap_or(1).max(1);
        // The slot of a day has two bars with a gap of one unit between them. The rest of the slot separates the days.
        let bar_width = (slot * 2 / 5).max(1);
        let bar = |index: u64, offset: u64, number: u64| {
            let height = height_of(number, top);
            ChartBar { x: index * slot + offset, y: Self::HEIGHT - height, height }
        };
        let bars = |(index, day): (u64, &ChartDay)| DayBars {
            title: format!("{}: {}", short_day(day.day), day.title),
            first: bar(index, 1, day.first),
            second: bar(index, bar_width + 2, day.second),
        };
        let step = days.len().div_ceil(5).max(1);
        let name = |(index, day): (usize, &ChartDay)| {
            let is_named = (days.len() - 1 - index).is_multiple_of(step);
            if is_named { short_day(day.day) } else { String::new() }
        };
        let names = days.iter().enumerate().map(name).collect();
        Self { bars: (0..).zip(&days).map(bars).collect(), top, names, bar_width }
    }

    /// Returns true if the name of a day is hidden on narrow screens, which have room for three names only.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub(crate) fn is_minor(&self, index: &usize) -> bool {
        let step = self.names.len().div_ceil(5).max(1);
        (self.names.len().saturating_sub(index + 1) / step) % 2 == 1
    }

    /// Returns the number at half the height of the scale. `None` if this number is not whole.
    pub(crate) fn middle(&self) -> Option<u64> {
        self.top.is_multiple_of(2).then_some(self.top / 2)
    }
}

/// Returns the height of a bar in units of the view box of the SVG. A number above 0 is at least 1 unit high, so that
/// the bar is visible.
fn height_of(number: u64, top: u64) -> u64 {
    let height = u128::from(number) * u128::from(DayChart::HEIGHT) / u128::from(top.max(1));
    let height = u64::try_from(height).unwrap_or(DayChart::HEIGHT).min(DayChart::HEIGHT);
    if number > 0 { height.max(1) } else { 0 }
}

/// Rounds up to the next number that is easy to read: 1, 2, 4, 6 or 8, followed by zeros.
fn round_up(number: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 4, 6, 8] {
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

    use super::*;

    fn days(numbers: &[(u64, u64)]) -> Vec<ChartDay> {
        let day = |(index, &(first, second)): (i64, &(u64, u64))| ChartDay {
            day: Timestamp::from_millis(index * 86_400_000),
            first,
            second,
            title: String::new(),
        };
        (0..).zip(numbers).map(day).collect()
    }

    #[test]
    fn the_top_is_a_round_number() {
        for (number, round) in [(0, 1), (1, 1), (3, 4), (6, 6), (9, 10), (11, 20), (501, 600)] {
            assert_eq!(round_up(number), round, "{number}");
        }
        assert!(round_up(u64::MAX) == u64::MAX);
    }

    #[test]
    fn the_height_of_a_bar_is_proportional_to_its_number() {
        let chart = DayChart::new(days(&[(10, 5), (0, 0)]));
        assert_eq!((chart.top, chart.middle(), chart.bar_width), (10, Some(5), 126));
        assert_eq!(chart.bars[0].first, ChartBar { x: 1, y: 0, height: 120 });
        assert_eq!(chart.bars[0].second, ChartBar { x: 128, y: 60, height: 60 });
        assert_eq!(chart.bars[1].first, ChartBar { x: 316, y: 120, height: 0 });
        assert_eq!(chart.names, ["1 Jan", "2 Jan"]);
    }

    #[test]
    fn at_most_five_days_are_named_and_the_last_is_one_of_them() {
        for (number, named) in [(0, 0), (1, 1), (5, 5), (14, 5), (30, 5)] {
            let chart = DayChart::new(days(&vec![(1, 1); number]));
            let named_days: Vec<_> =
                (0..number).filter(|day| !chart.names[*day].is_empty()).collect();
            assert_eq!(named_days.len(), named, "{:?}", chart.names);
            assert!(number == 0 || named_days.contains(&(number - 1)));
            let major: Vec<_> = named_days.iter().filter(|day| !chart.is_minor(day)).collect();
            assert_eq!(major.len(), named.div_ceil(2), "{major:?}");
            assert!(major.last().is_none_or(|day| **day == number - 1));
        }
    }

    proptest! {
        #[test]
        fn all_bars_are_inside_the_chart(counts in proptest::collection::vec(any::<(u32, u32)>(), 0..=30)) {
            let counts: Vec<_> = counts.iter().map(|(a, b)| (u64::from(*a), u64::from(*b))).collect();
            let chart = DayChart::new(days(&counts));
            for day in chart.bars {
                for bar in [day.first, day.second] {
                    prop_assert_eq!(bar.y + bar.height, DayChart::HEIGHT);
                    prop_assert!(bar.x + chart.bar_width <= DayChart::WIDTH);
                }
            }
        }
    }
}
