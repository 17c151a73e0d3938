//! What is stored in place of a secret.

use std::fmt;

/// SHA-256 of a token's text: what is stored of a login secret or a session token, which have 256 random bits
/// each and so need no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenHash(pub [u8; 32]);

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// A secret encrypted by the wallet under a key-encryption key; opaque to everybody else.
#[derive(Clone, PartialEq, Eq)]
pub struct Wrapped(pub Vec<u8>);

impl fmt::Debug for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wrapped({} bytes)", self.0.len())
    }
}
