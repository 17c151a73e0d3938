//! Random bytes from the operating system. [`Entropy`] draws them in advance, because the crate `hpke` accepts only
//! random generators that cannot fail.

use std::convert::Infallible;

use hpke::rand_core::{TryCryptoRng, TryRng, utils};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::WalletError;

/// Returns `N` bytes from the system's random source.
pub fn random<const N: usize>() -> Result<[u8; N], WalletError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer with random bytes from the system. The bytes are written in place, so that no second copy of a secret
/// exists.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), WalletError> {
    SystemRandom::new().fill(bytes).ok().ok_or(WalletError::NoRandomness)
}

/// The random bytes for one encapsulation, as a random generator. They are drawn in advance, because HPKE requires a
/// generator that cannot fail.
pub(crate) struct Entropy {
    bytes: Zeroizing<[u8; NEEDED]>,
    taken: usize,
    is_exhausted: bool,
}

impl Entropy {
    pub(crate) fn draw() -> Result<Self, WalletError> {
        let mut entropy = Self::new([0; NEEDED]);
        fill(entropy.bytes.as_mut_slice())?;
        Ok(entropy)
    }

    pub(crate) fn new(bytes: [u8; NEEDED]) -> Self {
        Self { bytes: Zeroizing::new(bytes), taken: 0, is_exhausted: false }
    }

    /// Returns whether the encapsulation requested more bytes than were drawn. Its result must then be discarded,
    /// because its randomness was incomplete.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl TryRng for Entropy {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        utils::next_word_via_fill(self)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        utils::next_word_via_fill(self)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let end = self.taken.saturating_add(out.len());
        match self.bytes.get(self.taken..end) {
            Some(fresh) => out.copy_from_slice(fresh),
            None => self.is_exhausted = true,
        }
        self.taken = end;
        Ok(())
    }
}

impl TryCryptoRng for Entropy {}

/// Number of random bytes for one encapsulation. X-Wing takes 64 bytes, X25519 takes 32.
const NEEDED: usize = 64;

#[cfg(test)]
mod tests {
    use hpke::rand_core::Rng;

    use super::*;

    #[test]
    fn exhausted_entropy_is_reported() {
        let mut entropy = Entropy::new([7; NEEDED]);
        let mut out = [0; NEEDED];
        entropy.fill_bytes(&mut out);
        assert_eq!((out, entropy.is_exhausted()), ([7; NEEDED], false));
        entropy.fill_bytes(&mut out[..1]);
        assert!(entropy.is_exhausted());
    }
}
