//! Encrypts ("wraps") secrets for the database with AES-256-GCM (NIST SP 800-38D).
//!
//! A wrapped secret has, in order:
//! - format 1, one byte
//! - version of the key-encryption key, 32 bits, big endian
//! - nonce, 12 bytes
//! - ciphertext and tag
//!
//! The associated data names the table, row and column of the secret, and the version of the key. A wrapped secret that
//! is moved to another row does not decrypt.
//!
//! Nonces are random, so one key may encrypt at most 2^32 secrets (SP 800-38D, section 8.3). Real databases stay far
//! below this number. The count starts again with each new version of the key.

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{Aead, Payload},
};
use sealpost_domain::Wrapped;
use zeroize::Zeroizing;

use super::keyring::Keyring;
use crate::{WalletError, part_list::length_prefixed, random};

/// The table, row and column in which an encrypted secret is stored. The secret does not decrypt for any other
/// location.
pub(crate) struct StorageLocation<'a> {
    pub(crate) table: &'static str,
    pub(crate) row: &'a [u8],
    pub(crate) column: &'static str,
}

/// Returns the version of the key-encryption key that encrypted a secret; `None` if the format is unknown.
pub fn kek_version(wrapped: &Wrapped) -> Option<u32> {
    WrappedParts::parse(wrapped).map(|parts| parts.kek_version)
}

impl Keyring {
    pub(crate) fn wrap(
        &self,
        location: &StorageLocation<'_>,
        secret: &[u8],
    ) -> Result<Wrapped, WalletError> {
        self.wrap_under(self.newest(), location, secret)
    }

    pub(crate) fn wrap_under(
        &self,
        version: u32,
        location: &StorageLocation<'_>,
        secret: &[u8],
    ) -> Result<Wrapped, WalletError> {
        let key = self.require(version)?;
        let nonce = random::<NONCE_LEN>()?;
        let aad = location.associated_data(version);
        let ciphertext = encrypt(&key, &nonce, &aad, secret).ok_or(WalletError::NotSealable)?;
        let parts = [&[FORMAT], version.to_be_bytes().as_slice(), &nonce, &ciphertext].concat();
        Ok(Wrapped(parts))
    }

    pub(crate) fn unwrap(
        &self,
        location: &StorageLocation<'_>,
        wrapped: &Wrapped,
    ) -> Result<Zeroizing<Vec<u8>>, WalletError> {
        let parts = WrappedParts::parse(wrapped).ok_or(WalletError::UnknownFormat)?;
        let key = self.require(parts.kek_version)?;
        let aad = location.associated_data(parts.kek_version);
        decrypt(&key, parts.nonce, &aad, parts.ciphertext).ok_or(WalletError::NotDecryptable)
    }
}

impl StorageLocation<'_> {
    fn associated_data(&self, version: u32) -> Vec<u8> {
        let version = version.to_be_bytes();
        length_prefixed(&[self.table.as_bytes(), self.row, self.column.as_bytes(), &version])
    }
}

/// The parsed parts of an encrypted secret.
struct WrappedParts<'a> {
    kek_version: u32,
    nonce: &'a [u8; NONCE_LEN],
    ciphertext: &'a [u8],
}

impl<'a> WrappedParts<'a> {
    fn parse(wrapped: &'a Wrapped) -> Option<Self> {
        let (&[FORMAT], rest) = wrapped.0.split_first_chunk()? else {
            return None;
        };
        let (version, rest) = rest.split_first_chunk()?;
        let (nonce, ciphertext) = rest.split_first_chunk()?;
        Some(Self { kek_version: u32::from_be_bytes(*version), nonce, ciphertext })
    }
}

/// Encrypts with AES-256-GCM. `None` if the plaintext is too long.
pub(crate) fn encrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    plaintext: &[u8],
) -> Option<Vec<u8>> {
    Aes256Gcm::new(key.into()).encrypt(nonce.into(), Payload { msg: plaintext, aad }).ok()
}

/// Decrypts with AES-256-GCM. `None` if the key, the nonce or the associated data is wrong, or if the ciphertext was
/// changed.
pub(crate) fn decrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let payload = Payload { msg: ciphertext, aad };
    Aes256Gcm::new(key.into()).decrypt(nonce.into(), payload).ok().map(Zeroizing::new)
}

const FORMAT: u8 = 1;
/// Length of a nonce in bytes.
pub(crate) const NONCE_LEN: usize = 12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOCATION: StorageLocation<'_> =
        StorageLocation { table: "api_keys", row: b"row", column: "root" };

    fn keyring() -> Keyring {
        Keyring::from_bytes(&[(1, 1), (2, 2)])
    }

    /// Tests AES-256-GCM with test case 16 of `McGrew` and Viega, "The Galois/Counter Mode of Operation".
    #[test]
    fn the_gcm_vector_holds() {
        let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
        let key = hex::decode(key).unwrap().try_into().unwrap();
        let nonce = hex::decode("cafebabefacedbaddecaf888").unwrap().try_into().unwrap();
        let aad = hex::decode("feedfacedeadbeeffeedfacedeadbeefabaddad2").unwrap();
        let plaintext = concat!(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72",
            "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let plaintext = hex::decode(plaintext).unwrap();
        let expected = concat!(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa",
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b",
        );
        let ciphertext = encrypt(&key, &nonce, &aad, &plaintext).unwrap();
        assert_eq!(hex::encode(&ciphertext), expected);
        assert_eq!(*decrypt(&key, &nonce, &aad, &ciphertext).unwrap(), plaintext);
    }

    #[test]
    fn the_newest_key_encrypts_and_older_ones_still_decrypt() {
        let keyring = keyring();
        let new = keyring.wrap(&LOCATION, b"secret").unwrap();
        let old = keyring.wrap_under(1, &LOCATION, b"secret").unwrap();
        assert_eq!((kek_version(&new), kek_version(&old)), (Some(2), Some(1)));
        for wrapped in [new, old] {
            assert_eq!(*keyring.unwrap(&LOCATION, &wrapped).unwrap(), b"secret");
        }
        let missing = WalletError::UnknownKekVersion { version: 3 };
        assert_eq!(keyring.wrap_under(3, &LOCATION, b"secret").map(|_| ()), Err(missing));
    }

    #[test]
    fn a_secret_decrypts_only_in_its_own_location() {
        let keyring = keyring();
        let wrapped = keyring.wrap(&LOCATION, b"secret").unwrap();
        for location in [
            StorageLocation { table: "webhooks", ..LOCATION },
            StorageLocation { row: b"another", ..LOCATION },
            StorageLocation { column: "secret", ..LOCATION },
            StorageLocation { table: "api_keysrow", row: b"", ..LOCATION },
        ] {
            let refused = keyring.unwrap(&location, &wrapped).map(|_| ());
            assert_eq!(refused, Err(WalletError::NotDecryptable));
        }
    }

    #[test]
    fn other_bytes_are_an_unknown_format() {
        for parts in [&[][..], &[1], &[1; 16], &[2; 60]] {
            let wrapped = Wrapped(parts.to_vec());
            assert_eq!(kek_version(&wrapped), None);
            let refused = keyring().unwrap(&LOCATION, &wrapped).map(|_| ());
            assert_eq!(refused, Err(WalletError::UnknownFormat));
        }
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_rejected(secret in prop::collection::vec(any::<u8>(), 0..64)) {
            let keyring = keyring();
            let wrapped = keyring.wrap(&LOCATION, &secret).unwrap();
            prop_assert_eq!(&*keyring.unwrap(&LOCATION, &wrapped).unwrap(), &secret);
            for bit in 0..wrapped.0.len() * 8 {
                let mut changed = wrapped.clone();
                changed.0[bit / 8] ^= 1 << (bit % 8);
                prop_assert!(keyring.unwrap(&LOCATION, &changed).is_err());
            }
        }
    }
}
