//! X-Wing with `graviola`: ML-KEM-768 and X25519 in assembler, most of it formally verified. Sealing a message takes 50
//! µs, instead of 130 µs with the portable implementation. `graviola` panics on processors without AVX2 and related
//! instructions, so call [`is_available`] first.
//!
//! X-Wing needs key generation from a given seed and encapsulation with given randomness. For ML-KEM, the functions of
//! `graviola` that accept such inputs are undocumented. If an update of `graviola` changes them, the build or the test
//! vectors fail.

use graviola::key_agreement::{
    mlkem768::{DecapKey, EncapKey, Message},
    x25519::{PublicKey as X25519Public, StaticPrivateKey as X25519Private},
};
use sha3::{Digest, Sha3_256};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use zeroize::Zeroizing;

/// Returns whether the processor has the instructions that `graviola` needs. Cheap enough for every call.
pub(super) fn is_available() -> bool {
    graviola::util::is_cpu_supported()
}

/// A public key in its serialised form. Each use parses the bytes again, which takes 0.2 µs. A cached parsed key would
/// save less than 2 µs per use, but take five times the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey(Box<[u8; PUBLIC_KEY_LEN]>);

/// The 32-byte seed of a private key. Each use expands the seed to the private key, which takes less time than the
/// operation itself.
#[derive(Clone)]
pub(crate) struct PrivateKey(Secret);

type Secret = Zeroizing<[u8; 32]>;

impl PublicKey {
    /// Wraps the bytes without validation. [`PublicKey::encapsulate`] validates them.
    pub(super) fn new(bytes: &[u8; PUBLIC_KEY_LEN]) -> Self {
        Self(Box::new(*bytes))
    }

    pub(super) fn as_bytes(&self) -> &[u8; PUBLIC_KEY_LEN] {
        &self.0
    }

    /// Returns the shared secret and its encapsulation, like the function `EncapsulateDerand` of the X-Wing draft.
    /// `None` if the bytes are not a valid public key.
    pub(super) fn encapsulate(
        &self,
        randomness: &[u8; RANDOMNESS_LEN],
    ) -> Option<(Secret, [u8; ENCAPSULATION_LEN])> {
        let (ml_kem_key, x25519_key) = self.0.split_first_chunk()?;
        let (message, ephemeral) = randomness.split_first_chunk()?;
        let key = EncapKey::from_bytes(ml_kem_key).ok()?;
        let (ml_kem_secret, ml_kem_part) = key.encaps_internal(Message(*message));

        let ephemeral = X25519Private::from_array(ephemeral.first_chunk()?);
        let x25519_part = ephemeral.public_key().as_bytes();
        let x25519_key = x25519_key.first_chunk()?;
        let agreed = agree(&ephemeral, x25519_key);

        let secret = combine(ml_kem_secret.as_ref(), &agreed, &x25519_part, x25519_key);
        Some((secret, join(ml_kem_part.as_ref(), &x25519_part)))
    }
}

impl PrivateKey {
    /// Copies the seed of a private key. Returns `None` for a wrong length.
    pub(super) fn new(seed: &[u8]) -> Option<Self> {
        let mut key = Self(Secret::default());
        let seed: &[u8; SEED_LEN] = seed.try_into().ok()?;
        key.0.copy_from_slice(seed);
        Some(key)
    }

    pub(super) fn as_bytes(&self) -> &[u8; SEED_LEN] {
        &self.0
    }

    pub(super) fn public_key(&self) -> PublicKey {
        let (ml_kem, x25519) = self.expand();
        let (ml_kem, x25519) = (ml_kem.encapsulation_key(), x25519.public_key());
        PublicKey(Box::new(join(&ml_kem.as_bytes(), &x25519.as_bytes())))
    }

    /// Returns the shared secret of an encapsulation. If the encapsulation was made for another key, returns a
    /// different secret and no error.
    pub(super) fn decapsulate(&self, encapsulation: &[u8; ENCAPSULATION_LEN]) -> Option<Secret> {
        let (ml_kem_part, x25519_part) = encapsulation.split_first_chunk::<ML_KEM_PART_LEN>()?;
        let x25519_part = x25519_part.first_chunk()?;
        let (ml_kem, x25519) = self.expand();
        let ml_kem_secret = ml_kem.decaps(&(*ml_kem_part).into());
        let agreed = agree(&x25519, x25519_part);
        let own = x25519.public_key().as_bytes();
        Some(combine(ml_kem_secret.as_ref(), &agreed, x25519_part, &own))
    }

    fn expand(&self) -> (DecapKey, X25519Private) {
        let mut expanded = Shake256::default().chain(self.0.as_slice()).finalize_xof();
        let (mut ml_kem, mut x25519) = (Zeroizing::new([0; 64]), Secret::default());
        expanded.read(ml_kem.as_mut_slice());
        expanded.read(x25519.as_mut_slice());
        (DecapKey::keygen_internal(&ml_kem), X25519Private::from_array(&x25519))
    }
}

/// Computes X25519. Returns zero for a public key of small order, for which `graviola` returns an error: X-Wing accepts
/// such keys, and the result of X25519 is zero for them.
fn agree(own: &X25519Private, other: &[u8; 32]) -> Secret {
    let agreed = own.diffie_hellman(&X25519Public::from_array(other));
    agreed.map_or_else(|_| Secret::default(), |agreed| Zeroizing::new(agreed.0))
}

fn combine(ml_kem: &[u8; 32], x25519: &[u8; 32], x25519_part: &[u8; 32], key: &[u8; 32]) -> Secret {
    let mut hash = Sha3_256::new();
    for part in [ml_kem.as_slice(), x25519, x25519_part, key, LABEL] {
        Digest::update(&mut hash, part);
    }
    Zeroizing::new(hash.finalize().0)
}

fn join<const N: usize>(ml_kem: &[u8], x25519: &[u8; 32]) -> [u8; N] {
    let mut joined = [0; N];
    for (to, from) in joined.iter_mut().zip(ml_kem.iter().chain(x25519)) {
        *to = *from;
    }
    joined
}

const SEED_LEN: usize = 32;
const PUBLIC_KEY_LEN: usize = 1216;
const ML_KEM_PART_LEN: usize = 1088;
const ENCAPSULATION_LEN: usize = 1120;
pub(super) const RANDOMNESS_LEN: usize = 64;
/// The label in the X-Wing draft: `\.//^\`.
const LABEL: &[u8] = br"\.//^\";
