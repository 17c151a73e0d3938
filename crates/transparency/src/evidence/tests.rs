//! Tests of evidence.

use super::*;
use crate::{
    envelopes::{EnvelopePlace, tree},
    hash::TreeHash,
    tests::{log, signed_checkpoint},
    witness::WitnessKey,
};

const NOW: u64 = 1_700_000_000;
const ENVELOPE: &str =
    "envelope env_1\nhash sha256:1\nsender ak_1\nrecipient ak_2\nsent_at 1700000000000\n";
const FACTS: &str = "state opened\nopened_at 1700000000009\n";
const NAMES: &str = "envelope_entry 2\nsender_did did:key:z1\nsender_entry 0\n\
    sender_badge bdg_1\nsender_badge_entry 4\nrecipient_did did:key:z2\nrecipient_entry 1\n";

fn statement(kind: &str, text: &str) -> Statement {
    let (kind, text) = (kind.to_owned(), text.to_owned());
    Statement { kind, at_ms: 1_700_000_000_010, salt: [7; 32], text, envelope: None }
}

/// The statements of a log: two keys, envelopes, another key, a badge, and the evidence.
fn statements(evidence: &str) -> Vec<Statement> {
    let leaves = ["other", ENVELOPE, "another"].map(|text| TreeHash::leaf(text.as_bytes()));
    let envelopes = EnvelopePlace::text_of_all(&leaves).unwrap();
    let envelope = EnvelopePlace::find(ENVELOPE.to_owned(), &leaves).unwrap();
    vec![
        statement("key", "key ak_1\ndid did:key:z1\nsealing_version 1\nstatus active\n"),
        statement("key", "key ak_2\ndid did:key:z2\nsealing_version 1\nstatus revoked\n"),
        Statement { envelope, ..statement("envelopes", &envelopes) },
        statement("key", "key ak_3\ndid did:key:z3\nsealing_version 1\nstatus active\n"),
        statement("badge", "badge bdg_1\nkey ak_1\nexpires_at 9\nstatus valid\n"),
        statement("evidence", evidence),
    ]
}

/// Returns evidence with the statement `text` and the entries `numbers` after it, cosigned by one witness.
fn evidence(text: &str, numbers: &[usize]) -> Evidence {
    let statements = statements(text);
    let leaves: Vec<_> = statements.iter().map(|statement| statement.entry().hash()).collect();
    let mut tree = tree(&leaves).unwrap();
    let mut checkpoint = signed_checkpoint(3, tree.size(), tree.root().unwrap());
    checkpoint.add(witness().cosign(checkpoint.text(), NOW).unwrap());
    let mut entry = |number: usize| {
        let index = u64::try_from(number).unwrap();
        let hashes = tree.inclusion_proof(index).unwrap();
        ProvenEntry { statement: statements[number].clone(), index, hashes }
    };
    let entries = [5].iter().chain(numbers).map(|number| entry(*number)).collect();
    Evidence { entries, checkpoint }
}

fn good() -> Evidence {
    evidence(&format!("{ENVELOPE}{FACTS}{NAMES}"), &[2, 0, 4, 1])
}

fn witness() -> WitnessKey {
    WitnessKey::new("w.example", &[4; 32]).unwrap()
}

fn policy() -> Policy {
    let witness = witness();
    let text = format!("log {}\nwitness w {}\nquorum w\n", log(3), witness.public());
    Policy::parse(&text).unwrap()
}

fn is_accepted(text: &str) -> bool {
    Evidence::parse(text).is_ok_and(|evidence| evidence.accept(&policy(), NOW).is_ok())
}

#[test]
fn evidence_is_read_from_its_file_and_accepted() {
    let text = good().to_string();
    assert_eq!(Evidence::parse(&text), Ok(good()));
    let accepted = good().accept(&policy(), NOW).unwrap();
    assert_eq!(accepted.witnesses, ["w"]);
    // The policy decides about the age, so evidence is valid years later too.
    assert!(good().accept(&policy(), NOW + 100 * 365 * 86_400).is_ok());
}

#[test]
fn evidence_without_names_of_parties_has_only_the_envelope() {
    let text = format!("{ENVELOPE}state sent\nenvelope_entry 2\n");
    assert!(is_accepted(&evidence(&text, &[2]).to_string()));
}

#[test]
fn entries_that_the_evidence_does_not_name_are_refused() {
    let text = format!("{ENVELOPE}{FACTS}{NAMES}");
    let refused = |text: &str, numbers: &[usize]| {
        evidence(text, numbers).accept(&policy(), NOW).unwrap_err().to_string()
    };
    for numbers in [&[0, 2, 4, 1][..], &[2, 0, 4, 3], &[2, 3, 4, 1]] {
        assert!(refused(&text, numbers).contains("does not belong to it"), "{numbers:?}");
    }
    assert!(refused(&text, &[2, 0, 4]).contains("lacks an entry"));
    assert!(refused(&text, &[2, 0, 4, 1, 3]).contains("does not name"));
    for (from, to) in [
        ("sender ak_1", "sender ak_3"),
        ("sender_did did:key:z1", "sender_did did:key:z3"),
        ("recipient ak_2", "recipient ak_3"),
        ("sender_badge bdg_1", "sender_badge bdg_2"),
        ("hash sha256:1", "hash sha256:2"),
        ("sent_at 1", "sent_at 2"),
        ("sender_entry", "other_entry"),
    ] {
        let other = text.replace(from, to);
        assert!(refused(&other, &[2, 0, 4, 1]).contains("does not belong to it"), "{to}");
    }
}

#[test]
fn a_statement_of_another_kind_is_no_evidence() {
    let Evidence { mut entries, checkpoint } = good();
    entries.remove(0);
    let other = Evidence { entries, checkpoint: checkpoint.clone() };
    assert_eq!(other.accept(&policy(), NOW), Err(NO_ENTRY));
    let empty = Evidence { entries: Vec::new(), checkpoint };
    assert_eq!(empty.accept(&policy(), NOW), Err(NO_ENTRY));
}

/// Returns true if the policy accepts a changed file although its content differs from the good evidence. Signatures in
/// another order, or repeated signatures, are no difference.
fn is_falsely_accepted(text: &str) -> bool {
    let says_the_same = |other: &Evidence| {
        other.entries == good().entries && other.checkpoint.text() == good().checkpoint.text()
    };
    is_accepted(text) && !Evidence::parse(text).is_ok_and(|other| says_the_same(&other))
}

/// Tests 5,000 files with one character replaced, removed or doubled, or with one line removed, doubled or moved.
#[test]
fn no_mutation_is_falsely_accepted() {
    let text = good().to_string();
    assert!(is_accepted(&text));
    let chars: Vec<_> = text.chars().collect();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let mut seed = 1_usize;
    let mut draw = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    let mut mutated = 0;
    while mutated < 5_000 {
        let (place, line) = (draw(chars.len()), draw(lines.len()));
        let (mut chars, mut lines) = (chars.clone(), lines.clone());
        let other: String = match draw(6) {
            0 => {
                let printable = u8::try_from(32 + draw(95)).unwrap();
                chars[place] = char::from(printable);
                chars.into_iter().collect()
            }
            1 => {
                chars.remove(place);
                chars.into_iter().collect()
            }
            2 => {
                chars.insert(place, chars[place]);
                chars.into_iter().collect()
            }
            3 => {
                lines.remove(line);
                lines.concat()
            }
            4 => {
                lines.insert(line, lines[line]);
                lines.concat()
            }
            _ => {
                let moved = lines.remove(line);
                lines.insert(draw(lines.len() + 1), moved);
                lines.concat()
            }
        };
        if other != text {
            mutated += 1;
            assert!(!is_falsely_accepted(&other), "{other}");
        }
    }
}
