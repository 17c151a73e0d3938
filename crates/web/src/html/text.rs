//! Formats values as text for the users of all pages.

#![expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]

use std::fmt::Display;

use sealpost_domain::{Description, GovernanceKind, Timestamp};

/// Shortens an id to its prefix and its last characters: `env_…9x2kd4`. Pages have the whole id elsewhere.
pub(crate) fn short_id(id: impl Display) -> String {
    let id = id.to_string();
    match id.split_once('_') {
        Some((prefix, rest)) if rest.is_ascii() && rest.len() > SHORT_LEN => {
            format!("{prefix}_…{}", rest.get(rest.len() - SHORT_LEN..).unwrap_or(rest))
        }
        _ => id,
    }
}

/// Shortens a score to at most four decimal places: `0.7511…`. The pages have the whole score as a title.
pub(crate) fn short_score(score: impl Display) -> String {
    let score = score.to_string();
    match score.get(..SHORT_SCORE_LEN) {
        Some(short) if short.len() < score.len() => format!("{short}…"),
        _ => score,
    }
}

/// Shortens the ids in a text.
pub(crate) fn short_ids(text: impl AsRef<str>) -> String {
    let is_id = |word: &str| word.split_once('_').is_some_and(|(_, rest)| rest.len() == ID_LEN);
    // A word joiner (U+2060) prevents a line break between the two parts of a shortened id.
    let shorten = |word: &str| {
        if is_id(word) { short_id(word).replace('…', "…\u{2060}") } else { word.to_owned() }
    };
    text.as_ref().split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

/// Describes why an attempt failed. `class` is the class of the failure in the API, such as `timeout`.
pub(crate) fn failure(class: &str, detail: Option<&str>) -> String {
    let text = match class {
        "blocked_address" => "The address of the receiver is not public",
        "connect" => "The receiver accepted no connection",
        "dns" => "The host name of the receiver was not found",
        "http_status" => "The receiver responded with an error",
        "protocol" => "The receiver did not speak HTTP correctly",
        "timeout" => "The receiver did not respond in time",
        "tls" => "The encrypted connection failed",
        "too_large" => "The response of the receiver was too large",
        other => other,
    };
    match detail {
        Some(detail) => format!("{text} ({detail})"),
        None => text.to_owned(),
    }
}

/// Formats a number with commas between groups of three digits.
pub(crate) fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes in units of a million bytes: `1.2 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", thousands(tenths / 10), tenths % 10)
}

/// Formats a time to the second: `2026-01-02 03:04:05 UTC`.
pub(crate) fn when(at: &Timestamp) -> String {
    let text = at.to_string();
    let second = text.get(..19).unwrap_or(&text).replace('T', " ");
    format!("{second} UTC")
}

/// Formats the day of a time: `2026-01-02`. Pages have the whole time elsewhere.
pub(crate) fn day(at: &Timestamp) -> String {
    at.to_string().get(..10).unwrap_or_default().to_owned()
}

/// Returns the description of a webhook. `None` if the description has only spaces and invisible characters.
pub(crate) fn visible(description: Option<&Description>) -> Option<&Description> {
    description.filter(|description| !description.is_blank())
}

/// Names the kind of an operators' decision that blocks a key.
pub(crate) fn what_blocks(kind: &GovernanceKind) -> &'static str {
    match kind {
        GovernanceKind::CouncilAction => "council action",
        GovernanceKind::PartnerSuspension => "suspension of the partner",
    }
}

const SHORT_LEN: usize = 6;
/// Number of characters of a score with four decimal places.
const SHORT_SCORE_LEN: usize = 6;
/// Number of characters of an id after its prefix and the underscore.
const ID_LEN: usize = 26;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_second() {
        assert_eq!(when(&Timestamp::from_millis(1_767_323_045_678)), "2026-01-02 03:04:05 UTC");
    }

    #[test]
    fn a_score_has_at_most_four_decimal_places() {
        assert_eq!(["1", "0.7500"].map(short_score), ["1", "0.7500"]);
        assert_eq!(short_score("0.749999999999999999"), "0.7499…");
    }

    #[test]
    fn long_ids_are_shortened() {
        assert_eq!(short_id("env_01h455vb4pex5vsknk084sn02q"), "env_…4sn02q");
        for id in ["wh_1", "nobody", "é_ééééééééé"] {
            assert_eq!(short_id(id), id);
        }
        let text = "wh_01h455vb4pex5vsknk084sn02q of per_minute=20000";
        assert_eq!(short_ids(text), "wh_…\u{2060}4sn02q of per_minute=20000");
    }

    #[test]
    fn sizes_are_written_in_megabytes() {
        assert_eq!(megabytes(479_232), "0.4 MB");
        assert_eq!(megabytes(12_345_678_901), "12,345.6 MB");
    }

    #[test]
    fn long_numbers_have_separators() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
    }
}
