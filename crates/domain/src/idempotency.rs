//! Idempotent sends: the caller's own name for a request, and how it is told whether it is the same one.

use std::fmt;

/// An `Idempotency-Key`: 1 to 255 printable ASCII characters, unique for the key that sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(String);

/// A text that is no idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 255 printable ASCII characters")]
pub struct IdempotencyKeyFault;

impl IdempotencyKey {
    /// Checks a key as a caller gave it.
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyFault> {
        let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if (1..=255).contains(&text.len()) && printable {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdempotencyKeyFault)
        }
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A keyed hash of what a request asked for. Keyed by the sender's root, so that a leaked database does not let
/// anybody guess messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_printable_and_bounded() {
        for good in ["a", "a b", "\"quoted\"", &"x".repeat(255)] {
            assert!(IdempotencyKey::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a\tb", "ü", &"x".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad}");
        }
    }
}
