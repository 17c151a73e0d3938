//! Envelopes (sealed messages) in the log. One entry covers many envelopes: its statement has the root hash of a second
//! tree, whose leaves are the hashes of the envelopes.

use std::fmt;

use crate::{
    hash::TreeHash,
    proof::verify_inclusion,
    tile::{Tile, parse_decimal},
    tile_tree::TileTree,
};

/// The place of an envelope in the tree of a [`Statement`](crate::Statement) of the kind `envelopes`. This tree has one
/// leaf for each envelope of the statement.
///
/// `Display` writes the part about the envelope in the [`extra`](crate::LogProof::extra) data of a proof file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopePlace {
    /// The text about the envelope. Each line has a name and a value, such as `sender ak_…`. The hash of this text is a
    /// leaf of the tree.
    pub text: String,
    /// The number of the leaf in this tree, from 0.
    pub index: u64,
    /// The hashes of the inclusion proof in this tree.
    pub hashes: Vec<TreeHash>,
}

impl EnvelopePlace {
    /// Returns the text of the statement about envelopes with these hashes.
    pub fn text_of_all(leaves: &[TreeHash]) -> Result<String, String> {
        let root = tree(leaves)?.root()?;
        Ok(format!("envelopes {}\nroot {root}\n", leaves.len()))
    }

    /// Finds the place of an envelope by its text. `None` if `leaves` does not contain the hash of `text`.
    pub fn find(text: String, leaves: &[TreeHash]) -> Result<Option<Self>, String> {
        let hash = TreeHash::leaf(text.as_bytes());
        let Some(place) = leaves.iter().position(|leaf| *leaf == hash) else { return Ok(None) };
        let index = u64::try_from(place).unwrap_or(u64::MAX);
        let hashes = tree(leaves)?.inclusion_proof(index)?;
        Ok(Some(Self { text, index, hashes }))
    }

    /// Reads the part about the envelope in the extra data of a proof file. `None` if the part is malformed.
    pub(crate) fn parse(part: &str) -> Option<Self> {
        let (text, place) = part.strip_suffix('\n')?.split_once("\nindex ")?;
        let mut lines = place.split('\n');
        let index = parse_decimal(lines.next()?)?;
        let hashes = lines.map(TreeHash::parse).collect::<Option<Vec<_>>>()?;
        Some(Self { text: format!("{text}\n"), index, hashes })
    }

    /// Returns true if the tree of the statement `text` includes the envelope.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let read = || {
            let (count, root) = text.strip_prefix("envelopes ")?.split_once("\nroot ")?;
            Some((parse_decimal(count)?, TreeHash::parse(root.strip_suffix('\n')?)?))
        };
        let hash = TreeHash::leaf(self.text.as_bytes());
        read().is_some_and(|(count, root)| {
            verify_inclusion(hash, self.index, count, &self.hashes, root)
        })
    }
}

impl fmt::Display for EnvelopePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, index, hashes } = self;
        writeln!(f, "{text}index {index}")?;
        hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))
    }
}

/// Builds the tree of these leaves in memory.
pub(crate) fn tree(leaves: &[TreeHash]) -> Result<TileTree<NoTiles>, String> {
    let no_tiles: NoTiles = |tile| Err(format!("no tile {}", tile.path()));
    let mut tree = TileTree::new(0, no_tiles);
    tree.append(leaves)?;
    Ok(tree)
}

/// The `fetch` function of a tree in memory. It always fails, because no tile is stored.
pub(crate) type NoTiles = fn(Tile) -> Result<Vec<TreeHash>, String>;

#[cfg(test)]
mod tests;
