//! X-Wing (draft-connolly-cfrg-xwing-kem) as a KEM of `hpke`, with two implementations. The module `fast` is used if
//! the processor supports its instructions, otherwise the portable implementation of `hpke`. The choice is made when a
//! key is parsed. The tests verify that both implementations return the same bytes.

mod fast;

use hpke::{
    Deserializable, HpkeError, Kem, Serializable, hybrid_array::sizes::U32, kem::SharedSecret,
    rand_core::CryptoRng,
};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

/// X-Wing as a KEM type of `hpke`.
pub(crate) struct XWing;

type Portable = hpke::kem::XWing;
type Encapsulation = <Portable as Kem>::EncappedKey;

/// A public key of X-Wing: ML-KEM-768's encapsulation key and X25519's public key, 1,216 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    Fast(fast::PublicKey),
    Portable(Box<<Portable as Kem>::PublicKey>),
}

/// A private key of X-Wing: the 32-byte seed of the ML-KEM-768 and the X25519 private key. Zeroized on drop.
#[derive(Clone)]
pub(crate) enum PrivateKey {
    Fast(fast::PrivateKey),
    Portable(Box<<Portable as Kem>::PrivateKey>),
}

impl Kem for XWing {
    type PublicKey = PublicKey;
    type PrivateKey = PrivateKey;
    type EncappedKey = Encapsulation;
    type NSecret = U32;
    const KEM_ID: u16 = Portable::KEM_ID;

    fn sk_to_pk(key: &PrivateKey) -> PublicKey {
        match key {
            PrivateKey::Fast(key) => PublicKey::Fast(key.public_key()),
            PrivateKey::Portable(key) => PublicKey::Portable(Box::new(Portable::sk_to_pk(key))),
        }
    }

    fn derive_keypair(ikm: &[u8]) -> (PrivateKey, PublicKey) {
        let (key, public) = Portable::derive_keypair(ikm);
        (PrivateKey::Portable(Box::new(key)), PublicKey::Portable(Box::new(public)))
    }

    fn decap(
        key: &PrivateKey,
        sender: Option<&PublicKey>,
        encapsulation: &Encapsulation,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        match (key, sender) {
            (_, Some(_)) => Err(HpkeError::DecapError),
            (PrivateKey::Fast(key), None) => {
                let secret = key.decapsulate(&encapsulation.to_bytes().0);
                secret.map(|secret| SharedSecret((*secret).into())).ok_or(HpkeError::DecapError)
            }
            (PrivateKey::Portable(key), None) => {
                let secret = Portable::decap(key, None, encapsulation)?;
                Ok(SharedSecret(secret.0))
            }
        }
    }

    fn encap_with_rng(
        key: &PublicKey,
        sender: Option<(&PrivateKey, &PublicKey)>,
        rng: &mut impl CryptoRng,
    ) -> Result<(SharedSecret<Self>, Encapsulation), HpkeError> {
        match (key, sender) {
            (_, Some(_)) => Err(HpkeError::EncapError),
            (PublicKey::Fast(key), None) => {
                let mut randomness = Zeroizing::new([0; fast::RANDOMNESS_LEN]);
                rng.fill_bytes(randomness.as_mut_slice());
                let (secret, encapsulation) =
                    key.encapsulate(&randomness).ok_or(HpkeError::EncapError)?;
                let encapsulation = Encapsulation::from_bytes(&encapsulation)?;
                Ok((SharedSecret((*secret).into()), encapsulation))
            }
            (PublicKey::Portable(key), None) => {
                let (secret, encapsulation) = Portable::encap_with_rng(key, None, rng)?;
                Ok((SharedSecret(secret.0), encapsulation))
            }
        }
    }
}

impl Serializable for PublicKey {
    type OutputSize = <<Portable as Kem>::PublicKey as Serializable>::OutputSize;

    fn write_exact(&self, out: &mut [u8]) {
        match self {
            Self::Fast(key) => out.copy_from_slice(key.as_bytes()),
            Self::Portable(key) => key.write_exact(out),
        }
    }
}

impl Deserializable for PublicKey {
    /// Parses a public key. Rejects coefficients that are not reduced (FIPS 203, section 7.2).
    fn from_bytes(bytes: &[u8]) -> Result<Self, HpkeError> {
        let key = <Portable as Kem>::PublicKey::from_bytes(bytes)?;
        if fast::is_available() {
            return Ok(Self::Fast(fast::PublicKey::new(&key.to_bytes().0)));
        }
        Ok(Self::Portable(Box::new(key)))
    }
}

impl Serializable for PrivateKey {
    type OutputSize = <<Portable as Kem>::PrivateKey as Serializable>::OutputSize;

    fn write_exact(&self, out: &mut [u8]) {
        match self {
            Self::Fast(key) => out.copy_from_slice(key.as_bytes()),
            Self::Portable(key) => key.write_exact(out),
        }
    }
}

impl Deserializable for PrivateKey {
    fn from_bytes(bytes: &[u8]) -> Result<Self, HpkeError> {
        match fast::PrivateKey::new(bytes) {
            Some(key) if fast::is_available() => Ok(Self::Fast(key)),
            _ => <Portable as Kem>::PrivateKey::from_bytes(bytes).map(Box::new).map(Self::Portable),
        }
    }
}

impl ConstantTimeEq for PrivateKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        let bytes = |key: &Self| Zeroizing::new(key.to_bytes().0);
        bytes(self).as_slice().ct_eq(bytes(other).as_slice())
    }
}

#[cfg(test)]
mod tests;
