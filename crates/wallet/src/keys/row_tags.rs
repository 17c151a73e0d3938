//! Authenticates rows of the database and the sessions of operators with HMAC-SHA256. Each HMAC key is derived from one
//! version of the key-encryption key.
//!
//! The tag of a row is this version (32 bits, big endian), followed by the 32 bytes of the HMAC. A session needs no row
//! in the database: every node with the same key file computes the same authentication code of the session.

use sealpost_domain::ports::{RowAuthenticator, StoreError};
use subtle::ConstantTimeEq as _;

use super::{derivation, keyring::Keyring};
use crate::{WalletError, keyed_hash};

impl Keyring {
    /// Computes the authentication code of an operator's session from `parts`, which describe the session. The code is
    /// an HMAC, whose key is derived from the key-encryption key of this version.
    pub fn authenticate_operator_session(
        &self,
        version: u32,
        parts: &[&[u8]],
    ) -> Result<[u8; 32], WalletError> {
        let key = derivation::operator_session_seed(&*self.require(version)?)?;
        keyed_hash(&key, parts)
    }

    fn code(
        &self,
        version: u32,
        table: &str,
        columns: &[Vec<u8>],
    ) -> Result<[u8; 32], WalletError> {
        let key = derivation::row_tag_seed(&*self.require(version)?)?;
        let parts: Vec<&[u8]> =
            std::iter::once(table.as_bytes()).chain(columns.iter().map(Vec::as_slice)).collect();
        keyed_hash(&key, &parts)
    }
}

impl RowAuthenticator for Keyring {
    fn tag(&self, table: &'static str, columns: &[Vec<u8>]) -> Result<Vec<u8>, StoreError> {
        let version = self.newest();
        let code = self.code(version, table, columns).map_err(missing)?;
        Ok([version.to_be_bytes().as_slice(), &code].concat())
    }

    fn is_valid(
        &self,
        table: &'static str,
        columns: &[Vec<u8>],
        tag: &[u8],
    ) -> Result<bool, StoreError> {
        let Some((version, code)) = tag.split_first_chunk() else { return Ok(false) };
        let right = self.code(u32::from_be_bytes(*version), table, columns).map_err(missing)?;
        Ok(right.ct_eq(code).into())
    }

    fn newest_prefix(&self) -> [u8; 4] {
        self.newest().to_be_bytes()
    }
}

/// Converts an error of the keyring to [`StoreError::Unavailable`]. A missing key version is temporary, because a node
/// can add versions at run time.
fn missing(error: WalletError) -> StoreError {
    StoreError::Unavailable(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_session_depends_on_the_key_and_on_each_part() {
        let keyring = Keyring::from_bytes(&[(1, 1), (2, 2)]);
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

    #[test]
    fn a_tag_belongs_to_one_table_one_row_and_one_key() {
        let keyring = Keyring::from_bytes(&[(1, 1), (2, 2)]);
        let row = [b"ab".to_vec(), b"c".to_vec()];
        let tag = keyring.tag("sessions", &row).unwrap();
        assert_eq!(tag[..4], keyring.newest_prefix());
        let is_valid =
            |table, row: &[Vec<u8>], tag: &[u8]| keyring.is_valid(table, row, tag).unwrap();
        assert!(is_valid("sessions", &row, &tag));
        assert!(!is_valid("accounts", &row, &tag));
        assert!(!is_valid("sessions", &[b"a".to_vec(), b"bc".to_vec()], &tag));
        assert!(!is_valid("sessions", &row, &tag[..35]));
        assert!(!is_valid("sessions", &row, &[]));
        for bit in 0..tag.len() * 8 {
            let mut changed = tag.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!keyring.is_valid("sessions", &row, &changed).unwrap_or(false));
        }
        let other = Keyring::from_bytes(&[(2, 9)]);
        assert!(!other.is_valid("sessions", &row, &tag).unwrap());
    }

    #[test]
    fn a_tag_of_a_missing_version_cannot_be_checked() {
        let new = Keyring::from_bytes(&[(2, 2)]);
        let tag = new.tag("sessions", &[]).unwrap();
        let old = Keyring::from_bytes(&[(1, 1)]);
        assert!(matches!(old.is_valid("sessions", &[], &tag), Err(StoreError::Unavailable(_))));
    }
}
