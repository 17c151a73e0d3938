//! Tests of the issuer keys, with which the service signs in its own name.

use std::thread;

use sealpost_domain::ports::Durability::Durable;

use crate::tests::fixture::{Fixture, issuer_key};

on_both!(keys_read_back_in_the_order_in_which_they_sign, one_of_many_nodes_adds_the_first_key);

fn keys_read_back_in_the_order_in_which_they_sign(db: &Fixture) {
    let keys = [issuer_key(7), issuer_key(-1), issuer_key(7)];
    for key in &keys {
        db.write(Durable, |tx| tx.insert_issuer_key(key)).unwrap();
    }
    let expected = [&keys[1], &keys[0], &keys[2]];
    assert!(db.read(crate::Reader::issuer_keys).unwrap().iter().eq(expected));
    let locked = db.write(Durable, crate::Transaction::lock_issuer_keys).unwrap();
    assert!(locked.iter().eq(expected));
}

/// Several nodes may start with an empty database at the same time. Only one of them may add an issuer key.
fn one_of_many_nodes_adds_the_first_key(db: &Fixture) {
    let start = || {
        let key = issuer_key(1);
        db.write(Durable, |tx| {
            if tx.lock_issuer_keys()?.is_empty() {
                tx.insert_issuer_key(&key)?;
            }
            Ok(())
        })
    };
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| start().unwrap());
        }
    });
    assert_eq!(db.count("issuer_keys"), 1);
}
