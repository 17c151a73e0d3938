//! Verifiers of proofs agree: the crate, a program of other authors, and the page `/log/verify` in a real browser.

use std::{fs, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sealpost_transparency::{
    Checkpoint, CoseReceipt, EnvelopePlace, LogProof, Note, Policy, ProvenEntry, SignatureLine,
    SignatureType, Statement, TileTree, TreeHash, VerifierKey, WitnessKey,
};
use serde_json::Value;

use crate::support::{Database, chromium, python, root, run_node};

const ORIGIN: &str = "example.org/log";
const PROOFS: usize = 1_000;
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
    fn new() -> Self {
        let signer = Ed25519KeyPair::from_seed_unchecked(&[3; 32]).unwrap();
        let public = signer.public_key().as_ref().try_into().unwrap();
        let key = VerifierKey::new(ORIGIN, SignatureType::Ed25519, public).unwrap();
        let witness = WitnessKey::new("example.net/witness", &[4; 32]).unwrap();
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
        let lines =
            vec![SignatureLine::of_log(&self.key, signature), self.witness.cosign(&text, AT_S)];
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
    let log = Log::new();
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

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("receipts.json");
    let pairs: Vec<_> =
        all.iter().map(|receipt| (log.key.to_string(), STANDARD.encode(receipt))).collect();
    fs::write(&file, serde_json::to_string(&pairs).unwrap()).unwrap();
    let program = root().join("tests/blackbox/oracles/cose_receipts.py");
    let ran = Command::new(python()).arg("-B").arg(program).arg(&file).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let by_others: Vec<bool> = serde_json::from_slice(&ran.stdout).unwrap();
    agree("cwt", by_others);
}

fn statement(n: usize) -> Statement {
    let (at_ms, salt) = (1_700_000_000_000, [u8::try_from(n % 251).unwrap(); 32]);
    if n.is_multiple_of(2) {
        let text = format!("key ak_{n}\ndid did:key:z{n}\nsealing_version 1\nstatus active\n");
        return Statement { kind: "key".to_owned(), at_ms, salt, text, envelope: None };
    }
    let envelope = |at| format!("envelope env_{n}_{at}\nhash sha256:{at}\nsender a\nrecipient b\n");
    let leaves: Vec<_> =
        (0..=n % 40).map(|at| TreeHash::of_leaf(envelope(at).as_bytes())).collect();
    let text = EnvelopePlace::text_of_all(&leaves).unwrap();
    let envelope = EnvelopePlace::find(envelope(n % leaves.len()), &leaves).unwrap();
    Statement { kind: "envelopes".to_owned(), at_ms, salt, text, envelope }
}

/// Replaces one character of the proof, other than one of a cosignature.
fn mutate(proof: &str, seed: usize) -> String {
    let (signed, cosigned) = proof.split_at(proof.find("— example.net/witness").unwrap());
    let mut chars: Vec<_> = signed.chars().collect();
    let places: Vec<_> = (0..chars.len()).filter(|at| chars[*at].is_ascii_alphanumeric()).collect();
    let at = places[seed.wrapping_mul(7_919) % places.len()];
    chars[at] = if chars[at] == '7' { '8' } else { '7' };
    chars.into_iter().collect::<String>() + cosigned
}

#[test]
fn verifiers_agree_on_good_and_on_mutated_proofs() {
    let log = Log::new();
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

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("proofs.json");
    let pairs: Vec<_> = all.iter().map(|proof| (log.key.to_string(), proof)).collect();
    fs::write(&file, serde_json::to_string(&pairs).unwrap()).unwrap();
    let program = root().join("tests/blackbox/oracles/proof_files.py");
    let ran = Command::new(python()).arg("-B").arg(program).arg(&file).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let by_others: Vec<bool> = serde_json::from_slice(&ran.stdout).unwrap();
    agree("aics-tlog", by_others);

    let keys = format!("{}\n{}", log.key, log.witness.public());
    let pairs: Vec<_> = all.iter().map(|proof| (&keys, proof)).collect();
    fs::write(&file, serde_json::to_string(&pairs).unwrap()).unwrap();
    let server = Database::embedded().serve();
    let url = format!("{}/log/verify", server.url);
    let program = root().join("tests/blackbox/oracles/log_page.mjs");
    let ran = run_node(&program, &[&url, &chromium(), file.to_str().unwrap()]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let seen: Value = serde_json::from_slice(&ran.stdout).unwrap();
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
