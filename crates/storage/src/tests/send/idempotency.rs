//! Tests of idempotency keys of sends, and of the counts of messages above the monthly allowance.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use sealpost_domain::{
    ApiKeyId, Fingerprint, IdempotencyKey, ReceiptState, Timestamp,
    ports::{
        AdmissionFacts, Durability::Durable, FactsQuery, IdempotencyRecord, IdempotencyResult,
        NewIdempotencyRecord, OverageCount, StoreError, WriteSet,
    },
};

use crate::{
    DatabaseUrl,
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at, envelope},
};

on_both!(
    only_its_caller_finds_an_idempotency_key,
    a_key_with_a_purged_envelope_is_not_found_and_free_again,
    an_expired_key_is_free_again,
    the_second_send_with_a_key_is_contended,
    a_waiting_send_sees_the_result_of_the_first,
    one_of_many_sends_with_a_key_is_stored,
    one_of_many_sends_with_a_stale_key_is_stored,
    one_of_many_sends_with_an_expired_key_is_stored,
    overage_adds_up_by_key_and_month,
    concurrent_overage_adds_up,
);

type Key = (ApiKeyId, IdempotencyKey);

fn name(caller: ApiKeyId, key: &str) -> Key {
    (caller, IdempotencyKey::parse(key).unwrap())
}

/// Returns the rows to write for a send with this idempotency key.
fn send((caller, key): &Key, byte: u8) -> WriteSet {
    let envelope = Arc::new(envelope(caller, caller));
    let remembered = vec![NewIdempotencyRecord {
        caller: *caller,
        key: key.clone(),
        fingerprint: Fingerprint([byte; 32]),
        result: IdempotencyResult::Send {
            envelope: envelope.meta.id,
            state: ReceiptState::Waiting,
        },
        at: NOW,
        expired_before: NOW,
    }];
    WriteSet { envelopes: vec![envelope], idempotency: remembered, ..WriteSet::default() }
}

/// Returns the rows to write for a send shortly before [`NOW`] with this idempotency key. At [`NOW`], its idempotency
/// record has expired.
fn send_early(name: &Key, byte: u8) -> WriteSet {
    let mut changes = send(name, byte);
    changes.idempotency[0].at = at(NOW.as_millis() - 1);
    changes
}

fn record(changes: &WriteSet) -> IdempotencyRecord {
    let NewIdempotencyRecord { at, fingerprint, .. } = changes.idempotency[0];
    let envelope = changes.envelopes[0].meta.clone();
    let result = IdempotencyResult::Send { envelope, state: ReceiptState::Waiting };
    IdempotencyRecord { at, fingerprint, result }
}

fn recall(tx: &mut Transaction, names: &[Key]) -> Result<AdmissionFacts, StoreError> {
    tx.lock_facts(&FactsQuery { idempotency: names.to_vec(), ..FactsQuery::default() })
}

fn facts(db: &Fixture, names: &[Key]) -> AdmissionFacts {
    db.write(Durable, |tx| recall(tx, names)).unwrap()
}

/// Sends an envelope as a batch does. Returns false if the idempotency key was used before. Counts the attempts in
/// `tries`.
fn send_once(db: &Fixture, name: &Key, byte: u8, tries: &AtomicU32) -> bool {
    let changes = send(name, byte);
    let done = db.write(Durable, |tx| {
        tries.fetch_add(1, Ordering::SeqCst);
        let remembered = recall(tx, std::slice::from_ref(name))?.idempotency;
        let is_new = remembered.get(name).is_none_or(|earlier| earlier.at < NOW);
        if is_new {
            tx.apply(&changes)?;
        }
        Ok(is_new)
    });
    done.unwrap()
}

fn only_its_caller_finds_an_idempotency_key(db: &Fixture) {
    let (one, other) = (db.activate().id, db.activate().id);
    let names = [name(one, "a"), name(one, "A"), name(one, "O'Brien \"\\"), name(other, "a")];
    let sent = [0, 1, 3].map(|n| send(&names[n], 1));
    for changes in &sent {
        db.apply(changes);
    }
    let found = facts(db, &names).idempotency;
    assert_eq!(found.len(), 3);
    for (n, changes) in [0, 1, 3].into_iter().zip(&sent) {
        assert_eq!(found[&names[n]], record(changes));
    }
    let found = facts(db, &[names[1].clone(), name(one, "b")]).idempotency;
    assert_eq!(found.into_keys().collect::<Vec<_>>(), [names[1].clone()]);
}

fn a_key_with_a_purged_envelope_is_not_found_and_free_again(db: &Fixture) {
    let caller = db.activate().id;
    let (stale, new) = (name(caller, "stale"), name(caller, "new"));
    db.apply(&send(&stale, 1));
    db.execute("DELETE FROM envelopes").unwrap();
    assert!(facts(db, std::slice::from_ref(&stale)).idempotency.is_empty());
    let (again, mut first) = (send(&stale, 2), send(&new, 3));
    first.envelopes.extend(again.envelopes.iter().cloned());
    first.idempotency.extend(again.idempotency.iter().cloned());
    db.apply(&first);
    let found = facts(db, &[stale.clone(), new.clone()]).idempotency;
    assert_eq!((&found[&stale], &found[&new]), (&record(&again), &record(&first)));
    assert_eq!(db.count("idempotency_keys"), 2);
}

fn an_expired_key_is_free_again(db: &Fixture) {
    let caller = db.activate().id;
    let [early, late, new] = ["early", "late", "new"].map(|key| name(caller, key));
    db.apply(&send_early(&early, 1));
    let first = send(&late, 2);
    db.apply(&first);
    let merged = |changes: [WriteSet; 2]| {
        let mut all = WriteSet::default();
        for one in changes {
            all.envelopes.extend(one.envelopes);
            all.idempotency.extend(one.idempotency);
        }
        all
    };
    // The expired idempotency key could be stored again, but the valid key makes the whole batch fail.
    let in_vain = merged([send(&early, 3), send(&late, 4)]);
    let second = db.write(Durable, |tx| tx.apply(&in_vain));
    assert!(matches!(second, Err(StoreError::Contended(_))), "{second:?}");
    assert_eq!(facts(db, std::slice::from_ref(&early)).idempotency[&early].fingerprint.0, [1; 32]);
    let (again, other) = (send(&early, 5), send(&new, 6));
    let expected = [record(&again), record(&first), record(&other)];
    db.apply(&merged([other, again]));
    let mut found = facts(db, &[early.clone(), late.clone(), new.clone()]).idempotency;
    assert_eq!([early, late, new].map(|name| found.remove(&name).unwrap()), expected);
    assert_eq!((db.count("envelopes"), db.count("idempotency_keys")), (4, 3));
}

fn the_second_send_with_a_key_is_contended(db: &Fixture) {
    let name = name(db.activate().id, "a");
    let first = send(&name, 1);
    db.apply(&first);
    let second = db.write(Durable, |tx| tx.apply(&send(&name, 2)));
    assert!(matches!(second, Err(StoreError::Contended(_))), "{second:?}");
    assert_eq!(db.count("envelopes"), 1);
    assert_eq!(facts(db, std::slice::from_ref(&name)).idempotency[&name], record(&first));
}

fn a_waiting_send_sees_the_result_of_the_first(db: &Fixture) {
    let name = name(db.activate().id, "a");
    let tries = AtomicU32::new(0);
    thread::scope(|scope| {
        let mut first = db.begin(Durable).unwrap();
        assert!(recall(&mut first, std::slice::from_ref(&name)).unwrap().idempotency.is_empty());
        first.apply(&send(&name, 1)).unwrap();
        let second = scope.spawn(|| send_once(db, &name, 2, &tries));
        db.await_waiting();
        first.commit().unwrap();
        assert!(!second.join().unwrap());
    });
    assert_eq!(facts(db, std::slice::from_ref(&name)).idempotency[&name].fingerprint.0, [1; 32]);
    // On SQLite, a transaction waits before it reads. On PostgreSQL, a transaction reads, waits, and reads again.
    let is_alone = matches!(db.url, DatabaseUrl::Sqlite(_));
    assert_eq!(tries.into_inner(), if is_alone { 1 } else { 2 });
}

fn one_is_stored(db: &Fixture, name: &Key) {
    let before = db.count("envelopes");
    let tries = AtomicU32::new(0);
    let stored: Vec<_> = thread::scope(|scope| {
        let tries = &tries;
        let all: Vec<_> =
            (2..8).map(|byte| scope.spawn(move || send_once(db, name, byte, tries))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(stored.iter().filter(|stored| **stored).count(), 1);
    assert_eq!((db.count("envelopes"), db.count("idempotency_keys")), (before + 1, 1));
}

fn one_of_many_sends_with_a_key_is_stored(db: &Fixture) {
    one_is_stored(db, &name(db.activate().id, "a"));
}

fn one_of_many_sends_with_a_stale_key_is_stored(db: &Fixture) {
    let name = name(db.activate().id, "a");
    for _ in 0..5 {
        db.apply(&send(&name, 1));
        db.execute("DELETE FROM envelopes").unwrap();
        one_is_stored(db, &name);
        db.execute("DELETE FROM envelopes").unwrap();
    }
}

fn one_of_many_sends_with_an_expired_key_is_stored(db: &Fixture) {
    let name = name(db.activate().id, "a");
    for _ in 0..5 {
        db.apply(&send_early(&name, 1));
        one_is_stored(db, &name);
        db.execute("DELETE FROM idempotency_keys").unwrap();
    }
}

fn overage_adds_up_by_key_and_month(db: &Fixture) {
    let (one, other) = (db.activate().id, db.activate().id);
    let of = |key, month, messages| OverageCount { key, month: at(month), messages };
    for overage in [
        vec![of(one, 1, 2), of(other, 1, 5), of(one, 2, 7), of(one, 1, 1)],
        vec![of(one, 1, u32::MAX)],
    ] {
        db.apply(&WriteSet { overage, ..WriteSet::default() });
    }
    let recorded = |key, month, messages: u64| {
        db.count(&format!(
            "overages WHERE api_key_id = '{key}' AND month = {month} AND messages = {messages}"
        ))
    };
    assert_eq!(recorded(one, 1, 3 + u64::from(u32::MAX)), 1);
    assert_eq!((recorded(other, 1, 5), recorded(one, 2, 7)), (1, 1));
    assert_eq!(db.count("overages"), 3);
}

fn concurrent_overage_adds_up(db: &Fixture) {
    let keys = [db.activate().id, db.activate().id];
    thread::scope(|scope| {
        for turn in 0..4 {
            scope.spawn(move || {
                let mut overage = keys.map(|key| OverageCount { key, month: at(1), messages: 1 });
                overage.rotate_left(turn % 2);
                let wanted = FactsQuery { callers: keys.to_vec(), ..FactsQuery::default() };
                for _ in 0..10 {
                    let mut tx = db.begin(Durable).unwrap();
                    tx.lock_facts(&wanted).unwrap();
                    tx.apply(&WriteSet { overage: overage.to_vec(), ..WriteSet::default() })
                        .unwrap();
                    tx.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(db.count("overages WHERE messages = 40"), 2);
}

/// The time of all sends except those of [`send_early`].
const NOW: Timestamp = at(7);
