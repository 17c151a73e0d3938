//! The system's random source, and random bytes drawn ahead for encapsulation.

use std::convert::Infallible;

use hpke::rand_core::{TryCryptoRng, TryRng, utils};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::WalletError;

/// `N` bytes from the system's random source.
pub fn random<const N: usize>() -> Result<[u8; N], WalletError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer in place, so that a secret has no second copy.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), WalletError> {
    SystemRandom::new().fill(bytes).ok().ok_or(WalletError::NoRandomness)
}

/// The randomness of one encapsulation, drawn before it begins. HPKE wants a generator that cannot fail, and the
/// ready-made one panics where the system's source fails; this one was filled, or it does not exist.
pub(crate) struct Entropy {
    bytes: Zeroizing<[u8; NEEDED]>,
    taken: usize,
    ran_dry: bool,
}

impl Entropy {
    pub(crate) fn draw() -> Result<Self, WalletError> {
        let mut entropy = Self::of([0; NEEDED]);
        fill(entropy.bytes.as_mut_slice())?;
        Ok(entropy)
    }

    pub(crate) fn of(bytes: [u8; NEEDED]) -> Self {
        Self { bytes: Zeroizing::new(bytes), taken: 0, ran_dry: false }
    }

    /// Whether more was asked for than there was: what came of it must not be used.
    pub(crate) fn ran_dry(&self) -> bool {
        self.ran_dry
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
            None => self.ran_dry = true,
        }
        self.taken = end;
        Ok(())
    }
}

impl TryCryptoRng for Entropy {}

/// X-Wing encapsulation takes 64 bytes, X25519 takes 32.
const NEEDED: usize = 64;

#[cfg(test)]
mod tests {
    use hpke::rand_core::Rng;

    use super::*;

    #[test]
    fn random_bytes_differ() {
        assert_ne!(random::<32>().unwrap(), random::<32>().unwrap());
    }

    #[test]
    fn entropy_that_ran_dry_says_so() {
        let mut entropy = Entropy::of([7; NEEDED]);
        let mut out = [0; NEEDED];
        entropy.fill_bytes(&mut out);
        assert_eq!((out, entropy.ran_dry()), ([7; NEEDED], false));
        entropy.fill_bytes(&mut out[..1]);
        assert!(entropy.ran_dry());
    }
}
