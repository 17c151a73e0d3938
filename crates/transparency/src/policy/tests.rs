//! Tests of policies and proofs.

use proptest::prelude::*;

use super::*;
use crate::{
    entry::Statement,
    envelopes::tree,
    hash::TreeHash,
    tests::{self, signed_checkpoint},
    witness::WitnessKey,
};

const NOW: u64 = 1_700_000_000;

fn log() -> VerifierKey {
    tests::log(100)
}

fn witness_key(number: u8) -> WitnessKey {
    WitnessKey::new(&format!("w{number}.example"), &[number; 32]).unwrap()
}

fn witness(number: u8) -> VerifierKey {
    witness_key(number).public().clone()
}

/// Returns a policy with three witnesses and these last lines.
fn policy_text(rest: &str) -> String {
    let witnesses: Vec<_> = (1..=3).map(|n| format!("witness w{n} {}\n", witness(n))).collect();
    let witnesses = witnesses.concat();
    format!("# A comment\n\nlog {} https://example.org/log\n{witnesses}{rest}", log())
}

fn policy() -> Policy {
    Policy::parse(&policy_text("group most 2 w1 w2 w3\nquorum most\nmax-age 600\n")).unwrap()
}

fn cosign(note: &mut Note, number: u8, at: u64) {
    note.add(witness_key(number).cosign(note.text(), at).unwrap());
}

/// Returns the proof of a statement in a tree of `size` entries, cosigned by two witnesses.
fn proof(index: u64, size: u64) -> LogProof {
    let statements: Vec<_> = (0..size).map(statement).collect();
    let leaves: Vec<_> = statements.iter().map(|statement| statement.entry().hash()).collect();
    let mut tree = tree(&leaves).unwrap();
    let mut note = signed_checkpoint(100, size, tree.root().unwrap());
    cosign(&mut note, 1, NOW - 10);
    cosign(&mut note, 2, NOW - 20);
    let extra = statement(index).to_string().into_bytes();
    LogProof { extra, index, hashes: tree.inclusion_proof(index).unwrap(), checkpoint: note }
}

fn statement(number: u64) -> Statement {
    let text = format!("key ak_{number}\nstatus active\n");
    Statement { kind: "key".to_owned(), at_ms: number, salt: [5; 32], text, envelope: None }
}

/// Verifies a proof file as a program without the network does.
fn verify(text: &str, now: u64) -> Result<Accepted, String> {
    let proof = LogProof::parse(text).map_err(|fault| fault.to_string())?;
    let statement = Statement::parse(&proof.extra).ok_or("no statement")?;
    policy().accept(&proof, &statement.entry(), now).map_err(|fault| fault.to_string())
}

#[test]
fn a_proof_file_verifies_and_is_read_as_it_was_written() {
    let proof = proof(11, 40);
    let text = proof.to_string();
    assert_eq!(LogProof::parse(&text), Ok(proof));
    let accepted = verify(&text, NOW).unwrap();
    assert_eq!(accepted.witnesses, ["w1", "w2"]);
    assert_eq!(accepted.checkpoint.size, 40);
    assert!(text.len() <= 2048, "{}", text.len());
}

#[test]
fn old_cosignatures_do_not_count() {
    let text = proof(0, 1).to_string();
    assert!(verify(&text, NOW + 580).is_ok());
    let refused = verify(&text, NOW + 581).unwrap_err();
    assert_eq!(
        refused,
        "the quorum is missing: 1 of 3 witnesses have a cosignature that counts and is at most 600 s old"
    );
    // A clock far ahead must not keep a cosignature fresh.
    assert!(verify(&text, NOW - 70).is_ok());
    assert!(verify(&text, NOW - 71).is_err());
}

#[test]
fn a_minority_of_witnesses_does_not_suffice() {
    let mut proof = proof(0, 3);
    proof.checkpoint = Note::parse(&proof.checkpoint.to_string()).unwrap();
    let note = proof.checkpoint.to_string();
    let (kept, _second) = note.split_once("— w2").unwrap();
    let without_second = kept.to_owned();
    proof.checkpoint = Note::parse(&without_second).unwrap();
    // Two cosignatures of one witness count once.
    cosign(&mut proof.checkpoint, 1, NOW);
    let refused = policy().accept(&proof, &statement(0).entry(), NOW);
    assert_eq!(refused, Err(Refused::Quorum { counted: 1, known: 3, max_age_s: Some(600) }));
}

#[test]
fn a_policy_that_a_minority_satisfies_is_refused() {
    let four = format!("witness w4 {}\n", witness(4));
    for (rest, least, known) in [
        ("quorum none\n", 0, 3),
        ("quorum w1\n", 1, 3),
        ("group g any w1 w2 w3\nquorum g\n", 1, 3),
        ("group a any w1 w2\ngroup g any a w3\nquorum g\n", 1, 3),
        (&format!("{four}group g 2 w1 w2 w3 w4\nquorum g\n"), 2, 4),
        (&format!("{four}group a all w1 w2\ngroup b all w3 w4\ngroup g any a b\nquorum g\n"), 2, 4),
    ] {
        let fault = Policy::parse(&policy_text(rest)).unwrap_err();
        assert_eq!(fault, PolicyError::Minority { least, known }, "{rest}");
    }
    for rest in [
        "group g 2 w1 w2 w3\nquorum g\n",
        "group a any w1 w2\ngroup g all a w3\nquorum g\n",
        &format!("{four}group a all w1 w2\ngroup b any w3 w4\ngroup g all a b\nquorum g\n"),
    ] {
        assert!(Policy::parse(&policy_text(rest)).is_ok(), "{rest}");
    }
}

#[test]
fn a_policy_without_witnesses_trusts_the_log_alone() {
    let policy = Policy::parse(&format!("log {}\nquorum none\n", log())).unwrap();
    let accepted = policy.accept(&proof(1, 2), &statement(1).entry(), NOW).unwrap();
    assert!(accepted.witnesses.is_empty());
    let timed = Policy::parse(&format!("log {}\nquorum none\nmax-age 5\n", log())).unwrap_err();
    assert_eq!(timed, PolicyError::NoTime);
}

#[test]
fn wrong_policies_are_refused_with_their_line() {
    let of_log = log();
    let second = WitnessKey::ml_dsa_44("w1.example", &[1; 32]).unwrap().public().clone();
    for (text, fault) in [
        (policy_text(""), "the policy has no line 'quorum'"),
        ("quorum none\n".to_owned(), "the policy has no line 'log'"),
    ] {
        assert_eq!(Policy::parse(&text).unwrap_err().to_string(), fault);
    }
    for (line, reason) in [
        ("quorum w9", "no witness or group 'w9' stands before this line"),
        ("group g 4 w1 w2 w3", "the threshold is all, any, or 1 to 3"),
        ("group g all w1 w1", "a member is in a group already"),
        ("group none all w1", "the name 'none' is taken"),
        (&format!("witness w9 {}", witness(1)), "the key of the witness 'w9' is there already"),
        (
            &format!("witness w9 {second}"),
            "another key of 'w1.example' is there already: name one of them",
        ),
        (
            &format!("witness w9 {of_log}"),
            "'example.org/log' is the key of a log, not of a witness",
        ),
        (&format!("log {of_log}"), "the log 'example.org/log' is there already"),
        ("max-age 1h", "a max-age is a number of seconds"),
    ] {
        let fault = Policy::parse(&policy_text(&format!("{line}\n"))).unwrap_err();
        assert_eq!(fault.to_string(), format!("line 7 of the policy: {reason}"));
    }
}

#[test]
fn a_policy_counts_witnesses_of_both_types() {
    let key = WitnessKey::ml_dsa_44("w9.example", &[9; 32]).unwrap();
    let text = format!("witness w9 {}\ngroup g all w1 w2 w9\nquorum g\n", key.public());
    let policy = Policy::parse(&policy_text(&text)).unwrap();
    let mut proof = proof(11, 40);
    let entry = statement(11).entry();
    let refused = policy.accept(&proof, &entry, NOW);
    assert_eq!(refused, Err(Refused::Quorum { counted: 2, known: 4, max_age_s: None }));
    assert!(proof.to_string().len() <= 2048);
    proof.checkpoint.add(key.cosign(proof.checkpoint.text(), NOW).unwrap());
    assert_eq!(policy.accept(&proof, &entry, NOW).unwrap().witnesses, ["w1", "w2", "w9"]);
    // The limit is 2 KiB, plus the line of the cosignature: the name of the key, and 2,432 bytes as base64.
    assert!(proof.to_string().len() <= 2048 + 3_300, "{}", proof.to_string().len());
}

#[test]
fn another_log_is_refused() {
    let policy = Policy::parse(&format!("log {}\nquorum none\n", tests::log(9))).unwrap();
    let refused = policy.accept(&proof(0, 1), &statement(0).entry(), NOW);
    assert_eq!(refused, Err(Refused::UnknownLog("example.org/log".to_owned())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The proof has no cosignatures beyond the quorum, because a change of these would have no effect.
    #[test]
    fn each_changed_byte_of_a_proof_is_refused(at: prop::sample::Index, byte: u8) {
        let text = proof(11, 40).to_string();
        let mut bytes = text.clone().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        if let Ok(changed) = String::from_utf8(bytes) {
            prop_assert!(verify(&changed, NOW).is_err(), "{}", changed);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        prop_assert!(LogProof::parse(&text).is_err());
        prop_assert!(Note::parse(&text).is_err());
        prop_assert!(Policy::parse(&text).is_err());
    }
}

#[test]
fn an_empty_tree_has_no_proof() {
    assert!(!verify_inclusion(TreeHash([0; 32]), 0, 0, &[], TreeHash::empty_tree()));
}
