//! Witnesses (tlog-witness): independent services that confirm the checkpoints of a log. A witness cosigns a checkpoint
//! only if the new tree begins with the tree that the witness cosigned last. A log therefore cannot change or remove
//! old entries unnoticed.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};
use ml_dsa::{Keypair as _, MlDsa44};
use thiserror::Error;

use crate::{
    checkpoint::Checkpoint,
    cosignature::cosigned_message,
    hash::TreeHash,
    key::{KeyError, SignatureType, VerifierKey},
    note::{Note, SignatureLine},
    proof::verify_consistency,
    tile::parse_decimal,
};

/// A request to cosign a checkpoint. `Display` writes the body of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the log in the checkpoint that the witness cosigned last; 0 if the witness has cosigned none.
    pub old_size: u64,
    /// The consistency proof: the tree of the checkpoint begins with the tree of `old_size` entries.
    pub proof: Vec<TreeHash>,
    /// The checkpoint, signed by its log.
    pub checkpoint: Note,
}

/// The reason why a witness does not cosign a checkpoint.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WitnessRefusal {
    /// The request is malformed.
    #[error("{0}")]
    Form(&'static str),
    /// The old size in the request is not the size that the witness cosigned last. Contains the last cosigned size.
    #[error("the last cosigned size is {0}")]
    OldSize(u64),
    /// The witness does not know the log.
    #[error("the witness does not know the log '{0}'")]
    UnknownLog(String),
    /// The log has not signed the checkpoint.
    #[error("the log has not signed the checkpoint")]
    Unsigned,
    /// The proof does not show that the tree begins with the tree that the witness cosigned last. Either the proof is
    /// wrong, or the log has changed old entries. Contains the last cosigned size.
    #[error("the checkpoint does not continue the log of size {0}")]
    Fork(u64),
    /// The log has signed another tree of the size that the witness cosigned last. Contains this size.
    #[error("the log has signed two different trees of size {0}")]
    TwoTrees(u64),
}

/// The key with which a witness signs.
pub struct WitnessKey {
    secret: WitnessSecret,
    public: VerifierKey,
}

enum WitnessSecret {
    Ed25519(Box<SigningKey>),
    MlDsa44(Box<ml_dsa::SigningKey<MlDsa44>>),
}

impl AddCheckpoint {
    /// Parses the body of a request. Verifies no signature and no proof.
    pub fn parse(body: &str) -> Result<Self, WitnessRefusal> {
        let form = WitnessRefusal::Form;
        let (head, note) = body.split_once("\n\n").ok_or(form("the body has no empty line"))?;
        let mut lines = head.split('\n');
        let old_size = lines.next().and_then(|line| parse_decimal(line.strip_prefix("old ")?));
        let old_size = old_size.ok_or(form("the first line is not 'old SIZE'"))?;
        let proof: Option<Vec<_>> = lines.map(TreeHash::parse).collect();
        let proof = proof.filter(|proof| proof.len() <= PROOF_MAX);
        let proof = proof.ok_or(form("the proof is not at most 63 hashes"))?;
        let checkpoint = Note::parse(note).ok().ok_or(form("the checkpoint is no note"))?;
        Ok(Self { old_size, proof, checkpoint })
    }

    /// Checks whether a witness may cosign the checkpoint, and returns the checkpoint. `logs` are the keys of the logs
    /// that the witness accepts. `last` is called with the origin of the log, and returns the checkpoint that the
    /// witness cosigned last for this log, or `None`.
    pub fn check(
        &self,
        logs: &[VerifierKey],
        last: impl FnOnce(&str) -> Option<Checkpoint>,
    ) -> Result<Checkpoint, WitnessRefusal> {
        let new = Checkpoint::parse(self.checkpoint.text());
        let new = new.ok().ok_or(WitnessRefusal::Form("the note is no checkpoint"))?;
        let log = logs.iter().find(|log| log.name() == new.origin);
        let log = log.ok_or_else(|| WitnessRefusal::UnknownLog(new.origin.clone()))?;
        if self.checkpoint.is_signed_by(log) != Ok(true) {
            return Err(WitnessRefusal::Unsigned);
        }
        if self.old_size > new.size {
            return Err(WitnessRefusal::Form("the old size is larger than the checkpoint"));
        }
        let empty = (0, TreeHash::empty_tree());
        let (size, root) = last(&new.origin).map_or(empty, |last| (last.size, last.root));
        if self.old_size != size {
            return Err(WitnessRefusal::OldSize(size));
        }
        if new.size == size && new.root != root {
            Err(WitnessRefusal::TwoTrees(size))
        } else if verify_consistency((size, root), (new.size, new.root), &self.proof) {
            Ok(new)
        } else {
            Err(WitnessRefusal::Fork(size))
        }
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old_size)?;
        self.proof.iter().try_for_each(|hash| writeln!(f, "{hash}"))?;
        write!(f, "\n{}", self.checkpoint)
    }
}

impl WitnessKey {
    /// Creates the Ed25519 key of a witness from its 32 secret bytes.
    pub fn new(name: &str, secret: &[u8; 32]) -> Result<Self, KeyError> {
        let secret = SigningKey::from_bytes(secret);
        let public = secret.verifying_key().to_bytes();
        let public = VerifierKey::new(name, SignatureType::Cosignature, &public)?;
        Ok(Self { secret: WitnessSecret::Ed25519(Box::new(secret)), public })
    }

    /// Creates the ML-DSA-44 key of a witness from its seed of 32 secret bytes. Use the seed for no other key.
    pub fn ml_dsa_44(name: &str, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let secret = ml_dsa::SigningKey::<MlDsa44>::from_seed(&(*seed).into());
        let public = secret.verifying_key().encode();
        let public = VerifierKey::new(name, SignatureType::MlDsa44Cosignature, &public)?;
        Ok(Self { secret: WitnessSecret::MlDsa44(Box::new(secret)), public })
    }

    /// Returns the public key.
    pub fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// Signs the text of a checkpoint at the time `now_s`, in seconds since the Unix epoch. For ML-DSA-44 keys, fails
    /// if the text is no checkpoint, or if the name of its log has more than 255 bytes.
    pub fn cosign(&self, text: &str, now_s: u64) -> Result<SignatureLine, WitnessRefusal> {
        let message = cosigned_message(&self.public, text, now_s);
        let signature = message.and_then(|message| self.sign(&message));
        let signature = signature.ok_or(WitnessRefusal::Form(
            "the note is no checkpoint, or the name of its log has more than 255 bytes",
        ))?;
        Ok(SignatureLine::by_witness(&self.public, now_s, &signature))
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.secret {
            WitnessSecret::Ed25519(key) => Some(key.sign(message).to_bytes().to_vec()),
            // Fails only if the sampling of FIPS 204 ends without a result, which does not happen in practice.
            WitnessSecret::MlDsa44(key) => Some(key.try_sign(message).ok()?.encode().to_vec()),
        }
    }
}

/// The largest number of hashes in a consistency proof.
const PROOF_MAX: usize = 63;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        envelopes::tree,
        note::NoteError,
        tests::{log, signed_checkpoint},
    };

    /// Returns the signed checkpoint of a log with `size` entries, and the consistency proof from `old`. The entries
    /// after `fork` are different ones.
    fn request(old_size: u64, size: u64, fork: u64) -> AddCheckpoint {
        let leaves: Vec<_> = (0..size)
            .map(|n| TreeHash::leaf(&[n.to_be_bytes(), [u8::from(n >= fork); 8]].concat()))
            .collect();
        let mut tree = tree(&leaves).unwrap();
        let checkpoint = signed_checkpoint(3, size, tree.root().unwrap());
        let proof = tree.consistency_proof(old_size.min(size)).unwrap();
        AddCheckpoint { old_size, proof, checkpoint }
    }

    fn last(size: u64) -> impl FnOnce(&str) -> Option<Checkpoint> {
        move |_| Checkpoint::parse(request(0, size, u64::MAX).checkpoint.text()).ok()
    }

    #[test]
    fn a_witness_cosigns_only_what_continues_its_log() {
        use WitnessRefusal as R;
        let logs = [log(3)];
        let check = |old, size, fork, known| request(old, size, fork).check(&logs, last(known));
        let never = u64::MAX;
        for (old, size) in [(0, 5), (5, 5), (5, 6), (5, 700)] {
            assert_eq!(check(old, size, never, old).unwrap().size, size);
        }
        assert_eq!(
            check(6, 5, never, 6),
            Err(R::Form("the old size is larger than the checkpoint"))
        );
        assert_eq!(check(4, 5, never, 6), Err(R::OldSize(6)), "the log went back");
        assert_eq!(check(5, 7, 4, 5), Err(R::Fork(5)), "the log has forked");
        assert_eq!(check(5, 5, 4, 5), Err(R::TwoTrees(5)));
        assert_eq!(request(0, 5, never).check(&logs, |_| None).unwrap().size, 5);
        let unknown = R::UnknownLog("example.org/log".to_owned());
        assert_eq!(request(0, 5, never).check(&[], last(0)), Err(unknown));
        let mut unsigned = request(0, 5, never);
        unsigned.checkpoint = Note::new(unsigned.checkpoint.text().to_owned(), vec![]);
        assert_eq!(unsigned.check(&logs, last(0)), Err(R::Unsigned));
    }

    #[test]
    fn a_request_is_read_from_its_body() {
        let made = request(5, 700, u64::MAX);
        assert_eq!(AddCheckpoint::parse(&made.to_string()), Ok(made.clone()));
        let body = made.to_string();
        for wrong in [
            body.replacen("old 5", "old 05", 1),
            body.replacen("old 5", "5", 1),
            body.replacen("\n\n", "\n", 1),
            body.replacen("old 5\n", &format!("old 5\n{}", "AAAA\n".repeat(2)), 1),
            format!("old 5\n{}\n\n", made.proof[0]),
        ] {
            assert!(
                matches!(AddCheckpoint::parse(&wrong), Err(WitnessRefusal::Form(_))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn cosignatures_verify_with_the_keys_of_the_witness() {
        let keys = |secret| {
            let name = "example.org/witness";
            let keys = [WitnessKey::new(name, &secret), WitnessKey::ml_dsa_44(name, &secret)];
            keys.map(Result::unwrap)
        };
        let mut note = request(0, 5, u64::MAX).checkpoint;
        for (key, at) in keys([9; 32]).iter().zip(1_700_000_000..) {
            let line = key.cosign(note.text(), at).unwrap();
            note.add(line);
        }
        let note = Note::parse(&note.to_string()).unwrap();
        for ((key, other), at) in keys([9; 32]).iter().zip(keys([8; 32])).zip(1_700_000_000..) {
            assert_eq!(note.cosigned_at(key.public()), Ok(Some(at)));
            assert_eq!(note.is_signed_by(key.public()), Ok(false), "no signature of a log");
            assert_eq!(note.cosigned_at(other.public()), Ok(None));
        }
        // The same signatures under another text.
        let other = note.to_string().replacen("\n5\n", "\n6\n", 1);
        let other = Note::parse(&other).unwrap();
        for key in keys([9; 32]) {
            let wrong = NoteError::Signature("example.org/witness".to_owned());
            assert_eq!(other.cosigned_at(key.public()), Err(wrong));
        }
    }

    #[test]
    fn ml_dsa_44_signs_checkpoints_alone() {
        let key = WitnessKey::ml_dsa_44("example.org/witness", &[9; 32]).unwrap();
        let long = Checkpoint { origin: "o".repeat(256), size: 5, root: TreeHash([1; 32]) };
        for text in ["no checkpoint\n", &long.to_string()] {
            assert!(matches!(key.cosign(text, 0), Err(WitnessRefusal::Form(_))), "{text}");
        }
        let name = "w".repeat(256);
        assert_eq!(
            WitnessKey::ml_dsa_44(&name, &[9; 32]).err(),
            Some(KeyError::Name(name.clone()))
        );
        assert!(WitnessKey::new(&name, &[9; 32]).is_ok());
    }
}
