//! The tree over stored tiles: root hash, inclusion and consistency proofs, and new entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    hash::TreeHash,
    tile::{Tile, complete_root},
};

/// The Merkle tree of a log with `size` entries. The hashes of the tree are in stored tiles. Fetches each tile at most
/// once. The methods fail if a tile cannot be fetched or has too few hashes.
pub struct TileTree<F> {
    size: u64,
    fetch: F,
    tiles: BTreeMap<(u8, u64), Vec<TreeHash>>,
}

impl<F, E> TileTree<F>
where
    F: FnMut(Tile) -> Result<Vec<TreeHash>, E>,
    E: From<String>,
{
    /// Creates the tree of `size` entries. `fetch` returns the hashes of a tile. Hashes beyond the width of the tile
    /// are ignored.
    pub fn new(size: u64, fetch: F) -> Self {
        Self { size, fetch, tiles: BTreeMap::new() }
    }

    /// Returns the number of entries.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root hash of the tree.
    pub fn root(&mut self) -> Result<TreeHash, E> {
        if self.size == 0 {
            return Ok(TreeHash::empty_tree());
        }
        self.range(0, self.size)
    }

    /// Returns the proof that the tree includes the entry `index`: the hashes from the sibling of the entry up to the
    /// root. Fails if the tree has no entry with this number.
    pub fn inclusion_proof(&mut self, index: u64) -> Result<Vec<TreeHash>, E> {
        if index >= self.size {
            return Err(format!("the tree has {} entries: {index} is not one", self.size).into());
        }
        let (mut start, mut end, mut proof) = (0, self.size, Vec::new());
        while end - start > 1 {
            let middle = start + split(end - start);
            if index < middle {
                proof.push(self.range(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range(start, middle)?);
                start = middle;
            }
        }
        proof.reverse();
        Ok(proof)
    }

    /// Returns the proof that the tree begins with the tree of `old_size` entries (RFC 6962, section 2.1.2).
    pub fn consistency_proof(&mut self, old_size: u64) -> Result<Vec<TreeHash>, E> {
        if old_size > self.size {
            return Err(format!("the tree has {} entries, fewer than {old_size}", self.size).into());
        }
        if old_size == 0 {
            return Ok(Vec::new());
        }
        let (mut start, mut end, mut proof) = (0, self.size, Vec::new());
        while end > old_size {
            let middle = start + split(end - start);
            if old_size <= middle {
                proof.push(self.range(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range(start, middle)?);
                start = middle;
            }
        }
        // If `start` is 0, the rest is the whole old tree. Its root is not part of the proof, because the verifier has
        // it already.
        if start > 0 {
            proof.push(self.range(start, end)?);
        }
        proof.reverse();
        Ok(proof)
    }

    /// Appends entries, given by their hashes. Returns the tiles that are new or have grown, with all hashes of these
    /// tiles.
    pub fn append(&mut self, leaves: &[TreeHash]) -> Result<Vec<(Tile, Vec<TreeHash>)>, E> {
        let (mut level, mut added, mut count) = (0, leaves.to_vec(), self.size);
        let mut changed = BTreeSet::new();
        while !added.is_empty() {
            let mut roots = Vec::new();
            for hash in added {
                let (index, place) = (count / FULL, count % FULL);
                if place > 0 {
                    self.load(level, index)?;
                }
                let tile = self.tiles.entry((level, index)).or_default();
                tile.push(hash);
                if place == FULL - 1 {
                    roots.extend(complete_root(tile));
                }
                changed.insert((level, index));
                count += 1;
            }
            (added, count) = (roots, (self.size >> (8 * u32::from(level))) / FULL);
            level += 1;
        }
        self.size += u64::try_from(leaves.len()).unwrap_or(u64::MAX);
        let whole = |(level, index)| {
            let hashes = self.tiles.get(&(level, index))?;
            Some((Tile::in_tree(level, index, self.size)?, hashes.clone()))
        };
        Ok(changed.into_iter().filter_map(whole).collect())
    }

    /// Returns the root of the subtree with the entries `start..end`. The range must be one of the subtrees in the
    /// recursive definition of the tree (RFC 6962, section 2.1).
    fn range(&mut self, start: u64, end: u64) -> Result<TreeHash, E> {
        let length = end - start;
        if length.is_power_of_two() {
            return self.subtree(length.trailing_zeros(), start);
        }
        let middle = start + split(length);
        Ok(TreeHash::node(self.range(start, middle)?, self.range(middle, end)?))
    }

    /// Returns the root of the complete subtree of `2^height` entries from `start` on. One tile contains all hashes
    /// from which this root is computed.
    fn subtree(&mut self, height: u32, start: u64) -> Result<TreeHash, E> {
        let level = u8::try_from(height / 8).unwrap_or(u8::MAX);
        let first = start >> (8 * u32::from(level));
        let (index, place) = (first / FULL, usize::try_from(first % FULL).unwrap_or(0));
        let hashes = self.load(level, index)?;
        let root = hashes.get(place..place + (1 << (height % 8))).and_then(complete_root);
        root.ok_or_else(|| format!("the tile {index} of level {level} has too few hashes").into())
    }

    fn load(&mut self, level: u8, index: u64) -> Result<&[TreeHash], E> {
        if !self.tiles.contains_key(&(level, index)) {
            let missing = || format!("the tree has no tile {index} in level {level}");
            let tile = Tile::in_tree(level, index, self.size).ok_or_else(missing)?;
            let mut hashes = (self.fetch)(tile)?;
            if hashes.len() < usize::from(tile.width) {
                return Err(
                    format!("the tile {} has only {} hashes", tile.path(), hashes.len()).into()
                );
            }
            hashes.truncate(tile.width.into());
            self.tiles.insert((level, index), hashes);
        }
        Ok(self.tiles.get(&(level, index)).map_or(&[], Vec::as_slice))
    }
}

/// Returns the number of entries in the left subtree of a tree with `length` entries: the largest power of two that is
/// smaller than `length`. `length` must be at least 2.
fn split(length: u64) -> u64 {
    1 << (length - 1).ilog2()
}

/// The number of hashes of a full tile.
const FULL: u64 = 256;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::proof::{verify_consistency, verify_inclusion};

    type Stored = HashMap<(u8, u64), Vec<TreeHash>>;

    fn leaves(count: u64) -> Vec<TreeHash> {
        (0..count).map(|n| TreeHash::leaf(&n.to_be_bytes())).collect()
    }

    /// The recursive definition of RFC 6962, section 2.1.
    fn defined_root(leaves: &[TreeHash]) -> TreeHash {
        match leaves {
            [] => TreeHash::empty_tree(),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(
                    usize::try_from(split(u64::try_from(leaves.len()).unwrap())).unwrap(),
                );
                TreeHash::node(defined_root(left), defined_root(right))
            }
        }
    }

    fn open(
        stored: &Stored,
        size: u64,
    ) -> TileTree<impl FnMut(Tile) -> Result<Vec<TreeHash>, String>> {
        TileTree::new(size, |tile| {
            stored
                .get(&(tile.level, tile.index))
                .cloned()
                .ok_or_else(|| format!("no {}", tile.path()))
        })
    }

    /// Stores the tiles of `count` leaves, in portions.
    fn stored(count: u64, portions: &[u64]) -> Stored {
        let (mut tiles, all) = (Stored::new(), leaves(count));
        let mut bounds: Vec<_> = portions.iter().copied().filter(|bound| *bound < count).collect();
        bounds.push(count);
        bounds.sort_unstable();
        let mut size = 0;
        for bound in bounds {
            let new = &all[usize::try_from(size).unwrap()..usize::try_from(bound).unwrap()];
            let changed = open(&tiles, size).append(new).unwrap();
            for (tile, hashes) in changed {
                assert_eq!(hashes.len(), usize::from(tile.width));
                tiles.insert((tile.level, tile.index), hashes);
            }
            size = bound;
        }
        tiles
    }

    #[test]
    fn the_tree_follows_the_recursive_definition_at_each_size() {
        let (tiles, all) = (stored(700, &[]), leaves(700));
        for size in 0..=700 {
            let part = &all[..usize::try_from(size).unwrap()];
            assert_eq!(open(&tiles, size).root().unwrap(), defined_root(part), "{size}");
        }
    }

    #[test]
    fn each_inclusion_proof_verifies_only_for_its_entry() {
        let (tiles, all) = (stored(300, &[]), leaves(300));
        for size in (1..=70).chain([127, 128, 129, 255, 256, 257, 300]) {
            let mut tree = open(&tiles, size);
            let root = tree.root().unwrap();
            for index in 0..size {
                let proof = tree.inclusion_proof(index).unwrap();
                let leaf = all[usize::try_from(index).unwrap()];
                assert!(verify_inclusion(leaf, index, size, &proof, root), "{index} of {size}");
                assert!(
                    !verify_inclusion(leaf, index + 1, size, &proof, root),
                    "{index} of {size}"
                );
                assert!(!verify_inclusion(TreeHash([7; 32]), index, size, &proof, root));
                if let Some((_, shorter)) = proof.split_last() {
                    assert!(!verify_inclusion(leaf, index, size, shorter, root));
                }
            }
            assert!(tree.inclusion_proof(size).is_err());
        }
    }

    #[test]
    fn each_consistency_proof_verifies_only_for_its_trees() {
        let tiles = stored(300, &[]);
        let sizes: Vec<u64> = (0..=40).chain([63, 64, 65, 127, 128, 255, 256, 257, 300]).collect();
        for new in &sizes {
            let mut tree = open(&tiles, *new);
            let new_root = tree.root().unwrap();
            for old in sizes.iter().filter(|old| *old <= new) {
                let old_root = open(&tiles, *old).root().unwrap();
                let proof = tree.consistency_proof(*old).unwrap();
                assert!(
                    verify_consistency((*old, old_root), (*new, new_root), &proof),
                    "{old} {new}"
                );
                let other = TreeHash([7; 32]);
                assert!(!verify_consistency((*old, other), (*new, new_root), &proof));
                if *old > 0 {
                    assert!(!verify_consistency((*old, old_root), (*new, other), &proof));
                }
                for place in 0..proof.len() {
                    let mut wrong = proof.clone();
                    wrong[place] = other;
                    assert!(!verify_consistency((*old, old_root), (*new, new_root), &wrong));
                }
            }
            assert!(tree.consistency_proof(new + 1).is_err());
        }
    }

    /// A tree of more than 256 * 256 entries has tiles of three levels.
    #[test]
    fn a_large_tree_has_the_root_of_the_definition() {
        let (tiles, all) = (stored(70_000, &[]), leaves(70_000));
        for size in [65_535, 65_536, 65_537, 70_000] {
            let mut tree = open(&tiles, size);
            let root = defined_root(&all[..usize::try_from(size).unwrap()]);
            assert_eq!(tree.root().unwrap(), root);
            let proof = tree.inclusion_proof(40_000).unwrap();
            assert!(verify_inclusion(all[40_000], 40_000, size, &proof, root));
        }
        assert_eq!(tiles[&(2, 0)].len(), 1);
    }

    #[test]
    fn a_tile_with_too_few_hashes_is_refused() {
        let short: Result<_, String> = TileTree::new(2, |_| Ok(vec![TreeHash([1; 32])])).root();
        assert_eq!(short, Err("the tile tile/0/000.p/2 has only 1 hashes".to_owned()));
    }

    proptest! {
        #[test]
        fn portions_make_no_difference(count in 0..1_500_u64, portions in proptest::collection::vec(0..1_500_u64, 0..9)) {
            prop_assert_eq!(stored(count, &portions), stored(count, &[]));
        }

        #[test]
        fn a_changed_proof_is_rejected(size in 1..600_u64, place: prop::sample::Index, bit in 0..256_usize, which: prop::sample::Index) {
            let tiles = stored(size, &[]);
            let mut tree = open(&tiles, size);
            let index = u64::try_from(place.index(usize::try_from(size).unwrap())).unwrap();
            let (root, mut proof) = (tree.root().unwrap(), tree.inclusion_proof(index).unwrap());
            let leaf = TreeHash::leaf(&index.to_be_bytes());
            prop_assert!(verify_inclusion(leaf, index, size, &proof, root));
            if !proof.is_empty() {
                let at = which.index(proof.len());
                proof[at].0[bit / 8] ^= 1 << (bit % 8);
                prop_assert!(!verify_inclusion(leaf, index, size, &proof, root));
            }
        }
    }
}
