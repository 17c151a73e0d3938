//! HPKE (RFC 9180) in base mode. The KEM is X25519 (section 7.1) or X-Wing (draft-connolly-cfrg-xwing-kem, KEM id
//! 0x647a), the KDF is HKDF-SHA256. This module encrypts single messages with AES-256-GCM. The module `exporter`
//! derives the secrets of channels, and `x_wing` contains the X-Wing implementations. No other module uses types of the
//! crate `hpke`.
//!
//! A private key consists of 32 derived bytes: the scalar of X25519, or the seed of X-Wing. HPKE's `DeriveKeyPair` is
//! not used, because its X-Wing variant is a draft that has changed before. Another change would give existing
//! identities other keys.

pub(super) mod exporter;
mod x_wing;

use std::{fmt, sync::Arc};

use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::AeadTag, inout::InOutBuf,
    single_shot_open_inout_detached, single_shot_seal_inout_detached_with_rng,
};
use sealpost_domain::Suite;
use zeroize::Zeroizing;

use crate::entropy::Entropy;

pub(crate) use self::x_wing::XWing as Hybrid;

pub(crate) type Classic = hpke::kem::X25519HkdfSha256;
pub(crate) type Kdf = hpke::kdf::HkdfSha256;
pub(crate) type Cipher = hpke::aead::AesGcm256;

/// The public key to which envelopes for an identity are sealed, in one cipher suite and key version. Parsed once and
/// cheap to clone.
#[derive(Clone)]
pub struct SealingPublicKey {
    version: u32,
    key: PublicKey,
}

#[derive(Clone)]
enum PublicKey {
    Classic(<Classic as Kem>::PublicKey),
    /// An X-Wing key. Shared, because it has more than 1,200 bytes.
    Hybrid(Arc<<Hybrid as Kem>::PublicKey>),
}

impl SealingPublicKey {
    /// Returns the cipher suite of the key. Only a key of the hybrid suite can receive channels.
    pub fn suite(&self) -> Suite {
        match self.key {
            PublicKey::Classic(_) => Suite::Classic,
            PublicKey::Hybrid(_) => Suite::Hybrid,
        }
    }

    /// Returns the version of the sealing key, from 1.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the key as its KEM serialises it: 32 bytes for X25519, 1,216 for X-Wing.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.key {
            PublicKey::Classic(key) => key.to_bytes().to_vec(),
            PublicKey::Hybrid(key) => key.to_bytes().to_vec(),
        }
    }

    /// Seals a message. Returns `header`, encapsulation, ciphertext and tag; `None` if the encryption fails.
    pub(crate) fn seal(
        &self,
        header: &[u8],
        context: &Context<'_>,
        message: &[u8],
        entropy: &mut Entropy,
    ) -> Option<Vec<u8>> {
        match &self.key {
            PublicKey::Classic(key) => seal::<Classic>(key, header, context, message, entropy),
            PublicKey::Hybrid(key) => seal::<Hybrid>(key, header, context, message, entropy),
        }
    }
}

impl fmt::Debug for SealingPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingPublicKey")
            .field("suite", &self.suite())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A private key that opens envelopes. Zeroized on drop.
pub(crate) enum SealingKey {
    Classic(<Classic as Kem>::PrivateKey),
    Hybrid(Box<<Hybrid as Kem>::PrivateKey>),
}

impl SealingKey {
    pub(crate) fn from_seed(suite: Suite, seed: &[u8; 32]) -> Option<Self> {
        match suite {
            Suite::Classic => Deserializable::from_bytes(seed).ok().map(Self::Classic),
            Suite::Channel | Suite::Hybrid => {
                Deserializable::from_bytes(seed).ok().map(Box::new).map(Self::Hybrid)
            }
        }
    }

    pub(crate) fn public_key(&self, version: u32) -> SealingPublicKey {
        let key = match self {
            Self::Classic(key) => PublicKey::Classic(Classic::sk_to_pk(key)),
            Self::Hybrid(key) => PublicKey::Hybrid(Arc::new(Hybrid::sk_to_pk(key))),
        };
        SealingPublicKey { version, key }
    }

    /// Opens sealed bytes after their header: encapsulation, ciphertext and tag. Returns `None` if any part is wrong.
    pub(crate) fn open(&self, context: &Context<'_>, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        match self {
            Self::Classic(key) => open::<Classic>(key, context, sealed),
            Self::Hybrid(key) => open::<Hybrid>(key, context, sealed),
        }
    }
}

/// The inputs that must be equal when a message is sealed and when it is opened. `info` is an input of HPKE's key
/// schedule; `aad` is authenticated together with the message.
pub(crate) struct Context<'a> {
    pub(crate) info: &'a [u8],
    pub(crate) aad: &'a [u8],
}

/// Seals a message with one KEM. Encrypts in place, in a buffer of the final size. Zeroizes the buffer if the
/// encryption fails.
fn seal<K: Kem>(
    recipient: &K::PublicKey,
    header: &[u8],
    context: &Context<'_>,
    message: &[u8],
    entropy: &mut Entropy,
) -> Option<Vec<u8>> {
    let message_start = header.len().checked_add(K::EncappedKey::size())?;
    let message_end = message_start.checked_add(message.len())?;
    let end = message_end.checked_add(AeadTag::<Cipher>::size())?;
    let mut sealed = Zeroizing::new(Vec::with_capacity(end));
    sealed.extend_from_slice(header);
    sealed.resize(message_start, 0);
    sealed.extend_from_slice(message);
    let (encapsulation, tag) = single_shot_seal_inout_detached_with_rng::<Cipher, Kdf, K>(
        &OpModeS::Base,
        recipient,
        context.info,
        InOutBuf::from(sealed.get_mut(message_start..)?),
        context.aad,
        entropy,
    )
    .ok()
    .filter(|_| !entropy.is_exhausted())?;
    encapsulation.write_exact(sealed.get_mut(header.len()..message_start)?);
    sealed.extend_from_slice(&tag.to_bytes());
    Some(std::mem::take(&mut *sealed))
}

fn open<K: Kem>(
    recipient: &K::PrivateKey,
    context: &Context<'_>,
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (encapsulation, rest) = sealed.split_at_checked(K::EncappedKey::size())?;
    let message_len = rest.len().checked_sub(AeadTag::<Cipher>::size())?;
    let (ciphertext, tag) = rest.split_at_checked(message_len)?;
    let mut message = Zeroizing::new(ciphertext.to_vec());
    single_shot_open_inout_detached::<Cipher, Kdf, K>(
        &OpModeR::Base,
        recipient,
        &K::EncappedKey::from_bytes(encapsulation).ok()?,
        context.info,
        InOutBuf::from(message.as_mut_slice()),
        context.aad,
        &AeadTag::from_bytes(tag).ok()?,
    )
    .ok()?;
    Some(message)
}
