//! Idempotent sends: the `Idempotency-Key` header chosen by the caller, and the fingerprint of the request. The
//! fingerprint detects the reuse of an idempotency key for another request.

use std::fmt;

/// The value of the header `Idempotency-Key`: 1 to 255 printable ASCII characters. Each sending API key has its own
/// idempotency keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(String);

/// The error for a text that is not a valid idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 255 printable ASCII characters")]
pub struct IdempotencyKeyFault;

impl IdempotencyKey {
    /// Parses the value of the header `Idempotency-Key`.
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyFault> {
        let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if (1..=255).contains(&text.len()) && printable {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdempotencyKeyFault)
        }
    }

    /// Returns the idempotency key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An HMAC-SHA256 over the content of a request. The HMAC key derives from the sender's root (the secret of its
/// identity), so a leaked database does not allow guesses about messages.
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
    fn keys_are_printable_and_of_bounded_length() {
        for good in ["a", "a b", "\"quoted\"", &"x".repeat(255)] {
            assert!(IdempotencyKey::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a\tb", "ü", &"x".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad}");
        }
    }
}
