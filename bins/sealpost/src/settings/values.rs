//! Parses the values of settings: numbers, times and URLs.

use std::{fmt, str::FromStr, time::Duration};

/// Parses a count from 1 to 1,000,000.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}

/// Parses a number of bytes from 1 to 4,294,967,295.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=4_294_967_295) => Ok(number),
        _ => Err("give a number of bytes from 1 to 4294967295".to_owned()),
    }
}

/// Removes white space and a byte order mark around a URL, as for the database URL. Rejects white space and control
/// characters in the URL, and an empty URL.
pub(super) fn url_text(text: &str) -> Result<String, String> {
    let url = text.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    if url.is_empty() || url.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err("give a URL without white space and line breaks".to_owned());
    }
    Ok(url.to_owned())
}

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
    fn white_space_is_accepted_only_around_a_url() {
        for text in ["https://a.example", "https://a.example\n", "\u{feff}https://a.example\r\n"] {
            assert_eq!(url_text(text).unwrap(), "https://a.example");
        }
        for text in ["", " \n", "https://a.\nexample", "https://a.example https://b.example"] {
            url_text(text).unwrap_err();
        }
    }

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
