//! COSE receipts: the inclusion proof of an entry in CBOR, signed by the log (RFC 9942).

use coset::{
    CborSerializable, CoseSign1, CoseSign1Builder, HeaderBuilder, Label, TaggedCborSerializable,
    cbor::value::Value, iana,
};
use thiserror::Error;

use crate::{
    checkpoint::Checkpoint,
    entry::{ProvenEntry, Statement},
    hash::TreeHash,
    key::VerifierKey,
    proof::verify_inclusion,
    tile::PATH_MAX,
};

/// A text about an object, such as a key (a [`Statement`]), with the proof that the log includes its entry. Signed by
/// the log.
///
/// The signature covers the root hash of the tree and the protected header. RFC 9942 leaves the size of the tree
/// unsigned. Therefore the protected header has a parameter with the text of the checkpoint, which includes the size.
#[derive(Debug, Clone, PartialEq)]
pub struct CoseReceipt {
    /// The statement, from the header parameter `sealpost.statement`. The signature does not cover this parameter, but
    /// the inclusion proof does.
    pub statement: Statement,
    /// The number of the statement's entry in the log.
    pub index: u64,
    /// The name of the log, the number of entries, and the root hash.
    pub checkpoint: Checkpoint,
    signed: CoseSign1,
}

/// The reason why bytes are not a COSE receipt.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no COSE receipt of a sealpost log: {0}")]
pub struct CoseError(&'static str);

impl CoseReceipt {
    /// The first byte of a receipt: the CBOR tag of `COSE_Sign1`. The byte distinguishes a receipt from the text
    /// formats [`LogProof`](crate::LogProof) and [`Evidence`](crate::Evidence), which begin with other bytes.
    pub const FIRST_BYTE: u8 = 0xD2;

    /// Returns the bytes of the receipt of an entry in the tree of the checkpoint. `key` is the public key of the log,
    /// and `sign` signs with its private key. Fails only if the receipt cannot be encoded as CBOR.
    pub fn create(
        entry: &ProvenEntry,
        checkpoint: &Checkpoint,
        key: &VerifierKey,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<Vec<u8>, CoseError> {
        unsigned(entry, checkpoint, key.id().to_vec())?
            .create_detached_signature(&checkpoint.root.0, &[], |message| sign(message).to_vec())
            .build()
            .to_tagged_vec()
            .map_err(|_unencodable| NOT_ENCODABLE)
    }

    /// Reads a receipt. Verifies the inclusion proof, but not the signature: [`signer`](Self::signer) does this.
    pub fn parse(bytes: &[u8]) -> Result<Self, CoseError> {
        if bytes.len() > BYTES_MAX {
            return Err(CoseError("it is longer than 64 KiB"));
        }
        let signed = CoseSign1::from_tagged_slice(bytes);
        let signed = signed.map_err(|_form| CoseError("it is no COSE_Sign1 with a tag"))?;
        let protected = &signed.protected.header;
        let structure = parameter(&protected.rest, VERIFIABLE_DATA_STRUCTURE);
        let is_expected = structure == Some(&RFC9162_SHA256.into())
            && protected.alg == Some(coset::Algorithm::Assigned(iana::Algorithm::EdDSA))
            && signed.payload.is_none();
        if !is_expected {
            return Err(CoseError("its algorithm is not EdDSA over an RFC 9162 tree with SHA-256"));
        }
        let checkpoint = text_parameter(&protected.rest, CHECKPOINT)
            .and_then(|value| Checkpoint::parse(value.as_text()?).ok())
            .ok_or(CoseError("it has no checkpoint"))?;
        let statement = text_parameter(&signed.unprotected.rest, STATEMENT)
            .and_then(|value| Statement::parse(value.as_bytes()?))
            .ok_or(CoseError("it has no statement"))?;
        let (size, index, hashes) = parameter(&signed.unprotected.rest, VERIFIABLE_DATA_PROOFS)
            .and_then(inclusion_proof)
            .ok_or(CoseError("it does not have one inclusion proof"))?;
        let leaf = statement.entry().hash();
        let is_included = size == checkpoint.size
            && verify_inclusion(leaf, index, size, &hashes, checkpoint.root);
        if !is_included {
            return Err(CoseError("the tree of its checkpoint does not include the entry"));
        }
        // The signature does not cover the unprotected header. Accepts only the bytes that `create` produces, so the
        // bytes of a valid receipt cannot be changed.
        let entry = ProvenEntry { statement, index, hashes };
        let expected = unsigned(&entry, &checkpoint, protected.key_id.clone())?
            .signature(signed.signature.clone())
            .build()
            .to_tagged_vec();
        if !expected.is_ok_and(|expected| expected == bytes) {
            return Err(CoseError("it is not written as the service writes it"));
        }
        Ok(Self { statement: entry.statement, index, checkpoint, signed })
    }

    /// Returns the key of `logs` that has signed the receipt. `None` if none of these keys has signed it.
    pub fn signer<'a>(&self, logs: &'a [VerifierKey]) -> Option<&'a VerifierKey> {
        logs.iter().find(|log| self.is_signed_by(log))
    }

    fn is_signed_by(&self, key: &VerifierKey) -> bool {
        let is_named =
            self.signed.protected.header.key_id == key.id() && self.checkpoint.origin == key.name();
        let verify = |signature: &[u8], message: &[u8]| {
            key.has_signed(message, signature).then_some(()).ok_or(())
        };
        is_named
            && self.signed.verify_detached_signature(&self.checkpoint.root.0, &[], verify).is_ok()
    }
}

/// Returns the receipt of an entry without its signature.
fn unsigned(
    ProvenEntry { statement, index, hashes }: &ProvenEntry,
    checkpoint: &Checkpoint,
    key_id: Vec<u8>,
) -> Result<CoseSign1Builder, CoseError> {
    let path = hashes.iter().map(|hash| Value::Bytes(hash.0.to_vec())).collect();
    let proof = Value::Array(vec![checkpoint.size.into(), (*index).into(), Value::Array(path)]);
    let proof = Value::Bytes(proof.to_vec().map_err(|_unencodable| NOT_ENCODABLE)?);
    let proofs = Value::Map(vec![(INCLUSION_PROOFS.into(), Value::Array(vec![proof]))]);
    let protected = HeaderBuilder::new()
        .algorithm(iana::Algorithm::EdDSA)
        .key_id(key_id)
        .value(VERIFIABLE_DATA_STRUCTURE, RFC9162_SHA256.into())
        .text_value(CHECKPOINT.to_owned(), checkpoint.to_string().into())
        .build();
    let statement = Value::Bytes(statement.to_string().into_bytes());
    let unprotected = HeaderBuilder::new()
        .value(VERIFIABLE_DATA_PROOFS, proofs)
        .text_value(STATEMENT.to_owned(), statement)
        .build();
    Ok(CoseSign1Builder::new().protected(protected).unprotected(unprotected))
}

fn parameter(rest: &[(Label, Value)], number: i64) -> Option<&Value> {
    rest.iter().find_map(|(label, value)| (*label == Label::Int(number)).then_some(value))
}

fn text_parameter<'a>(rest: &'a [(Label, Value)], name: &str) -> Option<&'a Value> {
    rest.iter().find_map(|(label, value)| {
        matches!(label, Label::Text(text) if text == name).then_some(value)
    })
}

/// Reads the size of the tree, the number of the entry, and the hashes of the inclusion proof. `None` if the value is
/// malformed, or has not exactly one proof.
fn inclusion_proof(proofs: &Value) -> Option<(u64, u64, Vec<TreeHash>)> {
    let [(label, proofs)] = proofs.as_map()?.as_slice() else { return None };
    let [proof] = proofs.as_array()?.as_slice() else { return None };
    let proof = Value::from_slice(proof.as_bytes()?).ok()?;
    let [size, index, path] = proof.as_array()?.as_slice() else { return None };
    let number = |value: &Value| u64::try_from(value.as_integer()?).ok();
    let hash = |hash: &Value| Some(TreeHash(hash.as_bytes()?.as_slice().try_into().ok()?));
    let path = path.as_array()?;
    let is_valid = *label == INCLUSION_PROOFS.into() && path.len() <= PATH_MAX;
    let hashes = path.iter().map(hash).collect::<Option<_>>().filter(|_| is_valid)?;
    Some((number(size)?, number(index)?, hashes))
}

/// Header parameters and values (RFC 9942, sections 4 and 5).
const VERIFIABLE_DATA_STRUCTURE: i64 = 395;
const VERIFIABLE_DATA_PROOFS: i64 = 396;
const RFC9162_SHA256: i64 = 1;
const INCLUSION_PROOFS: i64 = -1;
const CHECKPOINT: &str = "sealpost.checkpoint";
const STATEMENT: &str = "sealpost.statement";
const BYTES_MAX: usize = 64 * 1024;
const NOT_ENCODABLE: CoseError = CoseError("it cannot be encoded");

#[cfg(test)]
mod tests;
