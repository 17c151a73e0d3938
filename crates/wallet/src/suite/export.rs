//! The secret of a channel: HPKE's exporter (RFC 9180, section 5.3), with X-Wing and without a cipher of its own
//! (AEAD id 0xFFFF), so that nothing is ever encrypted in that context.

use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::ExportOnlyAead, setup_receiver,
    setup_sender_with_rng,
};
use zeroize::Zeroizing;

use super::{Hybrid, Kdf, PublicKey, SealingKey, SealingPublicKey};
use crate::entropy::Entropy;

/// Stays where it was made, and is wiped there.
pub(crate) type Secret = Box<Zeroizing<[u8; 32]>>;

impl SealingPublicKey {
    /// An encapsulation and the secret that only the key's owner gets back from it. `None` for keys of the classic
    /// suite, which have no channels.
    pub(crate) fn encapsulate(
        &self,
        info: &[u8],
        exporter_context: &[u8],
        entropy: &mut Entropy,
    ) -> Option<(Vec<u8>, Secret)> {
        let PublicKey::Hybrid(key) = &self.key else { return None };
        let (encapsulation, context) = setup_sender_with_rng::<ExportOnlyAead, Kdf, Hybrid>(
            &OpModeS::Base,
            key,
            info,
            entropy,
        )
        .ok()
        .filter(|_| !entropy.ran_dry())?;
        let mut secret = Secret::default();
        context.export(exporter_context, secret.as_mut_slice()).ok()?;
        Some((encapsulation.to_bytes().to_vec(), secret))
    }
}

impl SealingKey {
    /// The secret of an encapsulation. One that was made for another key or another `info` gives another secret.
    pub(crate) fn decapsulate(
        &self,
        info: &[u8],
        exporter_context: &[u8],
        encapsulation: &[u8],
    ) -> Option<Secret> {
        let Self::Hybrid(key) = self else { return None };
        let encapsulation = <Hybrid as Kem>::EncappedKey::from_bytes(encapsulation).ok()?;
        let context = setup_receiver::<ExportOnlyAead, Kdf, Hybrid>(
            &OpModeR::Base,
            key,
            &encapsulation,
            info,
        )
        .ok()?;
        let mut secret = Secret::default();
        context.export(exporter_context, secret.as_mut_slice()).ok()?;
        Some(secret)
    }
}
