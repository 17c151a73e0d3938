//! Parses and shows durations on the command line.

use std::{fmt, str::FromStr, time::Duration};

/// A duration, written as numbers with units, such as `30s` or `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = humantime::DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        humantime::parse_duration(text).map(Self)
    }
}

/// Shows the duration as a whole number of one unit. Uses the largest unit that gives a number of at least 2. For
/// example, one day is `24h`, and 30 days are `30d`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let fits = |unit: &&(&str, u128)| millis.is_multiple_of(unit.1) && millis / unit.1 >= 2;
        let (name, unit_ms) = UNITS.iter().find(fits).unwrap_or(&("ms", 1));
        write!(f, "{}{name}", millis / unit_ms)
    }
}

const UNITS: [(&str, u128); 4] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_shown_in_the_largest_unit_and_can_be_parsed_again() {
        for (seconds, shown) in
            [(10, "10s"), (60, "60s"), (300, "5m"), (86_400, "24h"), (2_592_000, "30d")]
        {
            let span = Span(Duration::from_secs(seconds));
            assert_eq!(span.to_string(), shown);
            assert_eq!(shown.parse(), Ok(span));
        }
        assert_eq!(Span(Duration::from_millis(250)).to_string(), "250ms");
    }
}
