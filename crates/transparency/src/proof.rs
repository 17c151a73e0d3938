//! Verifies inclusion and consistency proofs (RFC 9162, sections 2.1.3.2 and 2.1.4.2).

use crate::hash::TreeHash;

/// Returns true if `proof` shows that the entry with the hash `leaf` has the number `index` in the tree of `size`
/// entries with the root hash `root`.
pub fn verify_inclusion(
    leaf: TreeHash,
    index: u64,
    size: u64,
    proof: &[TreeHash],
    root: TreeHash,
) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            hash = TreeHash::node(*sibling, hash);
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            hash = TreeHash::node(hash, *sibling);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && hash == root
}

/// Returns true if `proof` shows that the tree `new` begins with all entries of the tree `old`. A tree is its size and
/// its root hash.
pub fn verify_consistency(old: (u64, TreeHash), new: (u64, TreeHash), proof: &[TreeHash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size >= new_size {
        return old_size == new_size && proof.is_empty() && old_root == new_root;
    }
    if old_size == 0 {
        return proof.is_empty() && old_root == TreeHash::empty_tree();
    }
    // If the old size is a power of two, the proof omits its first hash, because this hash is the root of the old tree.
    let (first, rest) = match proof.split_first() {
        _ if old_size.is_power_of_two() => (old_root, proof),
        Some((first, rest)) => (*first, rest),
        None => return false,
    };
    let shift = (old_size - 1).trailing_ones();
    let (mut node, mut last) = ((old_size - 1) >> shift, (new_size - 1) >> shift);
    let (mut old_hash, mut new_hash) = (first, first);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            old_hash = TreeHash::node(*sibling, old_hash);
            new_hash = TreeHash::node(*sibling, new_hash);
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            new_hash = TreeHash::node(new_hash, *sibling);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && old_hash == old_root && new_hash == new_root
}
