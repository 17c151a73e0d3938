//! Secrets at rest. A wrapped secret is `[format = 1][version of the key-encryption key, 32 bits][nonce, 12 bytes]`
//! and then ciphertext and tag of AES-256-GCM (NIST SP 800-38D). Its associated data names the place that it is
//! stored at and the version, so that a blob moved to another row decrypts nowhere.
//!
//! Nonces are random, so one key encrypts at most 2^32 secrets (SP 800-38D, section 8.3): identities and webhook
//! webhooks come nowhere near, and a new version starts anew.

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{Aead, Payload},
};
use sealpost_domain::Wrapped;
use zeroize::Zeroizing;

use crate::{Keyring, WalletError, binding::length_prefixed, random};

/// Where a wrapped secret is stored, and the only place where it decrypts.
pub(crate) struct Place<'a> {
    pub(crate) table: &'static str,
    pub(crate) row: &'a [u8],
    pub(crate) column: &'static str,
}

/// The version of the key-encryption key that this secret is encrypted under; `None` where the format is unknown.
pub fn kek_version(wrapped: &Wrapped) -> Option<u32> {
    Blob::parse(wrapped).map(|blob| blob.kek_version)
}

impl Keyring {
    pub(crate) fn wrap(&self, place: &Place<'_>, secret: &[u8]) -> Result<Wrapped, WalletError> {
        self.wrap_under(self.newest(), place, secret)
    }

    pub(crate) fn wrap_under(
        &self,
        version: u32,
        place: &Place<'_>,
        secret: &[u8],
    ) -> Result<Wrapped, WalletError> {
        let key = self.require(version)?;
        let nonce = random::<NONCE_LEN>()?;
        let aad = place.associated_data(version);
        let ciphertext = encrypt(&key, &nonce, &aad, secret).ok_or(WalletError::NotSealable)?;
        let blob = [&[FORMAT], version.to_be_bytes().as_slice(), &nonce, &ciphertext].concat();
        Ok(Wrapped(blob))
    }

    pub(crate) fn unwrap(
        &self,
        place: &Place<'_>,
        wrapped: &Wrapped,
    ) -> Result<Zeroizing<Vec<u8>>, WalletError> {
        let blob = Blob::parse(wrapped).ok_or(WalletError::UnknownFormat)?;
        let key = self.require(blob.kek_version)?;
        let aad = place.associated_data(blob.kek_version);
        decrypt(&key, blob.nonce, &aad, blob.ciphertext).ok_or(WalletError::NotDecryptable)
    }
}

impl Place<'_> {
    fn associated_data(&self, version: u32) -> Vec<u8> {
        let version = version.to_be_bytes();
        length_prefixed(&[self.table.as_bytes(), self.row, self.column.as_bytes(), &version])
    }
}

/// The parts of a wrapped secret.
struct Blob<'a> {
    kek_version: u32,
    nonce: &'a [u8; NONCE_LEN],
    ciphertext: &'a [u8],
}

impl<'a> Blob<'a> {
    fn parse(wrapped: &'a Wrapped) -> Option<Self> {
        let (&[FORMAT], rest) = wrapped.0.split_first_chunk()? else {
            return None;
        };
        let (version, rest) = rest.split_first_chunk()?;
        let (nonce, ciphertext) = rest.split_first_chunk()?;
        Some(Self { kek_version: u32::from_be_bytes(*version), nonce, ciphertext })
    }
}

fn encrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    plaintext: &[u8],
) -> Option<Vec<u8>> {
    Aes256Gcm::new(key.into()).encrypt(nonce.into(), Payload { msg: plaintext, aad }).ok()
}

fn decrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let payload = Payload { msg: ciphertext, aad };
    Aes256Gcm::new(key.into()).decrypt(nonce.into(), payload).ok().map(Zeroizing::new)
}

const FORMAT: u8 = 1;
const NONCE_LEN: usize = 12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACE: Place<'_> = Place { table: "api_keys", row: b"row", column: "root" };

    fn keyring() -> Keyring {
        Keyring::parse(
            "1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=,2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=",
        )
        .unwrap()
    }

    /// `McGrew` and Viega, "The Galois/Counter Mode of Operation", test case 16.
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
        let new = keyring.wrap(&PLACE, b"secret").unwrap();
        let old = keyring.wrap_under(1, &PLACE, b"secret").unwrap();
        assert_eq!((kek_version(&new), kek_version(&old)), (Some(2), Some(1)));
        for wrapped in [new, old] {
            assert_eq!(*keyring.unwrap(&PLACE, &wrapped).unwrap(), b"secret");
        }
        let missing = WalletError::UnknownKekVersion { version: 3 };
        assert_eq!(keyring.wrap_under(3, &PLACE, b"secret").map(|_| ()), Err(missing));
    }

    #[test]
    fn a_secret_decrypts_in_its_own_place_alone() {
        let keyring = keyring();
        let wrapped = keyring.wrap(&PLACE, b"secret").unwrap();
        for place in [
            Place { table: "webhooks", ..PLACE },
            Place { row: b"another", ..PLACE },
            Place { column: "secret", ..PLACE },
            Place { table: "api_keysrow", row: b"", ..PLACE },
        ] {
            let refused = keyring.unwrap(&place, &wrapped).map(|_| ());
            assert_eq!(refused, Err(WalletError::NotDecryptable));
        }
    }

    #[test]
    fn what_is_no_blob_is_an_unknown_format() {
        for blob in [&[][..], &[1], &[1; 16], &[2; 60]] {
            let wrapped = Wrapped(blob.to_vec());
            assert_eq!(kek_version(&wrapped), None);
            let refused = keyring().unwrap(&PLACE, &wrapped).map(|_| ());
            assert_eq!(refused, Err(WalletError::UnknownFormat));
        }
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_refused(secret in prop::collection::vec(any::<u8>(), 0..64)) {
            let keyring = keyring();
            let wrapped = keyring.wrap(&PLACE, &secret).unwrap();
            prop_assert_eq!(&*keyring.unwrap(&PLACE, &wrapped).unwrap(), &secret);
            for bit in 0..wrapped.0.len() * 8 {
                let mut changed = wrapped.clone();
                changed.0[bit / 8] ^= 1 << (bit % 8);
                prop_assert!(keyring.unwrap(&PLACE, &changed).is_err());
            }
        }
    }
}
