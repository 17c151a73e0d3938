//! A transparency log (an append-only Merkle tree) without storage and network, for logs and verifiers.
//!
//! The formats are those of C2SP, so that other programs can read and verify the log:
//!
//! - [`TileTree`]: the tree, stored as tiles of 256 hashes (tlog-tiles, RFC 6962), and its proofs
//! - [`Note`] and [`VerifierKey`]: a signed text and the keys of its signatures (signed-note, tlog-cosignature)
//! - [`Checkpoint`]: the size and the root hash of the tree, as the text of a note (tlog-checkpoint)
//! - [`LogProof`]: a file that proves the inclusion of an entry without the network (tlog-proof)
//! - [`CoseReceipt`]: the same proof in CBOR (COSE receipts, RFC 9942)
//! - [`Evidence`]: a file that proves what happened to an envelope, with all entries about it
//! - [`Policy`]: the logs and witnesses that a verifier trusts (tlog-policy)
//! - [`AddCheckpoint`] and [`WitnessKey`]: the request and the key of a witness, which cosigns checkpoints
//!   (tlog-witness)
//! - [`Entry`]: an entry of this log, which contains no names of accounts or keys
//! - [`Statement`]: the text about an object, such as a key, from which an entry is computed
//! - [`EnvelopePlace`]: the place of an envelope among all envelopes of a statement
//!
//! ```
//! use sealpost_transparency::{TileTree, TreeHash, verify_inclusion};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let leaves: Vec<_> = (0..300_u16).map(|n| TreeHash::leaf(&n.to_be_bytes())).collect();
//! let mut tree = TileTree::new(0, |tile| Err(format!("no tile {}", tile.path())));
//! tree.append(&leaves)?;
//! let proof = tree.inclusion_proof(7)?;
//! assert!(verify_inclusion(leaves[7], 7, tree.size(), &proof, tree.root()?));
//! # Ok(())
//! # }
//! ```

mod checkpoint;
mod cose;
mod cosignature;
mod entry;
mod envelopes;
mod evidence;
mod hash;
mod key;
mod log_proof;
mod note;
mod policy;
mod proof;
#[cfg(test)]
mod tests;
mod tile;
mod tile_tree;
mod witness;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use cose::{CoseError, CoseReceipt};
pub use entry::{Entry, ProvenEntry, Statement};
pub use envelopes::EnvelopePlace;
pub use evidence::{Evidence, EvidenceError};
pub use hash::TreeHash;
pub use key::{KeyError, SignatureType, VerifierKey};
pub use log_proof::{LogProof, LogProofError};
pub use note::{Note, NoteError, SignatureLine};
pub use policy::{Accepted, Policy, PolicyError, Refused};
pub use proof::{verify_consistency, verify_inclusion};
pub use tile::{Tile, TilePath, bundle};
pub use tile_tree::TileTree;
pub use witness::{AddCheckpoint, WitnessKey, WitnessRefusal};
