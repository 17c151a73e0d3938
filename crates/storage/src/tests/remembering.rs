//! Idempotent sends: what is remembered of them, and who remembers first. And what is sent past the allowance.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use sealpost_domain::{
    ApiKeyId, Fingerprint, IdempotencyKey, Timestamp,
    ports::{
        AdmissionFacts, Durability::Durable, FactsQuery, IdempotencyRecord, NewIdempotencyRecord,
        OverageCount, Store, StoreError, Tx, WriteSet,
    },
};

use super::fixture::{Fixture, at, envelope};
use crate::DatabaseUrl;

on_both!(
    what_was_remembered_is_told_to_its_caller_alone,
    without_its_envelope_nothing_is_remembered,
    a_name_whose_envelope_was_purged_is_free_again,
    a_name_that_has_had_its_time_is_free_again,
    who_comes_second_is_contended,
    who_waits_for_the_first_sees_what_came_of_it,
    of_many_sends_of_one_name_one_is_stored,
    of_many_that_take_a_stale_name_one_is_stored,
    of_many_that_take_a_name_that_has_had_its_time_one_is_stored,
    overage_adds_up_by_key_and_month,
    overage_of_many_at_once_adds_up,
);

type Name = (ApiKeyId, IdempotencyKey);

fn name(caller: ApiKeyId, key: &str) -> Name {
    (caller, IdempotencyKey::parse(key).unwrap())
}

/// An envelope of that name.
fn send((caller, key): &Name, byte: u8) -> WriteSet {
    let envelope = Arc::new(envelope(caller, caller));
    let remembered = vec![NewIdempotencyRecord {
        caller: *caller,
        key: key.clone(),
        fingerprint: Fingerprint([byte; 32]),
        envelope_id: envelope.meta.id,
        at: NOW,
        expired_before: NOW,
    }];
    WriteSet { envelopes: vec![envelope], idempotency: remembered, ..WriteSet::default() }
}

/// The same so early that it has had its time by now.
fn send_early(name: &Name, byte: u8) -> WriteSet {
    let mut changes = send(name, byte);
    changes.idempotency[0].at = at(NOW.as_millis() - 1);
    changes
}

fn told(changes: &WriteSet) -> IdempotencyRecord {
    let NewIdempotencyRecord { at, fingerprint, .. } = changes.idempotency[0];
    IdempotencyRecord { at, fingerprint, meta: changes.envelopes[0].meta.clone() }
}

fn recall(tx: &mut dyn Tx, names: &[Name]) -> Result<AdmissionFacts, StoreError> {
    tx.lock_facts(&FactsQuery { idempotency: names.to_vec(), ..FactsQuery::default() })
}

fn facts(db: &Fixture, names: &[Name]) -> AdmissionFacts {
    db.store().write(Durable, |tx| recall(tx, names)).unwrap()
}

/// As a batch does: nothing where it was done before. The first try is counted too.
fn send_once(db: &Fixture, name: &Name, byte: u8, tries: &AtomicU32) -> bool {
    let changes = send(name, byte);
    let done = db.store().write(Durable, |tx| {
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

fn what_was_remembered_is_told_to_its_caller_alone(db: &Fixture) {
    let (one, other) = (db.activate().id, db.activate().id);
    let names = [name(one, "a"), name(one, "A"), name(one, "O'Brien \"\\"), name(other, "a")];
    let sent = [0, 1, 3].map(|n| send(&names[n], 1));
    for changes in &sent {
        db.apply(changes);
    }
    let found = facts(db, &names).idempotency;
    assert_eq!(found.len(), 3);
    for (n, changes) in [0, 1, 3].into_iter().zip(&sent) {
        assert_eq!(found[&names[n]], told(changes));
    }
    let found = facts(db, &[names[1].clone(), name(one, "b")]).idempotency;
    assert_eq!(found.into_keys().collect::<Vec<_>>(), [names[1].clone()]);
}

fn without_its_envelope_nothing_is_remembered(db: &Fixture) {
    let name = name(db.activate().id, "a");
    db.apply(&send(&name, 1));
    db.execute("DELETE FROM envelopes").unwrap();
    assert!(facts(db, &[name]).idempotency.is_empty());
}

fn a_name_whose_envelope_was_purged_is_free_again(db: &Fixture) {
    let caller = db.activate().id;
    let (stale, new) = (name(caller, "stale"), name(caller, "new"));
    db.apply(&send(&stale, 1));
    db.execute("DELETE FROM envelopes").unwrap();
    let (again, mut first) = (send(&stale, 2), send(&new, 3));
    first.envelopes.extend(again.envelopes.iter().cloned());
    first.idempotency.extend(again.idempotency.iter().cloned());
    db.apply(&first);
    let found = facts(db, &[stale.clone(), new.clone()]).idempotency;
    assert_eq!((&found[&stale], &found[&new]), (&told(&again), &told(&first)));
    assert_eq!(db.count("remembered"), 2);
}

fn a_name_that_has_had_its_time_is_free_again(db: &Fixture) {
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
    // One that has had its time makes room in the same batch; one that has not is in the way of all of it.
    let in_vain = merged([send(&early, 3), send(&late, 4)]);
    let second = db.store().write(Durable, |tx| tx.apply(&in_vain));
    assert!(matches!(second, Err(StoreError::Contended(_))), "{second:?}");
    assert_eq!(facts(db, std::slice::from_ref(&early)).idempotency[&early].fingerprint.0, [1; 32]);
    let (again, other) = (send(&early, 5), send(&new, 6));
    let expected = [told(&again), told(&first), told(&other)];
    db.apply(&merged([other, again]));
    let mut found = facts(db, &[early.clone(), late.clone(), new.clone()]).idempotency;
    assert_eq!([early, late, new].map(|name| found.remove(&name).unwrap()), expected);
    assert_eq!((db.count("envelopes"), db.count("remembered")), (4, 3));
}

fn who_comes_second_is_contended(db: &Fixture) {
    let name = name(db.activate().id, "a");
    let first = send(&name, 1);
    db.apply(&first);
    let second = db.store().write(Durable, |tx| tx.apply(&send(&name, 2)));
    assert!(matches!(second, Err(StoreError::Contended(_))), "{second:?}");
    assert_eq!(db.count("envelopes"), 1);
    assert_eq!(facts(db, std::slice::from_ref(&name)).idempotency[&name], told(&first));
}

fn who_waits_for_the_first_sees_what_came_of_it(db: &Fixture) {
    let name = name(db.activate().id, "a");
    let tries = AtomicU32::new(0);
    thread::scope(|scope| {
        let mut first = db.begin(Durable).unwrap();
        assert!(recall(&mut *first, std::slice::from_ref(&name)).unwrap().idempotency.is_empty());
        first.apply(&send(&name, 1)).unwrap();
        let second = scope.spawn(|| send_once(db, &name, 2, &tries));
        db.await_waiting();
        first.commit().unwrap();
        assert!(!second.join().unwrap());
    });
    assert_eq!(facts(db, std::slice::from_ref(&name)).idempotency[&name].fingerprint.0, [1; 32]);
    // The one writer of SQLite waits before it looks; PostgreSQL looks, waits, and looks again.
    let is_alone = matches!(db.url, DatabaseUrl::Sqlite(_));
    assert_eq!(tries.into_inner(), if is_alone { 1 } else { 2 });
}

fn one_is_stored(db: &Fixture, name: &Name) {
    let before = db.count("envelopes");
    let tries = AtomicU32::new(0);
    let stored: Vec<_> = thread::scope(|scope| {
        let tries = &tries;
        let all: Vec<_> =
            (2..8).map(|byte| scope.spawn(move || send_once(db, name, byte, tries))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(stored.iter().filter(|stored| **stored).count(), 1);
    assert_eq!((db.count("envelopes"), db.count("remembered")), (before + 1, 1));
}

fn of_many_sends_of_one_name_one_is_stored(db: &Fixture) {
    one_is_stored(db, &name(db.activate().id, "a"));
}

fn of_many_that_take_a_stale_name_one_is_stored(db: &Fixture) {
    let name = name(db.activate().id, "a");
    for _ in 0..5 {
        db.apply(&send(&name, 1));
        db.execute("DELETE FROM envelopes").unwrap();
        one_is_stored(db, &name);
        db.execute("DELETE FROM envelopes").unwrap();
    }
}

fn of_many_that_take_a_name_that_has_had_its_time_one_is_stored(db: &Fixture) {
    let name = name(db.activate().id, "a");
    for _ in 0..5 {
        db.apply(&send_early(&name, 1));
        one_is_stored(db, &name);
        db.execute("DELETE FROM remembered").unwrap();
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

fn overage_of_many_at_once_adds_up(db: &Fixture) {
    let keys = [db.activate().id, db.activate().id];
    thread::scope(|scope| {
        for turn in 0..4 {
            scope.spawn(move || {
                let mut overage = keys.map(|key| OverageCount { key, month: at(1), messages: 1 });
                overage.rotate_left(turn % 2);
                for _ in 0..10 {
                    let mut tx = db.begin(Durable).unwrap();
                    tx.apply(&WriteSet { overage: overage.to_vec(), ..WriteSet::default() })
                        .unwrap();
                    tx.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(db.count("overages WHERE messages = 40"), 2);
}

/// The instant of every send that is not early.
const NOW: Timestamp = at(7);
