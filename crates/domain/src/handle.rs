//! Handles: the names by which senders may reach an identity.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// 3 to 32 of `a-z 0-9 - _`, starting with a letter, lower case, and never to be mistaken for an id or a DID.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend("minLength" = 3, "maxLength" = 32, "pattern" = "^[a-zA-Z][a-zA-Z0-9_-]*$"))]
pub struct Handle(String);

/// Why a text is no handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandleFault {
    /// A character outside `a-z 0-9 - _`, or no letter in front.
    #[error("must start with a letter and contain only a-z, 0-9, - and _")]
    Characters,
    /// Fewer than 3 or more than 32 characters.
    #[error("must have 3 to 32 characters")]
    Length,
    /// It could be taken for an id, a secret or a DID.
    #[error("must not look like an id or a DID")]
    Reserved,
}

impl Handle {
    /// Checks a handle as a caller gave it; upper case is lowered.
    pub fn parse(text: &str) -> Result<Self, HandleFault> {
        let lowered = text.to_ascii_lowercase();
        if !(3..=32).contains(&lowered.chars().count()) {
            return Err(HandleFault::Length);
        }
        let allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if !lowered.starts_with(|c: char| c.is_ascii_lowercase()) || !lowered.chars().all(allowed) {
            return Err(HandleFault::Characters);
        }
        let head = lowered.split(['_', '-']).next().unwrap_or_default();
        if RESERVED.contains(&head) && (head == "did" || lowered.contains(&format!("{head}_"))) {
            return Err(HandleFault::Reserved);
        }
        Ok(Self(lowered))
    }

    /// The handle's text, without an `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Every prefix of an id or a secret, those of later versions too, and the scheme of a DID.
const RESERVED: &[&str] = &[
    "acct", "ak", "asmt", "att", "bdg", "chn", "did", "env", "gov", "iss", "ls", "req", "st", "wh",
    "whpk", "whsec", "whsk",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_case_is_lowered() {
        assert_eq!(Handle::parse("Bob-1_x").unwrap().as_str(), "bob-1_x");
    }

    #[test]
    fn shapes_outside_the_rule_are_refused() {
        for (text, fault) in [
            ("ab", HandleFault::Length),
            ("a23456789012345678901234567890123", HandleFault::Length),
            ("1abc", HandleFault::Characters),
            ("-abc", HandleFault::Characters),
            ("a.bc", HandleFault::Characters),
            ("bøb", HandleFault::Characters),
            ("ak_1", HandleFault::Reserved),
            ("asmt_01h455vb4pex5vsknk084sn02q", HandleFault::Reserved),
            ("whsec_abc", HandleFault::Reserved),
            ("ST_abc", HandleFault::Reserved),
            ("did", HandleFault::Reserved),
            ("did-key-z6mk", HandleFault::Reserved),
        ] {
            assert_eq!(Handle::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_name_that_merely_begins_like_a_prefix_is_fine() {
        for text in ["akira", "st-john", "didier", "whale_1", "environment"] {
            assert!(Handle::parse(text).is_ok(), "{text}");
        }
    }
}
