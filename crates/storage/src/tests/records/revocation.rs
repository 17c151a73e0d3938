//! Tests the revocation of an API key, also during requests and batches of sends.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use sealpost_domain::{
    ApiKeyId, AttemptFailure, Envelope, Handle, KeyStatus, LeaseToken, LeasedDelivery, Outcome,
    OwnedKey, Plan, Wrapped,
    ports::{
        Durability::Durable, FactsQuery, HandleOwner, Outbox, RecipientWebhooks, RevocationSummary,
        StoreError, WriteSet,
    },
};

use crate::{
    DatabaseUrl,
    tests::fixture::{FAILING_MAX, Fixture, at, claim_of, delivery, envelope, key, result_of},
};

on_both!(
    revocation_deletes_webhooks_and_deliveries_only,
    a_revoked_key_stays_revoked,
    a_key_with_a_root_cannot_become_revoked,
    a_missing_key_cannot_be_changed,
    a_revocation_waits_for_the_request_that_holds_the_key,
    deliveries_that_a_batch_adds_during_a_revocation_are_discarded,
    a_request_waits_for_the_revocation_and_sees_it,
    a_lock_on_a_key_sees_earlier_changes,
    revocation_and_outcomes_do_not_deadlock,
);

fn revoke(db: &Fixture, id: &ApiKeyId) -> Result<RevocationSummary, StoreError> {
    db.write(Durable, |tx| {
        tx.lock_key(id)?;
        tx.revoke_key(id, at(9))
    })
}

fn revocation_deletes_webhooks_and_deliveries_only(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let bob = Handle::parse("bob").unwrap();
    let owner = HandleOwner { account_id: key.account_id, api_key_id: key.id };
    db.write(Durable, |tx| tx.assign_handle(&bob, &owner)).unwrap();
    let (mine, theirs) = ([db.register(&key.id), db.register(&key.id)], db.register(&other.id));
    db.send(&mine[0], 3);
    db.send(&mine[1], 1);
    db.send(&theirs, 2);
    db.execute("UPDATE deliveries SET due_at = NULL, failed_at = 5").unwrap();

    assert_eq!(revoke(db, &key.id).unwrap(), RevocationSummary { webhooks: 2, deliveries: 4 });

    let found = db.read(|reader| reader.find_key(&key.id)).unwrap().unwrap();
    assert_eq!((found.status, found.root), (KeyStatus::Revoked, None));
    assert_eq!((found.did, found.label.to_string()), (key.did, key.label.to_string()));
    assert_eq!(db.read(|reader| reader.find_handle(&bob)).unwrap(), Some(owner));
    let left =
        db.write(Durable, |tx| Ok((tx.count_webhooks(&key.id)?, tx.count_webhooks(&other.id)?)));
    assert_eq!(left.unwrap(), (0, 1));
    assert_eq!(db.count("deliveries"), 2);
    assert_eq!(db.count("envelopes"), 6, "envelopes stay");
}

fn a_revoked_key_stays_revoked(db: &Fixture) {
    let key = db.activate();
    revoke(db, &key.id).unwrap();
    for status in [KeyStatus::Active, KeyStatus::Deactivated, KeyStatus::Rotating] {
        let revived = db.write(Durable, |tx| tx.set_status(&key.id, status));
        assert!(matches!(revived, Err(StoreError::Refused(_))), "{revived:?}");
    }
    let owned = OwnedKey::from(&key);
    let (old, new) = (key.root.unwrap(), Wrapped(vec![1]));
    assert!(!db.write(Durable, |tx| tx.replace_root(&owned, &old, &new)).unwrap());
    assert_eq!(revoke(db, &key.id).unwrap(), RevocationSummary { webhooks: 0, deliveries: 0 });
}

fn a_key_with_a_root_cannot_become_revoked(db: &Fixture) {
    let key = db.activate();
    let done = db.write(Durable, |tx| tx.set_status(&key.id, KeyStatus::Revoked));
    assert!(matches!(done, Err(StoreError::Refused(_))), "{done:?}");
}

fn a_missing_key_cannot_be_changed(db: &Fixture) {
    let id = key(&db.activate().account_id).id;
    assert!(db.write(Durable, |tx| tx.lock_key(&id)).unwrap().is_none());
    for done in [
        db.write(Durable, |tx| tx.set_status(&id, KeyStatus::Active)),
        db.write(Durable, |tx| tx.set_sealing_version(&id, 2)),
        db.write(Durable, |tx| tx.set_plan(&id, &Plan::Builder)),
        db.write(Durable, |tx| tx.revoke_key(&id, at(9)).map(drop)),
    ] {
        assert!(matches!(done, Err(StoreError::Corrupt("key"))), "{done:?}");
    }
}

fn a_revocation_waits_for_the_request_that_holds_the_key(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    let is_revoked = AtomicBool::new(false);
    let revoked = thread::scope(|scope| {
        let mut batch = db.begin(Durable).unwrap();
        batch.lock_facts(&FactsQuery { callers: vec![key.id], ..FactsQuery::default() }).unwrap();
        let revocation = scope.spawn(|| {
            let revoked = revoke(db, &key.id).unwrap();
            is_revoked.store(true, Ordering::SeqCst);
            revoked
        });
        thread::sleep(PAUSE);
        assert!(!is_revoked.load(Ordering::SeqCst));
        let sealed = Arc::new(envelope(&key.id, &key.id));
        let leased = vec![delivery(&sealed, &to, LeaseToken(1), 5000)];
        let changes = WriteSet { envelopes: vec![sealed], leased, ..WriteSet::default() };
        batch.apply(&changes).unwrap();
        batch.commit().unwrap();
        revocation.join().unwrap()
    });
    assert_eq!(revoked, RevocationSummary { webhooks: 1, deliveries: 1 });
    assert_eq!((db.count("webhooks"), db.count("deliveries")), (0, 0));
}

/// On PostgreSQL, the revocation of a key does not wait for sends to this key. Such a send can add a delivery after the
/// webhook is deleted. A later claim finds this delivery without a webhook, and deletes it.
fn deliveries_that_a_batch_adds_during_a_revocation_are_discarded(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    thread::scope(|scope| {
        let mut batch =
            db.standing_batch(&FactsQuery { recipients: vec![key.id], ..FactsQuery::default() });
        let revocation = scope.spawn(|| revoke(db, &key.id).unwrap());
        if matches!(db.url, DatabaseUrl::Postgres(_)) {
            revocation.join().unwrap();
        }
        let sealed = Arc::new(envelope(&key.id, &key.id));
        let leased = vec![delivery(&sealed, &to, LeaseToken(1), 5000)];
        let changes = WriteSet { envelopes: vec![sealed], leased, ..WriteSet::default() };
        batch.apply(&changes).unwrap();
        batch.commit().unwrap();
    });
    assert_eq!(db.count("webhooks"), 0);
    assert!(db.claim(&claim_of(5001, 9, LeaseToken(2))).unwrap().is_empty());
    assert_eq!(db.count("deliveries"), 0);
}

fn a_request_waits_for_the_revocation_and_sees_it(db: &Fixture) {
    let (sender, key) = (db.activate(), db.activate());
    db.register(&key.id);
    let is_committed = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut tx = db.begin(Durable).unwrap();
        tx.lock_key(&key.id).unwrap();
        tx.revoke_key(&key.id, at(9)).unwrap();
        let batch = scope.spawn(|| {
            let (callers, recipients) = (vec![sender.id, key.id], vec![key.id]);
            let wanted = FactsQuery { callers, recipients, ..FactsQuery::default() };
            let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
            assert!(is_committed.load(Ordering::SeqCst));
            facts
        });
        thread::sleep(PAUSE);
        is_committed.store(true, Ordering::SeqCst);
        tx.commit().unwrap();
        let facts = batch.join().unwrap();
        assert_eq!(facts.keys[&key.id].status, KeyStatus::Revoked);
        assert_eq!(facts.keys[&sender.id].status, KeyStatus::Active);
        assert_eq!(*facts.webhooks[&key.id], RecipientWebhooks::default());
    });
}

fn a_lock_on_a_key_sees_earlier_changes(db: &Fixture) {
    let key = db.activate();
    thread::scope(|scope| {
        let mut first = db.begin(Durable).unwrap();
        first.lock_key(&key.id).unwrap();
        let second = scope.spawn(|| db.write(Durable, |tx| tx.lock_key(&key.id)).unwrap().unwrap());
        thread::sleep(PAUSE);
        first.set_status(&key.id, KeyStatus::Rotating).unwrap();
        first.set_sealing_version(&key.id, 2).unwrap();
        first.commit().unwrap();
        let seen = second.join().unwrap();
        assert_eq!((seen.status, seen.sealing_version), (KeyStatus::Rotating, 2));
    });
}

fn revocation_and_outcomes_do_not_deadlock(db: &Fixture) {
    for round in 0..10 {
        let key = db.activate();
        let held = send_to_two_webhooks(db, &key.id, 30, LeaseToken(round));
        let exhausted = Outcome::Exhausted(AttemptFailure::Dns);
        let outcome = if round % 2 == 0 { Outcome::Succeeded } else { exhausted };
        thread::scope(|scope| {
            for part in held.chunks(20) {
                scope.spawn(move || {
                    let part: Vec<_> =
                        part.iter().rev().map(|held| result_of(held, 1001, outcome)).collect();
                    db.record_outcomes(&part, FAILING_MAX).unwrap();
                });
            }
            scope.spawn(|| revoke(db, &key.id).unwrap());
        });
        assert_eq!((db.count("webhooks"), db.count("deliveries")), (0, 0));
    }
}

/// Stores envelopes from a key to itself, each with a leased delivery to two new webhooks. Returns the deliveries in the
/// order of the envelopes.
fn send_to_two_webhooks(
    db: &Fixture,
    key: &ApiKeyId,
    count: usize,
    lease: LeaseToken,
) -> Vec<LeasedDelivery> {
    let to = [db.register(key), db.register(key)];
    let sent: Vec<_> = (0..count).map(|_| Arc::new(envelope(key, key))).collect();
    let deliveries = |sent: &Arc<Envelope>| {
        let sent = Arc::clone(sent);
        to.clone().map(|to| delivery(&sent, &to, lease, 100_000))
    };
    let leased: Vec<_> = sent.iter().flat_map(deliveries).collect();
    db.apply(&WriteSet { envelopes: sent, leased: leased.clone(), ..WriteSet::default() });
    leased
}

/// A pause that is long enough for a transaction to finish if it does not wait for a lock.
const PAUSE: Duration = Duration::from_millis(150);
