//! Tests of COSE receipts.

use ed25519_dalek::Signer;

use super::*;
use crate::{
    envelopes::tree,
    tests::{log, secret},
};

fn statement(n: u64) -> Statement {
    let text = format!("key ak_{n}\nstatus active\n");
    let (kind, at_ms) = ("key".to_owned(), 1_700_000_000_000);
    Statement { kind, at_ms, salt: [7; 32], text, envelope: None }
}

fn receipt(index: u64, size: u64) -> Vec<u8> {
    let leaves: Vec<_> = (0..size).map(|n| statement(n).entry().hash()).collect();
    let mut tree = tree(&leaves).unwrap();
    let hashes = tree.inclusion_proof(index).unwrap();
    let sign = |message: &[u8]| secret(3).sign(message).to_bytes();
    let origin = log(3).name().to_owned();
    let checkpoint = Checkpoint { origin, size, root: tree.root().unwrap() };
    let entry = ProvenEntry { statement: statement(index), index, hashes };
    CoseReceipt::create(&entry, &checkpoint, &log(3), sign).unwrap()
}

#[test]
fn a_receipt_is_read_and_its_log_is_found() {
    for (index, size) in [(0, 1), (0, 2), (4, 5), (3, 300), (299, 300)] {
        let receipt = CoseReceipt::parse(&receipt(index, size)).unwrap();
        assert_eq!((receipt.index, receipt.checkpoint.size), (index, size));
        assert_eq!(receipt.statement, statement(index));
        let logs = [log(5), log(3)];
        assert_eq!(receipt.signer(&logs), Some(&logs[1]));
        assert_eq!(receipt.signer(&logs[..1]), None);
    }
}

#[test]
fn no_change_of_a_byte_is_accepted() {
    let good = receipt(3, 10);
    for place in 0..good.len() {
        for change in [1_u8, 0x20, 0x80] {
            let mut other = good.clone();
            other[place] ^= change;
            let is_accepted =
                CoseReceipt::parse(&other).is_ok_and(|receipt| receipt.signer(&[log(3)]).is_some());
            assert!(!is_accepted, "byte {place} ^ {change}");
        }
    }
    assert!(CoseReceipt::parse(&good[1..]).is_err());
    assert!(CoseReceipt::parse(&[good.as_slice(), &[0]].concat()).is_err());
}

#[test]
fn no_change_of_the_unsigned_part_is_accepted() {
    let good = receipt(3, 10);
    let mut further = CoseSign1::from_tagged_slice(&good).unwrap();
    further.unprotected.rest.push((Label::Text("further".to_owned()), Value::Null));
    // The size of the tree in two bytes instead of one. The byte before the proof is its length.
    let proof = good.windows(3).position(|bytes| bytes == [0x83, 10, 3]).unwrap();
    let mut longer = good.clone();
    longer[proof - 1] += 1;
    longer.splice(proof + 1..proof + 2, [0x18, 10]);
    let expected = Err(CoseError("it is not written as the service writes it"));
    for other in [further.to_tagged_vec().unwrap(), longer] {
        assert_eq!(CoseReceipt::parse(&other).map(|receipt| receipt.index), expected);
    }
}
