//! Parses the values of settings: numbers, times and URLs.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use clap::builder::{PathBufValueParser, TypedValueParser};
use sealpost_node::settings::base_url::BaseUrl;

/// Parses a whole number from 1 to 1,000,000.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("give a number from 1 to 1000000".to_owned()),
    }
}

/// Parses a size from one byte to less than 4 GiB.
pub(super) fn positive_size(text: &str) -> Result<Size<usize>, String> {
    match text.parse()? {
        size @ Size(1..=4_294_967_295) => Ok(size),
        Size(_) => Err("give a size from 1 byte to less than 4GiB".to_owned()),
    }
}

/// Parses the path of a file or folder that a server creates if it is missing. Rejects a line break at the end, which
/// an environment variable can have if its value was read from a file. With such a path, the server would create an
/// empty database or new keys under another name.
pub(super) fn created_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str().as_encoded_bytes().ends_with(b"\n") {
            return Err("the path ends with a line break: remove the line break");
        }
        Ok(path)
    })
}

/// Removes white space and a byte order mark around a URL. Rejects an empty URL, and white space and control characters
/// inside the URL.
pub(super) fn url_text(text: &str) -> Result<String, String> {
    let url = text.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    if url.is_empty() || url.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err("give a URL without white space and line breaks".to_owned());
    }
    Ok(url.to_owned())
}

/// Parses an http or https URL, and removes white space around the URL. Rejects a user, a query and a fragment, because
/// the log shows the URL, and a path is appended to it.
pub(super) fn http_url(text: &str) -> Result<String, String> {
    let url = url_text(text)?;
    match BaseUrl::new(Some(&url), &url) {
        Ok(_valid) => Ok(url),
        Err(_invalid) => {
            Err("give an http or https URL without user, query and fragment".to_owned())
        }
    }
}

/// A duration of at most 100 years, written as numbers with units, such as `30s` or `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let span = humantime::parse_duration(text).map_err(|fault| fault.to_string())?;
        if span > SPAN_MAX {
            return Err("give a span of at most 36500d (100 years), such as 30d".to_owned());
        }
        Ok(Self(span))
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

/// The longest duration of a setting. The sum of the current time and a duration up to this length is always a valid
/// time.
const SPAN_MAX: Duration = Duration::from_hours(36_500 * 24);
const UNITS: [(&str, u128); 4] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];

/// A number of bytes, written with or without a unit, such as `16KiB` or `16384`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size<N>(pub(super) N);

impl<N: TryFrom<u64>> FromStr for Size<N> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let unit = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
        let bytes = unit.and_then(|(_, bytes)| digits.parse::<u64>().ok()?.checked_mul(*bytes));
        let size = bytes.and_then(|bytes| N::try_from(bytes).ok());
        size.map(Self).ok_or_else(|| "give a size, such as 16KiB, 2MiB, 1GiB or 16384".to_owned())
    }
}

/// Shows the size as a whole number of the largest possible unit.
impl<N: Copy + TryInto<u64>> fmt::Display for Size<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: u64 = self.0.try_into().unwrap_or(u64::MAX);
        let fits = |unit: &&(&str, u64)| bytes >= unit.1 && bytes.is_multiple_of(unit.1);
        let (name, unit) = SIZES.iter().rfind(fits).unwrap_or(&("", 1));
        write!(f, "{}{name}", bytes / unit)
    }
}

const SIZES: [(&str, u64); 4] = [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

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
    fn the_url_of_a_collector_has_the_scheme_http_or_https_and_no_user_query_and_fragment() {
        for url in ["http://127.0.0.1:4318", "https://otlp.example/a/", "HTTPS://otlp.example"] {
            assert_eq!(http_url(url).as_deref(), Ok(url));
        }
        for text in [
            "ftp://otlp.example",
            "otlp.example:4318",
            "127.0.0.1:4318",
            "http://",
            "",
            "https://user:secret@otlp.example",
            "https://secret@otlp.example",
            "https://otlp.example/?key=secret",
            "https://otlp.example/#secret",
        ] {
            let fault = http_url(text).unwrap_err();
            assert!(!fault.contains("secret"), "{fault}");
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

    #[test]
    fn a_span_is_at_most_a_hundred_years() {
        assert_eq!("36500d".parse(), Ok(Span(SPAN_MAX)));
        for text in ["36500d 1ms", "2930000d", "100000000d", "106751991167d"] {
            let fault = text.parse::<Span>().unwrap_err();
            assert!(fault.contains("36500d"), "{text}: {fault}");
        }
        for text in ["", "soon", "5", "-5s", "99999999999999999999d"] {
            text.parse::<Span>().unwrap_err();
        }
    }

    #[test]
    fn a_size_is_shown_in_the_largest_unit_and_can_be_parsed_again() {
        for (bytes, shown) in [
            (0, "0"),
            (1000, "1000"),
            (16_384, "16KiB"),
            (1 << 31, "2GiB"),
            (u64::MAX, "18446744073709551615"),
        ] {
            assert_eq!(Size(bytes).to_string(), shown);
            assert_eq!(shown.parse(), Ok(Size(bytes)));
        }
        assert_eq!("2 mib".parse(), Ok(Size(2_097_152_u64)));
        for text in ["", "KiB", "1KB", "-1", "1.5GiB", "18446744073709551615KiB"] {
            text.parse::<Size<u64>>().unwrap_err();
        }
        positive_size("0").unwrap_err();
        positive_size("4GiB").unwrap_err();
        positive_size("3GiB").unwrap();
    }
}
