//! The hash of a chain's link.

use sha2::{Digest, Sha256};

/// SHA-256 over parts, each with its length in front, so that no two lists of parts are the same bytes.
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
    fn where_a_part_ends_makes_a_difference() {
        assert_ne!(chain_hash(&[b"ab", b"c"]), chain_hash(&[b"a", b"bc"]));
        assert_ne!(chain_hash(&[b"ab"]), chain_hash(&[b"ab", b""]));
    }
}
