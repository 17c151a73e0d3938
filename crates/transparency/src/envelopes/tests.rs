//! Tests of envelopes in statements.

use super::*;
use crate::entry::Statement;

fn text(n: usize) -> String {
    format!("envelope env_{n}\nhash sha256:{n}\n")
}

fn statement(count: usize, n: usize) -> Statement {
    let leaves: Vec<_> = (0..count).map(|n| TreeHash::leaf(text(n).as_bytes())).collect();
    Statement {
        kind: "envelopes".to_owned(),
        at_ms: 1_700_000_000_000,
        salt: [7; 32],
        text: EnvelopePlace::text_of_all(&leaves).unwrap(),
        envelope: EnvelopePlace::find(text(n), &leaves).unwrap(),
    }
}

#[test]
fn each_envelope_of_a_statement_is_proven() {
    for count in [1, 2, 3, 255, 256, 257, 700] {
        for n in [0, count / 2, count - 1] {
            let made = statement(count, n);
            let read = Statement::parse(made.to_string().as_bytes()).unwrap();
            assert_eq!(read, made);
            assert_eq!(read.value("hash"), Some(&*format!("sha256:{n}")));
            let whole = Statement { envelope: None, ..made };
            assert_eq!(read.entry(), whole.entry(), "the entry is that of all envelopes");
        }
        assert_eq!(statement(count, count).envelope, None);
    }
}

#[test]
fn another_envelope_is_no_part_of_the_statement() {
    let made = statement(5, 3).to_string();
    for (from, to) in [
        ("env_3", "env_4"),
        ("sha256:3", "sha256:4"),
        ("index 3", "index 2"),
        ("index 3", "index 03"),
        ("envelopes 5", "envelopes 4"),
        ("kind envelopes", "kind key"),
    ] {
        let changed = made.replacen(from, to, 1);
        assert_ne!(changed, made);
        assert_eq!(Statement::parse(changed.as_bytes()), None, "{from}");
    }
    assert_eq!(Statement::parse(format!("{made}\n").as_bytes()), None);
    assert_eq!(Statement::parse(made.trim_end().as_bytes()), None);
}
