//! Logs for tests. Each has the name `example.org/log` and a key of its own.

use ed25519_dalek::{Signer as _, SigningKey};

use crate::{
    checkpoint::Checkpoint,
    hash::TreeHash,
    key::{SignatureType, VerifierKey},
    note::{Note, SignatureLine},
};

pub(crate) fn secret(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub(crate) fn log(number: u8) -> VerifierKey {
    let public = secret(number).verifying_key().to_bytes();
    VerifierKey::new("example.org/log", SignatureType::Ed25519, &public).unwrap()
}

/// Returns the checkpoint of a tree, signed by the log.
pub(crate) fn signed_checkpoint(number: u8, size: u64, root: TreeHash) -> Note {
    let origin = log(number).name().to_owned();
    let text = Checkpoint { origin, size, root }.to_string();
    let signature = secret(number).sign(text.as_bytes()).to_bytes();
    Note::new(text, vec![SignatureLine::by_log(&log(number), signature)])
}
