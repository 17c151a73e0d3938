//! Handles: unique, readable names of API keys. Senders can use a handle instead of an API key id.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::FormatError;

/// A handle: a unique, readable name of an API key. It has 3 to 32 characters of `a-z 0-9 - _` and starts with a
/// letter. Upper case is converted to lower case. Names similar to an id, a secret or a DID are rejected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend("minLength" = 3, "maxLength" = 32, "pattern" = "^[a-zA-Z][a-zA-Z0-9_-]*$"))]
pub struct Handle(String);

impl Handle {
    /// Parses a handle. Converts upper case to lower case.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let lowered = text.to_ascii_lowercase();
        if !(3..=32).contains(&lowered.chars().count()) {
            return Err(LENGTH);
        }
        let allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if !lowered.starts_with(|c: char| c.is_ascii_lowercase()) || !lowered.chars().all(allowed) {
            return Err(CHARACTERS);
        }
        let head = lowered.split(['_', '-']).next().unwrap_or_default();
        if RESERVED.contains(&head) && (head == "did" || lowered.contains(&format!("{head}_"))) {
            return Err(LIKE_AN_ID);
        }
        Ok(Self(lowered))
    }

    /// Returns the handle as text, without `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const CHARACTERS: FormatError =
    FormatError("must start with a letter and contain only a-z, 0-9, - and _");
const LENGTH: FormatError = FormatError("must have 3 to 32 characters");
const LIKE_AN_ID: FormatError = FormatError("must not look like an id, a secret or a DID");
/// Prefixes of ids, secrets and DIDs, in use or planned. A handle must not look like an id, a secret or a DID.
const RESERVED: &[&str] = &[
    "acct", "ak", "asmt", "att", "bdg", "chn", "did", "env", "gov", "iss", "ls", "req", "st", "wh",
    "whpk", "whsec", "whsk",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_case_is_converted() {
        assert_eq!(Handle::parse("Bob-1_x").unwrap().as_str(), "bob-1_x");
    }

    #[test]
    fn texts_outside_the_rules_are_rejected() {
        for (text, fault) in [
            ("ab", LENGTH),
            ("a23456789012345678901234567890123", LENGTH),
            ("1abc", CHARACTERS),
            ("-abc", CHARACTERS),
            ("a.bc", CHARACTERS),
            ("bøb", CHARACTERS),
            ("ak_1", LIKE_AN_ID),
            ("asmt_01h455vb4pex5vsknk084sn02q", LIKE_AN_ID),
            ("whsec_abc", LIKE_AN_ID),
            ("ST_abc", LIKE_AN_ID),
            ("did", LIKE_AN_ID),
            ("did-key-z6mk", LIKE_AN_ID),
        ] {
            assert_eq!(Handle::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_name_may_start_with_the_letters_of_a_prefix() {
        for text in ["akira", "st-john", "didier", "whale_1", "environment"] {
            assert!(Handle::parse(text).is_ok(), "{text}");
        }
    }
}
