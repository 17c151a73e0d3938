//! Tests the stored bytes of senders: sends add bytes, and retention subtracts them.

use std::{collections::HashMap, sync::Arc};

use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Envelope, EnvelopeId, Usage,
    ports::{Durability::Durable, FactsQuery, WriteSet},
};

use crate::tests::fixture::{Fixture, account, at, envelope, postgres};

on_both!(
    the_bytes_of_all_keys_of_an_account_are_counted,
    bytes_are_added_by_concurrent_transactions,
    retention_gives_bytes_back,
);

fn sealed(sender: &ApiKeyId, millis: i64, bytes: usize) -> Arc<Envelope> {
    let mut envelope = envelope(sender, sender);
    envelope.meta.id = EnvelopeId::new(at(millis), random(&envelope.meta.id));
    envelope.sealed = vec![0; bytes];
    Arc::new(envelope)
}

/// Returns bytes that are different for each id that the fixture creates: the first bytes of the id, which encode its
/// time.
fn random(id: &EnvelopeId) -> [u8; 10] {
    *id.as_bytes().first_chunk().unwrap()
}

fn store(db: &Fixture, key: &ApiKey, envelopes: Vec<Arc<Envelope>>) {
    let write = WriteSet { envelopes, usage: vec![(key.id, Usage::UNUSED)], ..WriteSet::default() };
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let locked = db.write(Durable, |tx| {
        tx.lock_facts(&wanted)?;
        tx.apply(&write)
    });
    locked.unwrap();
}

fn stored(db: &Fixture, accounts: &[AccountId]) -> HashMap<AccountId, u64> {
    db.write(Durable, |tx| tx.stored_bytes(accounts)).unwrap()
}

fn the_bytes_of_all_keys_of_an_account_are_counted(db: &Fixture) {
    let (one, other) = (db.activate(), db.activate());
    let sibling = db.activate_beside(&one);
    store(db, &one, vec![sealed(&one.id, 1, 10), sealed(&one.id, 2, 20)]);
    store(db, &sibling, vec![sealed(&sibling.id, 1, 300)]);
    store(db, &sibling, vec![]);
    let unknown = account().id;
    let found = stored(db, &[one.account_id, other.account_id, unknown]);
    assert_eq!(found, HashMap::from([(one.account_id, 330), (other.account_id, 0)]));
    assert_eq!(stored(db, &[]), HashMap::new());
}

fn bytes_are_added_by_concurrent_transactions(db: &Fixture) {
    let key = db.activate();
    std::thread::scope(|scope| {
        for nth in 0..4 {
            let key = &key;
            scope.spawn(move || {
                for _ in 0..5 {
                    store(db, key, vec![sealed(&key.id, nth, 7)]);
                }
            });
        }
    });
    assert_eq!(stored(db, &[key.account_id]), HashMap::from([(key.account_id, 140)]));
}

fn retention_gives_bytes_back(db: &Fixture) {
    let (one, other) = (db.activate(), db.activate());
    for (key, bytes) in [(&one, 10), (&other, 1000)] {
        let at_times = [5, 6, 20].map(|millis| sealed(&key.id, millis, bytes));
        store(db, key, at_times.to_vec());
    }
    let purge = |limit| db.write(Durable, |tx| tx.purge_envelopes(at(10), at(11), limit)).unwrap();
    assert_eq!(purge(99), 4);
    let accounts = [one.account_id, other.account_id];
    assert_eq!(stored(db, &accounts), HashMap::from([(accounts[0], 10), (accounts[1], 1000)]));
    // A counter never falls below 0.
    db.execute("UPDATE usage SET stored_bytes = 3").unwrap();
    db.write(Durable, |tx| tx.purge_envelopes(at(99), at(99), 99)).unwrap();
    assert_eq!(stored(db, &accounts), HashMap::from([(accounts[0], 0), (accounts[1], 0)]));
}

/// A deletion of envelopes waits for a batch of the same sender. The deletion then subtracts from the counter that the
/// batch has written.
#[test]
fn retention_waits_for_a_batch_of_the_sender() {
    let db = postgres();
    let key = db.activate();
    store(&db, &key, vec![sealed(&key.id, 1, 100)]);
    let query = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let mut batch = db.standing_batch(&query);
    std::thread::scope(|scope| {
        let purge =
            scope.spawn(|| db.write(Durable, |tx| tx.purge_envelopes(at(10), at(11), 9)).unwrap());
        db.await_waiting();
        let usage = vec![(key.id, Usage::UNUSED)];
        let envelopes = vec![sealed(&key.id, 50, 7)];
        batch.apply(&WriteSet { envelopes, usage, ..WriteSet::default() }).unwrap();
        batch.commit().unwrap();
        assert_eq!(purge.join().unwrap(), 1);
    });
    assert_eq!(stored(&db, &[key.account_id]), HashMap::from([(key.account_id, 7)]));
}
