//! Scores: decimals from 0 to 1, stored as integers. Comparisons with a threshold such as 0.70 are therefore exact; a
//! binary fraction cannot represent 0.70.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::FormatError;

/// A decimal from 0 to 1 with up to 18 decimal places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = r"^[01]\.[0-9]{1,18}$"))]
pub struct Score(#[schemars(with = "String")] u64);

impl Score {
    /// The lowest score.
    pub const ZERO: Self = Self(0);
    /// The highest score.
    pub const ONE: Self = Self(UNITS);

    /// Creates a score from a number of hundredths. Numbers above 100 give 1.
    pub const fn hundredths(number: u64) -> Self {
        let units = (UNITS / 100).saturating_mul(number);
        if units > UNITS { Self::ONE } else { Self(units) }
    }

    /// Creates a score from units of 10^-18, the form in the database. `None` if the score would exceed 1.
    pub const fn from_units(units: u64) -> Option<Self> {
        if units > UNITS { None } else { Some(Self(units)) }
    }

    /// Returns the score in units of 10^-18.
    pub const fn units(self) -> u64 {
        self.0
    }
}

impl FromStr for Score {
    type Err = FormatError;

    /// Parses digits, with an optional decimal point and up to 18 decimal places. Rejects signs and exponents.
    fn from_str(text: &str) -> Result<Self, FormatError> {
        let (whole, places) = match text.split_once('.') {
            Some((_, "")) => return Err(FAULT),
            Some(parts) => parts,
            None => (text, ""),
        };
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || places.len() > PLACES || !is_number(whole) || !is_number(places) {
            return Err(FAULT);
        }
        let whole: u64 = whole.parse().ok().ok_or(FAULT)?;
        let fraction: u64 = format!("{places:0<PLACES$}").parse().ok().ok_or(FAULT)?;
        let units = whole.checked_mul(UNITS).and_then(|units| units.checked_add(fraction));
        units.and_then(Self::from_units).ok_or(FAULT)
    }
}

/// Writes the decimal without trailing zeros, but with at least one decimal place.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = format!("{:0PLACES$}", self.0 % UNITS);
        let places = places.trim_end_matches('0');
        let places = if places.is_empty() { "0" } else { places };
        write!(f, "{}.{places}", self.0 / UNITS)
    }
}

/// Serialises the score as a string, because JSON parsers may round numbers.
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const FAULT: FormatError =
    FormatError("must be a decimal from 0 to 1 with at most 18 decimal places, such as 0.75");
const PLACES: usize = 18;
const UNITS: u64 = 1_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_parsed_exactly() {
        for (text, units, shown) in [
            ("0", 0, "0.0"),
            ("1", UNITS, "1.0"),
            ("1.000", UNITS, "1.0"),
            ("00.70", 700_000_000_000_000_000, "0.7"),
            ("0.7499999999", 749_999_999_900_000_000, "0.7499999999"),
            ("0.000000000000000001", 1, "0.000000000000000001"),
            ("0.999999999999999999", UNITS - 1, "0.999999999999999999"),
        ] {
            let score: Score = text.parse().unwrap();
            assert_eq!((score.units(), score.to_string().as_str()), (units, shown));
        }
        assert_eq!(Score::hundredths(75), "0.75".parse().unwrap());
        assert_eq!((Score::hundredths(0), Score::hundredths(255)), (Score::ZERO, Score::ONE));
    }

    #[test]
    fn texts_other_than_decimals_from_0_to_1_are_rejected() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-0",
            "-0.1",
            "+0.5",
            "1.000000000000000001",
            "1.01",
            "2",
            "99999999999999999999",
            "18446744073709551616",
            "NaN",
            "nan",
            "inf",
            "infinity",
            "1e0",
            "1e-1",
            "0x1",
            "0,5",
            " 0.5",
            "0.5 ",
            "0.5.5",
            "0._5",
            "٠.٥",
            "0.0000000000000000001",
        ] {
            assert_eq!(text.parse::<Score>(), Err(FAULT), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_score_survives_formatting_and_parsing(units in 0..=UNITS) {
            let score = Score::from_units(units).unwrap();
            prop_assert_eq!(score.to_string().parse(), Ok(score));
        }
    }
}
