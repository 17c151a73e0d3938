//! Identities. All keys of an identity are derived from its root, a random secret.
//!
//! The signing key has no versions: its public key is part of the DID, which never changes. The sealing key (the key
//! pair to which messages are encrypted) has versions. Each version can be derived again to open old envelopes.

use std::fmt;

use ed25519_dalek::Signer as _;
use sealpost_domain::{Did, Fingerprint, OwnedKey, Suite, Wrapped};
use zeroize::Zeroizing;

use super::{derivation, keyring::Keyring, locked_pool::LockedSecret, wrapping::StorageLocation};
use crate::{
    SealingPublicKey, WalletError, entropy, keyed_hash,
    sealing::SealingKey,
    signing::{did, signature::SigningKey},
};

/// The 32 random bytes from which the keys of an identity derive. Deleting the encrypted root from the database
/// destroys the identity and makes all envelopes sealed to the identity unreadable.
pub struct Root(RootBytes);

enum RootBytes {
    /// The root of a new identity, used only while the identity is created.
    New(Zeroizing<[u8; 32]>),
    /// A decrypted root in locked memory, which the operating system does not swap to disk.
    Held(LockedSecret),
}

impl Root {
    /// Generates the root of a new identity.
    pub fn generate() -> Result<Self, WalletError> {
        let mut root = Zeroizing::new([0; 32]);
        entropy::fill(root.as_mut_slice())?;
        Ok(Self(RootBytes::New(root)))
    }

    /// Encrypts this root under the newest key-encryption key. The result decrypts only with the same API key id and
    /// account id. So an attacker who can only write to the database cannot move the API key to another account.
    pub fn wrap(&self, keyring: &Keyring, key: &OwnedKey) -> Result<Wrapped, WalletError> {
        keyring.wrap(&location(&row_of(key)), self.copy().as_slice())
    }

    /// Decrypts a root. Fails with [`WalletError::NotDecryptable`] unless [`Root::wrap`] encrypted the root with the
    /// same `key`.
    pub fn unwrap(
        keyring: &Keyring,
        key: &OwnedKey,
        wrapped: &Wrapped,
    ) -> Result<Self, WalletError> {
        Self::unwrap_at(keyring, &row_of(key), wrapped)
    }

    /// Converts an encrypted root of an earlier format, which is bound only to the id of the API key. The result is
    /// also bound to the account in `key`, as [`Root::unwrap`] requires. Does not verify that this account owns the API
    /// key. Returns `None` for a root that is already bound to the account.
    pub fn adopt(
        keyring: &Keyring,
        key: &OwnedKey,
        wrapped: &Wrapped,
    ) -> Result<Option<Wrapped>, WalletError> {
        if Self::unwrap(keyring, key, wrapped).is_ok() {
            return Ok(None);
        }
        Self::unwrap_at(keyring, key.id.as_bytes(), wrapped)?.wrap(keyring, key).map(Some)
    }

    fn unwrap_at(keyring: &Keyring, row: &[u8], wrapped: &Wrapped) -> Result<Self, WalletError> {
        let bytes = keyring.unwrap(&location(row), wrapped)?;
        let root: &[u8; 32] =
            bytes.as_slice().try_into().ok().ok_or(WalletError::NotDecryptable)?;
        Ok(Self(RootBytes::Held(keyring.hold(root))))
    }

    /// Returns a copy of the root for one operation. The copy is zeroized on drop.
    fn copy(&self) -> Zeroizing<[u8; 32]> {
        match &self.0 {
            RootBytes::New(bytes) => bytes.clone(),
            RootBytes::Held(held) => held.copy(),
        }
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root(..)")
    }
}

/// An identity that can sign and open envelopes. Contains the decrypted root, the secret from which all keys of the
/// identity are derived.
pub struct Identity {
    root: Root,
    signing: SigningKey,
    did: Did,
}

impl Identity {
    /// Derives the signing key and the DID. Sealing keys are derived on demand.
    pub fn new(root: Root) -> Result<Self, WalletError> {
        let signing = SigningKey::from_bytes(&*derivation::signing_seed(&root.copy())?);
        let did = did::encode(&signing.verifying_key());
        Ok(Self { root, signing, did })
    }

    /// Returns the identity's `did:key`.
    pub fn did(&self) -> Did {
        self.did.clone()
    }

    /// Derives the public key to which envelopes for this identity are sealed. Cache this key: the derivation takes a
    /// third of the time that it takes to seal an envelope.
    pub fn sealing_public_key(
        &self,
        suite: Suite,
        version: u32,
    ) -> Result<SealingPublicKey, WalletError> {
        Ok(self.sealing_key(suite, version)?.public_key(version))
    }

    pub(crate) fn sealing_key(
        &self,
        suite: Suite,
        version: u32,
    ) -> Result<SealingKey, WalletError> {
        let seed = derivation::sealing_seed(&self.root.copy(), suite, version)?;
        SealingKey::from_seed(suite, &seed).ok_or(WalletError::NotDerivable)
    }

    /// Returns an HMAC-SHA256 over the parts of a request, to recognise a repeated request. The HMAC key is a secret of
    /// this identity, so a reader of the database cannot test guesses about the parts.
    pub fn fingerprint(&self, parts: &[&[u8]]) -> Result<Fingerprint, WalletError> {
        let key = derivation::fingerprint_seed(&self.root.copy())?;
        keyed_hash(&key, parts).map(Fingerprint)
    }

    pub(crate) fn sign(&self, statement: &[u8]) -> Result<[u8; 64], WalletError> {
        let signature = self.signing.try_sign(statement).ok().ok_or(WalletError::NotSealable)?;
        Ok(signature.to_bytes())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}

fn row_of(key: &OwnedKey) -> Vec<u8> {
    [key.id.as_bytes().as_slice(), key.account_id.as_bytes()].concat()
}

fn location(row: &[u8]) -> StorageLocation<'_> {
    StorageLocation { table: "api_keys", row, column: "root" }
}

#[cfg(test)]
impl Identity {
    /// Creates an identity with a fixed root: 32 times `byte`.
    pub(crate) fn from_byte(byte: u8) -> Self {
        Self::new(Root(RootBytes::New(Zeroizing::new([byte; 32])))).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{AccountId, ApiKeyId, Timestamp};

    use super::*;

    #[test]
    fn a_root_of_an_earlier_version_is_bound_to_its_owner() {
        let keyring = Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap();
        let now = Timestamp::from_millis(1);
        let id = ApiKeyId::new(now, [1; 10]);
        let [key, other] =
            [2, 3].map(|byte| OwnedKey { id, account_id: AccountId::new(now, [byte; 10]) });
        let old = keyring.wrap(&location(id.as_bytes()), &[7; 32]).unwrap();
        assert!(Root::unwrap(&keyring, &key, &old).is_err());
        let adopted = Root::adopt(&keyring, &key, &old).unwrap().unwrap();
        assert_eq!(*Root::unwrap(&keyring, &key, &adopted).unwrap().copy(), [7; 32]);
        assert!(Root::unwrap(&keyring, &other, &adopted).is_err());
        assert_eq!(Root::adopt(&keyring, &key, &adopted), Ok(None));
        assert!(Root::adopt(&keyring, &other, &adopted).is_err());
    }

    #[test]
    fn a_fingerprint_depends_on_all_parts_and_the_identity() {
        let print = |byte, parts: &[&[u8]]| Identity::from_byte(byte).fingerprint(parts).unwrap();
        assert_eq!(print(7, &[b"bob", b"hello"]), print(7, &[b"bob", b"hello"]));
        for other in [&[b"bobh".as_slice(), b"ello"][..], &[b"bob"], &[b"bob", b"hellp"]] {
            assert_ne!(print(7, &[b"bob", b"hello"]), print(7, other));
        }
        assert_ne!(print(7, &[b"bob"]), print(8, &[b"bob"]));
    }
}
