//! Signs and verifies with Ed25519 (RFC 8032). `graviola` signs if it supports the processor, otherwise `ed25519-dalek`
//! signs. Both libraries give the same signatures, and both zeroize keys on drop, which `ring` does not.
//! `ed25519-dalek` always verifies.

use ed25519_dalek::{Signature, SignatureError, Signer, VerifyingKey};
use graviola::{signing::eddsa::Ed25519SigningKey as FastKey, util::is_cpu_supported};
use zeroize::Zeroizing;

/// An Ed25519 private key, in the forms of `ed25519-dalek` and `graviola`.
pub(crate) struct SigningKey {
    portable: ed25519_dalek::SigningKey,
    /// The key in the form of `graviola`. `None` on processors that `graviola` does not support, because `graviola`
    /// would panic there.
    fast: Option<FastKey>,
}

impl SigningKey {
    pub(crate) fn from_bytes(seed: &[u8; 32]) -> Self {
        let fast = if is_cpu_supported() { FastKey::from_bytes(seed).ok() } else { None };
        Self { portable: ed25519_dalek::SigningKey::from_bytes(seed), fast }
    }

    pub(crate) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.portable.to_bytes())
    }

    pub(crate) fn verifying_key(&self) -> VerifyingKey {
        self.portable.verifying_key()
    }
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, statement: &[u8]) -> Result<Signature, SignatureError> {
        match &self.fast {
            Some(fast) => Ok(Signature::from_bytes(&fast.sign(statement))),
            None => self.portable.try_sign(statement),
        }
    }
}

/// Returns whether `key` signed `statement`. RFC 8032 leaves open whether keys and nonces of small order are valid.
/// This check rejects such keys and nonces, because one such signature can be valid for many statements.
pub(crate) fn is_valid(key: &VerifyingKey, statement: &[u8], signature: &[u8; 64]) -> bool {
    key.verify_strict(statement, &Signature::from_bytes(signature)).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tests RFC 8032, section 7.1, tests 1 to 3. Each vector has a secret key, a public key, a message and a
    /// signature.
    #[test]
    fn the_rfc_8032_vectors_hold() {
        for [secret, public, message, signature] in VECTORS {
            let key = SigningKey::from_bytes(&array(secret));
            assert_eq!(hex::encode(key.verifying_key().as_bytes()), public);
            let message = hex::decode(message).unwrap();
            assert_eq!(hex::encode(key.sign(&message).to_bytes()), signature);
            assert!(is_valid(&key.verifying_key(), &message, &array(signature)));
            assert!(!is_valid(&key.verifying_key(), b"another", &array(signature)));
        }
    }

    proptest! {
        /// Tests that both implementations of Ed25519 give the same signature, and that the processor decides which one
        /// is used. Some of the signed texts are longer than one block of the hash function.
        #[test]
        fn every_signer_gives_the_same_signature(
            seed: [u8; 32],
            statement in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let key = SigningKey::from_bytes(&seed);
            prop_assert_eq!(key.fast.is_some(), is_cpu_supported());
            let portable = key.portable.sign(&statement);
            prop_assert_eq!(key.sign(&statement), portable);
            prop_assert_eq!(SigningKey { fast: None, ..key }.sign(&statement), portable);
        }
    }

    /// Tests a public key and a signature that satisfy the verification equation for every statement: the key and the
    /// signature's nonce point are the neutral element, and the signature's scalar is zero. The verification must
    /// reject this key and signature.
    #[test]
    fn a_key_of_small_order_verifies_nothing() {
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        let key = VerifyingKey::from_bytes(&neutral).unwrap();
        assert!(!is_valid(&key, b"anything", &signature));
    }

    fn array<const N: usize>(text: &str) -> [u8; N] {
        hex::decode(text).unwrap().try_into().unwrap()
    }

    const VECTORS: [[&str; 4]; 3] = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
    ];
}
