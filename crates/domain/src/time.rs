//! Instants, and the port to a clock. The domain never reads the clock: callers pass the current time in.

use std::{fmt, str::FromStr, time::Duration};

use chrono::{DateTime, SecondsFormat};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::FormatError;

/// An instant in UTC, in milliseconds since the Unix epoch. As text: ISO 8601 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(
    description = "ISO 8601 in UTC, with milliseconds and `Z`.",
    extend("format" = "date-time")
)]
pub struct Timestamp(#[schemars(with = "String")] i64);

impl Timestamp {
    /// Creates an instant from milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the number of milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the number of whole seconds since the Unix epoch, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns the start of the day of this instant, in UTC.
    #[must_use]
    pub const fn start_of_day(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(DAY_MS)))
    }

    /// Returns this instant plus a duration. A result after the year 9999, which has no text form, becomes the end of
    /// that year. An instant that is already later stays.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        let sum = self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
        Self(sum.min(self.0.max(LAST_MS)))
    }

    /// Returns this instant minus a duration. A result before the year 0, which has no text form, becomes the start of
    /// that year. An instant that is already earlier stays.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        let difference = self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
        Self(difference.max(self.0.min(FIRST_MS)))
    }

    /// Returns the duration from `earlier` to this instant. Zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the duration between two instants in any order. Use this method for timeouts: if the clock is set back,
    /// [`Self::since`] stays zero for a long time, and a timeout would not end.
    pub fn abs_diff(self, other: Self) -> Duration {
        self.since(other).max(other.since(self))
    }
}

impl FromStr for Timestamp {
    type Err = FormatError;

    /// Parses ISO 8601 with an offset from UTC. A date without time means the start of that day in UTC. Refuses an
    /// instant that has no text form in UTC.
    fn from_str(text: &str) -> Result<Self, FormatError> {
        let day = || DateTime::parse_from_rfc3339(&format!("{text}T00:00:00Z"));
        let instant = DateTime::parse_from_rfc3339(text).or_else(|_no_instant| day());
        let millis = instant.map_err(|_neither| FAULT)?.timestamp_millis();
        if (FIRST_MS..=LAST_MS).contains(&millis) { Ok(Self(millis)) } else { Err(FAULT) }
    }
}

/// Writes ISO 8601 in UTC, with milliseconds and `Z`. Only the years 0 to 9999 have this text form. For an earlier or
/// later instant, writes the first or the last instant of these years.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The result is never `None`, because the calendar contains all these years. An error would make `to_string`
        // panic.
        let instant = DateTime::from_timestamp_millis(self.0.clamp(FIRST_MS, LAST_MS));
        let instant = instant.unwrap_or_default();
        f.write_str(&instant.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The port to a clock. Tests replace the system clock.
pub trait Clock: Send + Sync {
    /// Returns the current time of this clock.
    fn now(&self) -> Timestamp;
}

const FAULT: FormatError =
    FormatError("must be a time such as 2027-01-31T12:00:00Z, or a day such as 2027-01-31");
const DAY_MS: i64 = 86_400_000;
/// The first instant with a text form: 0000-01-01T00:00:00.000Z.
const FIRST_MS: i64 = -62_167_219_200_000;
/// The last instant with a text form: 9999-12-31T23:59:59.999Z.
const LAST_MS: i64 = 253_402_300_799_999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_starts_at_midnight_in_utc() {
        for (at, start) in [(0, 0), (DAY_MS - 1, 0), (DAY_MS, DAY_MS), (-1, -DAY_MS)] {
            assert_eq!(Timestamp::from_millis(at).start_of_day(), Timestamp::from_millis(start));
        }
    }

    #[test]
    fn every_instant_has_a_text_that_can_be_read_again() {
        const FIRST: &str = "0000-01-01T00:00:00.000Z";
        const LAST: &str = "9999-12-31T23:59:59.999Z";
        for (millis, text, shown) in [
            (i64::MIN, FIRST, FIRST_MS),
            (FIRST_MS - 1, FIRST, FIRST_MS),
            (FIRST_MS, FIRST, FIRST_MS),
            (7, "1970-01-01T00:00:00.007Z", 7),
            (LAST_MS, LAST, LAST_MS),
            (LAST_MS + 1, LAST, LAST_MS),
            (i64::MAX, LAST, LAST_MS),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp::from_millis(shown)));
        }
    }

    #[test]
    fn a_sum_and_a_difference_stay_in_the_range_with_a_text() {
        let at = Timestamp::from_millis;
        let second = Duration::from_secs(1);
        for (from, span, sum, difference) in [
            (0, second, 1000, -1000),
            (0, Duration::MAX, LAST_MS, FIRST_MS),
            (LAST_MS - 1, second, LAST_MS, LAST_MS - 1001),
            (FIRST_MS + 1, second, FIRST_MS + 1001, FIRST_MS),
        ] {
            assert_eq!((at(from).plus(span), at(from).minus(span)), (at(sum), at(difference)));
        }
        // An open end stays open.
        assert_eq!(at(i64::MAX).plus(second), at(i64::MAX));
        assert_eq!(at(i64::MIN).minus(second), at(i64::MIN));
        assert_eq!(at(i64::MAX).minus(second), at(i64::MAX - 1000));
    }

    #[test]
    fn since_is_never_negative_and_the_absolute_difference_does_not_depend_on_the_order() {
        let (early, late) = (Timestamp::from_millis(-1), Timestamp::from_millis(2));
        assert_eq!(
            (late.since(early), early.since(late)),
            (Duration::from_millis(3), Duration::ZERO)
        );
        assert_eq!(
            (late.abs_diff(early), early.abs_diff(late)),
            (Duration::from_millis(3), Duration::from_millis(3))
        );
    }

    #[test]
    fn an_instant_or_a_day_is_read() {
        let read = |text: &str| text.parse::<Timestamp>().map(|instant| instant.to_string());
        for (text, expected) in [
            ("2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000Z"),
            ("2027-01-31T12:00:00.007+01:00", "2027-01-31T11:00:00.007Z"),
            ("2027-01-31", "2027-01-31T00:00:00.000Z"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected));
        }
        for text in ["", "tomorrow", "2027-02-30", "2027-01-31T12:00:00", "31.01.2027"] {
            assert_eq!(read(text), Err(FAULT), "{text}");
        }
        for text in ["2027-1-1", " 2027-01-01", " 2027-1-01", "+2027-01-01", "2027-01-01 "] {
            assert_eq!(read(text), Err(FAULT), "{text:?}");
        }
    }

    #[test]
    fn an_instant_outside_the_years_0_to_9999_is_refused() {
        for text in [
            "+262142-12-31",
            "-0001-01-01",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(FAULT), "{text}");
        }
    }
}
