//! The hashes of the log's Merkle tree (RFC 6962, section 2.1).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// A SHA-256 hash in the Merkle tree. `Display` is its base64 form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeHash(pub [u8; 32]);

impl TreeHash {
    /// Returns the root hash of a tree without entries.
    pub fn empty_tree() -> Self {
        Self(Sha256::digest([]).into())
    }

    /// Returns the hash of an entry, which is a leaf of the tree.
    pub fn leaf(entry: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
    }

    /// Returns the hash of a node with two children.
    pub fn node(left: Self, right: Self) -> Self {
        Self(
            Sha256::new()
                .chain_update([1])
                .chain_update(left.0)
                .chain_update(right.0)
                .finalize()
                .into(),
        )
    }

    /// Reads the base64 form; `None` if `text` is no hash.
    pub fn parse(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}
