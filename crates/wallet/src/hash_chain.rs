//! The hash function for hash chains. The audit trail, the log of operators' actions, is such a chain.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a list of parts. Hashes the length of each part (64 bits, big endian) before the part.
/// Therefore two different lists never give the same input to the hash.
pub fn chain_hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundaries_of_parts_matter() {
        assert_ne!(chain_hash(&[b"ab", b"c"]), chain_hash(&[b"a", b"bc"]));
        assert_ne!(chain_hash(&[b"ab"]), chain_hash(&[b"ab", b""]));
    }
}
