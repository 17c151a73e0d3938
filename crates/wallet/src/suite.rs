//! HPKE (RFC 9180), base mode: KEM X25519 (section 7.1) or X-Wing (draft-connolly-cfrg-xwing-kem, KEM id 0x647a),
//! with HKDF-SHA256. Single shot with AES-256-GCM here; the secret of a channel in `export`; what computes X-Wing in
//! `x_wing`. Nothing else names the crate `hpke`'s types.
//!
//! A private key is its 32 derived bytes as they are: X25519's scalar, X-Wing's seed. HPKE's `DeriveKeyPair` is not
//! used, because for X-Wing it is still a draft that has changed before, and a key must come out the same for years.

mod export;
mod x_wing;

use std::{fmt, sync::Arc};

use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::AeadTag, inout::InOutBuf,
    single_shot_open_inout_detached, single_shot_seal_inout_detached_with_rng,
};
use sealpost_domain::Suite;
use zeroize::Zeroizing;

use crate::entropy::Entropy;

pub(crate) use self::{export::Secret, x_wing::XWing as Hybrid};

pub(crate) type Classic = hpke::kem::X25519HkdfSha256;
pub(crate) type Kdf = hpke::kdf::HkdfSha256;
pub(crate) type Cipher = hpke::aead::AesGcm256;

/// The key that messages to an identity are sealed to: one suite, one version. Parsed once and cheap to clone.
#[derive(Clone)]
pub struct SealingPublicKey {
    version: u32,
    key: PublicKey,
}

#[derive(Clone)]
enum PublicKey {
    Classic(<Classic as Kem>::PublicKey),
    /// Over 1,200 bytes, hence shared.
    Hybrid(Arc<<Hybrid as Kem>::PublicKey>),
}

impl SealingPublicKey {
    /// The suite that it belongs to. The channel suite has none of its own: it uses the hybrid suite's.
    pub fn suite(&self) -> Suite {
        match self.key {
            PublicKey::Classic(_) => Suite::Classic,
            PublicKey::Hybrid(_) => Suite::Hybrid,
        }
    }

    /// Which of the identity's sealing keys it is, from 1.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The key in the form that its KEM defines.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.key {
            PublicKey::Classic(key) => key.to_bytes().to_vec(),
            PublicKey::Hybrid(key) => key.to_bytes().to_vec(),
        }
    }

    /// `header`, then encapsulation, ciphertext and tag.
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

/// The private half, wiped when dropped.
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

    /// Opens encapsulation, ciphertext and tag; `None` where anything does not hold.
    pub(crate) fn open(&self, context: &Context<'_>, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        match self {
            Self::Classic(key) => open::<Classic>(key, context, sealed),
            Self::Hybrid(key) => open::<Hybrid>(key, context, sealed),
        }
    }
}

/// What both sides must agree on: `info` shapes the key, `aad` is authenticated with the message.
pub(crate) struct Context<'a> {
    pub(crate) info: &'a [u8],
    pub(crate) aad: &'a [u8],
}

/// The result is laid out once and the message encrypted where it stands; until then, dropping it wipes it.
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
    .filter(|_| !entropy.ran_dry())?;
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
