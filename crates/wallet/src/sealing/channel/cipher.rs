//! Encrypts and decrypts the message of one envelope of a channel.

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{AeadInOut, inout::InOutBuf},
};
use hkdf::Hkdf;
use sealpost_domain::{ChannelId, EnvelopeId, Suite};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::sealing::{envelope::VERSION, suite::exporter::ChannelSecret};

/// The first 22 sealed bytes: version, suite, channel id and number of the envelope.
pub(super) struct Header {
    pub(super) channel: ChannelId,
    pub(super) number: u32,
}

impl Header {
    pub(super) fn parse(bytes: [u8; HEADER_LEN]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[VERSION, Suite::Channel.byte()])?;
        let (channel, number) = rest.split_first_chunk()?;
        let number = u32::from_be_bytes(number.try_into().ok()?);
        Some(Self { channel: ChannelId::from_bytes(*channel), number })
    }

    fn nonce(&self) -> [u8; NONCE_LEN] {
        let [a, b, c, d] = self.number.to_be_bytes();
        [0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
    }
}

/// Returns the header, the ciphertext and the tag. Encrypts in place, in a buffer of the final size. Zeroizes the
/// buffer if the encryption fails.
pub(super) fn encrypt(
    cipher: &Aes256Gcm,
    header: &Header,
    aad: &[u8],
    message: &[u8],
) -> Option<Vec<u8>> {
    let end = message.len().checked_add(HEADER_LEN + TAG_LEN)?;
    let mut sealed = Zeroizing::new(Vec::with_capacity(end));
    sealed.extend_from_slice(&[VERSION, Suite::Channel.byte()]);
    sealed.extend_from_slice(header.channel.as_bytes());
    sealed.extend_from_slice(&header.number.to_be_bytes());
    sealed.extend_from_slice(message);
    let place = InOutBuf::from(sealed.get_mut(HEADER_LEN..)?);
    let tag = cipher.encrypt_inout_detached(&header.nonce().into(), aad, place).ok()?;
    sealed.extend_from_slice(&tag);
    Some(std::mem::take(&mut *sealed))
}

pub(super) fn decrypt(
    cipher: &Aes256Gcm,
    header: &Header,
    aad: &[u8],
    body: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (ciphertext, tag) = body.split_last_chunk::<TAG_LEN>()?;
    let mut message = Zeroizing::new(ciphertext.to_vec());
    let place = InOutBuf::from(message.as_mut_slice());
    cipher.decrypt_inout_detached(&header.nonce().into(), aad, place, tag.into()).ok()?;
    Some(message)
}

/// Derives the cipher of one envelope. The secret is uniformly random, so HKDF-Expand alone suffices (RFC 5869, section
/// 3.3). Never returns `None` for a secret of 32 bytes.
pub(super) fn cipher(secret: &ChannelSecret, id: &EnvelopeId) -> Option<Aes256Gcm> {
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::from_prk(secret.as_slice())
        .ok()?
        .expand_multi_info(&[KEY_PREFIX, id.as_bytes()], key.as_mut_slice())
        .ok()?;
    Some(Aes256Gcm::new((&*key).into()))
}

pub(super) const HEADER_LEN: usize = 22;
const NONCE_LEN: usize = 12;
const TAG_LEN: usize = 16;
const KEY_PREFIX: &[u8] = b"sealpost/v1/channel-envelope";
