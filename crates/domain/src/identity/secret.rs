//! The stored forms of secrets: hashes and ciphertexts.

use std::fmt;

/// SHA-256 of a login secret, a recovery code, a bearer token or the secret of an invite. A slow password hash is not
/// needed, because these secrets have 256 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// Returns the first eight bytes of the hash as hexadecimal text: a name that distinguishes the sessions of an
    /// account, and that does not allow a login.
    pub fn short_name(&self) -> String {
        hex::encode(&self.0[..NAME_LEN])
    }

    /// Returns the lowest and the highest hash with the given [short name](Self::short_name), to look up a session by
    /// this name. `None` if `name` is not 16 hexadecimal digits.
    pub fn range_of(name: &str) -> Option<(Self, Self)> {
        let (mut lowest, mut highest) = ([0; 32], [0xff; 32]);
        hex::decode_to_slice(name, &mut lowest[..NAME_LEN]).ok()?;
        highest[..NAME_LEN].copy_from_slice(&lowest[..NAME_LEN]);
        Some((Self(lowest), Self(highest)))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// A secret, encrypted by the wallet crate under a key-encryption key. Only the wallet crate can decrypt the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Wrapped(pub Vec<u8>);

impl fmt::Debug for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wrapped({} bytes)", self.0.len())
    }
}

/// Number of hash bytes in [`TokenHash::short_name`].
const NAME_LEN: usize = 8;
