//! Verifiers of proofs agree: the crate, a program of other authors, and the page `/log/verify` in a real browser.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sealpost_transparency::{
    Checkpoint, CoseReceipt, EnvelopePlace, LogProof, Note, Policy, ProvenEntry, SignatureLine,
    SignatureType, Statement, TileTree, TreeHash, VerifierKey, WitnessKey,
};
use serde::Serialize;
use serde_json::Value;

use crate::support::{Database, ask_node, ask_python, chromium};

const ORIGIN: &str = "example.org/log";
const WITNESS: &str = "example.net/witness";
const PROOFS: usize = 500;
const COSIGNATURES: u64 = 200;
const AT_S: u64 = 1_790_000_000;

/// A log in memory, with statements about keys and envelopes.
struct Log {
    signer: Ed25519KeyPair,
    key: VerifierKey,
    witness: WitnessKey,
    statements: Vec<Statement>,
    leaves: Vec<TreeHash>,
}

impl Log {
    fn new(witness: WitnessKey) -> Self {
        let signer = Ed25519KeyPair::from_seed_unchecked(&[3; 32]).unwrap();
        let public = signer.public_key().as_ref();
        let key = VerifierKey::new(ORIGIN, SignatureType::Ed25519, public).unwrap();
        let statements: Vec<_> = (0..PROOFS).map(statement).collect();
        let leaves = statements.iter().map(|statement| statement.entry().hash()).collect();
        Self { signer, key, witness, statements, leaves }
    }

    /// Returns the proof of the entry `index` in the tree of `size` entries.
    fn proof(&self, index: usize, size: usize) -> String {
        let mut tree = TileTree::new(0, |tile| Err(format!("no {}", tile.path())));
        tree.append(&self.leaves[..size]).unwrap();
        let (number, root) = (u64::try_from(index).unwrap(), tree.root().unwrap());
        let hashes = tree.inclusion_proof(number).unwrap();
        let size = u64::try_from(size).unwrap();
        let text = Checkpoint { origin: ORIGIN.to_owned(), size, root }.to_string();
        let signature = self.signer.sign(text.as_bytes()).as_ref().try_into().unwrap();
        let cosignature = self.witness.cosign(&text, AT_S).unwrap();
        let lines = vec![SignatureLine::by_log(&self.key, signature), cosignature];
        let checkpoint = Note::new(text, lines);
        let extra = self.statements[index].to_string().into_bytes();
        LogProof { extra, index: number, hashes, checkpoint }.to_string()
    }
}

/// Checks that a verifier accepts exactly the first half of the proofs, which are good.
fn agree(verifier: &str, results: impl IntoIterator<Item = bool>) {
    let results: Vec<_> = results.into_iter().collect();
    let wrong: Vec<_> = (0..2 * PROOFS).filter(|n| results[*n] != (*n < PROOFS)).collect();
    assert!(wrong.is_empty() && results.len() == 2 * PROOFS, "{verifier}: {wrong:?}");
}

/// Returns the same proofs as COSE receipts.
fn receipts(log: &Log) -> Vec<Vec<u8>> {
    let receipt = |index: usize| {
        let size = index + 1 + (index * 31) % (PROOFS - index);
        let mut tree = TileTree::new(0, |tile| Err(format!("no {}", tile.path())));
        tree.append(&log.leaves[..size]).unwrap();
        let (number, root) = (u64::try_from(index).unwrap(), tree.root().unwrap());
        let hashes = tree.inclusion_proof(number).unwrap();
        let size = u64::try_from(size).unwrap();
        let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size, root };
        let sign = |message: &[u8]| log.signer.sign(message).as_ref().try_into().unwrap();
        let statement = log.statements[index].clone();
        let entry = ProvenEntry { statement, index: number, hashes };
        CoseReceipt::create(&entry, &checkpoint, &log.key, sign).unwrap()
    };
    (0..PROOFS).map(receipt).collect()
}

#[test]
fn verifiers_agree_on_good_and_on_mutated_cose_receipts() {
    let log = Log::new(WitnessKey::new(WITNESS, &[4; 32]).unwrap());
    let good = receipts(&log);
    let mutated = good.iter().enumerate().map(|(seed, receipt)| {
        let mut receipt = receipt.clone();
        let at = seed.wrapping_mul(7_919) % receipt.len();
        receipt[at] ^= 1 << (seed % 8);
        receipt
    });
    let all: Vec<_> = good.iter().cloned().chain(mutated).collect();
    let policy = Policy::parse(&format!("log {}\nquorum none\n", log.key)).unwrap();
    let is_valid = |receipt: &Vec<u8>| {
        CoseReceipt::parse(receipt).is_ok_and(|receipt| policy.accept_receipt(&receipt).is_ok())
    };
    agree("the crate", all.iter().map(is_valid));

    let pairs: Vec<_> =
        all.iter().map(|receipt| (log.key.to_string(), STANDARD.encode(receipt))).collect();
    let by_others: Vec<bool> = serde_json::from_value(judged("cose_receipts.py", &pairs)).unwrap();
    agree("cwt", by_others);
}

fn statement(n: usize) -> Statement {
    let (at_ms, salt) = (1_700_000_000_000, [u8::try_from(n % 251).unwrap(); 32]);
    if n.is_multiple_of(2) {
        let text = format!("key ak_{n}\ndid did:key:z{n}\nsealing_version 1\nstatus active\n");
        return Statement { kind: "key".to_owned(), at_ms, salt, text, envelope: None };
    }
    let envelope = |at| format!("envelope env_{n}_{at}\nhash sha256:{at}\nsender a\nrecipient b\n");
    let leaves: Vec<_> = (0..=n % 40).map(|at| TreeHash::leaf(envelope(at).as_bytes())).collect();
    let text = EnvelopePlace::text_of_all(&leaves).unwrap();
    let envelope = EnvelopePlace::find(envelope(n % leaves.len()), &leaves).unwrap();
    Statement { kind: "envelopes".to_owned(), at_ms, salt, text, envelope }
}

/// Replaces one character of the proof, other than one of a cosignature.
fn mutate(proof: &str, seed: usize) -> String {
    let (signed, cosigned) = proof.split_at(proof.find("— example.net/witness").unwrap());
    replace_one(signed, seed) + cosigned
}

/// Replaces one letter or digit.
fn replace_one(text: &str, seed: usize) -> String {
    let mut chars: Vec<_> = text.chars().collect();
    let places: Vec<_> = (0..chars.len()).filter(|at| chars[*at].is_ascii_alphanumeric()).collect();
    let at = places[seed.wrapping_mul(7_919) % places.len()];
    chars[at] = if chars[at] == '7' { '8' } else { '7' };
    chars.into_iter().collect()
}

#[test]
fn verifiers_agree_on_good_and_on_mutated_proofs() {
    let log = Log::new(WitnessKey::new(WITNESS, &[4; 32]).unwrap());
    let good: Vec<_> = (0..PROOFS).map(|n| log.proof(n, n + 1 + (n * 31) % (PROOFS - n))).collect();
    let mutated = good.iter().enumerate().map(|(seed, proof)| mutate(proof, seed));
    let all: Vec<_> = good.iter().cloned().chain(mutated).collect();
    let policy = Policy::parse(&format!("log {}\nquorum none\n", log.key)).unwrap();
    let is_valid = |proof: &String| {
        let Ok(proof) = LogProof::parse(proof) else { return false };
        let statement = Statement::parse(&proof.extra);
        statement.is_some_and(|statement| policy.accept(&proof, &statement.entry(), 0).is_ok())
    };
    agree("the crate", all.iter().map(is_valid));

    let pairs: Vec<_> = all.iter().map(|proof| (log.key.to_string(), proof)).collect();
    let by_others: Vec<bool> = serde_json::from_value(judged("proof_files.py", &pairs)).unwrap();
    agree("aics-tlog", by_others);

    let keys = format!("{}\n{}", log.key, log.witness.public());
    let seen = shown_by_page(&all.iter().map(|proof| (&keys, proof)).collect::<Vec<_>>());
    let results = seen["results"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    let results: Vec<_> = results.collect();
    agree("the page", results.iter().map(|result| result.starts_with("valid: ")));
    assert!(results[0].contains("witness example.net/witness: 2026-"), "{}", results[0]);
    assert!(results[PROOFS..].iter().all(|result| result.starts_with("invalid: ")));
    for empty in ["requests", "complaints"] {
        assert_eq!(seen[empty], Value::Array(vec![]), "{empty}");
    }
    let policy = seen["policy"].as_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
}

/// Runs a Python program of the oracles on pairs of a key and a text.
fn judged(program: &str, pairs: &[(String, impl Serialize)]) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), serde_json::to_string(pairs).unwrap()).unwrap();
    ask_python(program, [file.path()])
}

/// Verifies pairs of keys and a proof on the page `/log/verify`.
fn shown_by_page(pairs: &[(&String, &String)]) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), serde_json::to_string(pairs).unwrap()).unwrap();
    let server = Database::embedded().serve();
    let url = format!("{}/log/verify", server.url);
    ask_node("log_page.mjs", &[&url, &chromium(), file.path().to_str().unwrap()])
}

/// Not every browser has ML-DSA-44.
#[test]
fn the_page_verifies_ml_dsa_44_or_says_that_the_browser_cannot() {
    let log = Log::new(WitnessKey::ml_dsa_44(WITNESS, &[5; 32]).unwrap());
    let keys = format!("{}\n{}", log.key, log.witness.public());
    let proof = log.proof(7, 9);
    let forged = proof.replacen("\n9\n", "\n8\n", 1);
    let seen = shown_by_page(&[(&keys, &proof), (&log.key.to_string(), &proof), (&keys, &forged)]);
    let results = seen["results"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    let [with_witness, with_log, of_forged] = results.collect::<Vec<_>>().try_into().unwrap();
    let cannot = "invalid: this browser cannot verify ML-DSA-44, the key of 'example.net/witness'";
    let is_valid = with_witness.contains("\nwitness example.net/witness: 2026-");
    assert!(is_valid || with_witness.starts_with(cannot), "{with_witness}");
    assert!(with_log.starts_with("valid: ") && of_forged.starts_with("invalid: "), "{seen}");
    // Programs that do not know ML-DSA-44 ignore its line.
    let by_others = judged("proof_files.py", &[(log.key.to_string(), &proof)]);
    assert_eq!(by_others, serde_json::json!([true]), "aics-tlog");
}

/// The crate, and proofbundle with the ML-DSA-44 of OpenSSL.
#[test]
fn verifiers_agree_on_cosignatures_of_ml_dsa_44() {
    let witness = WitnessKey::ml_dsa_44(WITNESS, &[5; 32]).unwrap();
    let cosigned = |size: u64| {
        let root = TreeHash::leaf(&size.to_be_bytes());
        let text = Checkpoint { origin: ORIGIN.to_owned(), size, root }.to_string();
        let line = witness.cosign(&text, AT_S).unwrap();
        Note::new(text, vec![line]).to_string()
    };
    let good: Vec<_> = (1..=COSIGNATURES).map(cosigned).collect();
    let mutated = good.iter().enumerate().map(|(seed, note)| replace_one(note, seed));
    let all: Vec<_> = good.iter().cloned().chain(mutated).collect();
    let expected: Vec<_> = (0..all.len()).map(|n| (n < good.len()).then_some(AT_S)).collect();
    let time = |key: &VerifierKey, note: &String| Note::parse(note).ok()?.cosigned_at(key).ok()?;
    let by_crate: Vec<_> = all.iter().map(|note| time(witness.public(), note)).collect();
    assert_eq!(by_crate, expected, "the crate");

    let pairs: Vec<_> = all.iter().map(|note| (witness.public().to_string(), note)).collect();
    let by_others = judged("cosignatures.py", &pairs);
    let times: Vec<Option<u64>> = serde_json::from_value(by_others["times"].clone()).unwrap();
    assert_eq!(times, expected, "proofbundle");
    let key = VerifierKey::parse(by_others["key"].as_str().unwrap()).unwrap();
    let note = by_others["note"].as_str().unwrap().to_owned();
    assert_eq!(time(&key, &note), Some(1_700_000_000));
    assert_eq!(time(&key, &note.replacen("\n1\n", "\n2\n", 1)), None);
}
