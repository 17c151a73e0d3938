//! Derives the secrets of channels with HPKE's secret export (RFC 9180, section 5.3), X-Wing and the export-only AEAD
//! id 0xFFFF. These HPKE contexts never encrypt a message.

use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::ExportOnlyAead, setup_receiver,
    setup_sender_with_rng,
};
use zeroize::Zeroizing;

use super::{Hybrid, Kdf, PublicKey, SealingKey, SealingPublicKey};
use crate::entropy::Entropy;

/// The secret of a channel. Zeroized on drop. Boxed, because moving an unboxed secret would leave copies on the stack.
pub(crate) type ChannelSecret = Box<Zeroizing<[u8; 32]>>;

impl SealingPublicKey {
    /// Returns an encapsulation and its secret. `None` if this key belongs to the classic suite, which has no channels.
    pub(crate) fn encapsulate(
        &self,
        info: &[u8],
        exporter_context: &[u8],
        entropy: &mut Entropy,
    ) -> Option<(Vec<u8>, ChannelSecret)> {
        let PublicKey::Hybrid(key) = &self.key else { return None };
        let (encapsulation, context) = setup_sender_with_rng::<ExportOnlyAead, Kdf, Hybrid>(
            &OpModeS::Base,
            key,
            info,
            entropy,
        )
        .ok()
        .filter(|_| !entropy.is_exhausted())?;
        let mut secret = ChannelSecret::default();
        context.export(exporter_context, secret.as_mut_slice()).ok()?;
        Some((encapsulation.to_bytes().to_vec(), secret))
    }
}

impl SealingKey {
    /// Returns the secret of an encapsulation. If the encapsulation was made for another key or another `info`, returns
    /// a different secret and no error. `None` if this key belongs to the classic suite, or if the encapsulation is
    /// malformed.
    pub(crate) fn decapsulate(
        &self,
        info: &[u8],
        exporter_context: &[u8],
        encapsulation: &[u8],
    ) -> Option<ChannelSecret> {
        let Self::Hybrid(key) = self else { return None };
        let encapsulation = <Hybrid as Kem>::EncappedKey::from_bytes(encapsulation).ok()?;
        let context = setup_receiver::<ExportOnlyAead, Kdf, Hybrid>(
            &OpModeR::Base,
            key,
            &encapsulation,
            info,
        )
        .ok()?;
        let mut secret = ChannelSecret::default();
        context.export(exporter_context, secret.as_mut_slice()).ok()?;
        Some(secret)
    }
}
