//! Authentication codes for the sessions of operators. Every node with the same key file computes the same codes, so a
//! session needs no row in the database.

use super::{derivation, keyring::Keyring};
use crate::{WalletError, keyed_hash};

impl Keyring {
    /// Computes the authentication code of an operator's session. `parts` are byte strings that describe the session.
    /// The code is an HMAC, whose key is derived from the key-encryption key of this version.
    pub fn authenticate_operator_session(
        &self,
        version: u32,
        parts: &[&[u8]],
    ) -> Result<[u8; 32], WalletError> {
        let key = derivation::operator_session_seed(&*self.require(version)?)?;
        keyed_hash(&key, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_depends_on_the_key_and_on_each_part() {
        let keyring = Keyring::of_bytes(&[(1, 1), (2, 2)]);
        let code = |version, parts: &[&[u8]]| {
            keyring.authenticate_operator_session(version, parts).unwrap()
        };
        let first = code(1, &[b"ab", b"c"]);
        assert_eq!(first, code(1, &[b"ab", b"c"]));
        for other in [code(2, &[b"ab", b"c"]), code(1, &[b"a", b"bc"]), code(1, &[b"abc"])] {
            assert_ne!(first, other);
        }
        assert!(keyring.authenticate_operator_session(3, &[]).is_err());
    }
}
