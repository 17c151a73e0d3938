//! Issues lease tokens. An outcome is recorded only with the token of the current lease, so the holder of an expired
//! lease cannot overwrite a newer outcome.

use std::sync::atomic::{AtomicU64, Ordering};

use sealpost_domain::LeaseToken;

/// A counter that starts at a random number. Tokens are unique within a node. Two nodes issue equal tokens only if
/// their random starts differ by less than the number of issued tokens.
#[derive(Debug)]
pub(super) struct LeaseTokens(AtomicU64);

impl LeaseTokens {
    pub(super) fn starting_at(random: u64) -> Self {
        Self(AtomicU64::new(random))
    }

    pub(super) fn issue(&self) -> LeaseToken {
        LeaseToken(self.0.fetch_add(1, Ordering::Relaxed).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lease_tokens_do_not_repeat() {
        let tokens = LeaseTokens::starting_at(u64::MAX - 7);
        let issued: HashSet<_> = (0..10_000).map(|_| tokens.issue()).collect();
        assert_eq!(issued.len(), 10_000);
    }
}
