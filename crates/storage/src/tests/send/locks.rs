//! Tests which locks make batches of sends, and changes of accounts, wait for each other.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use sealpost_domain::{
    ApiKey, Usage,
    ports::{Durability::Durable, FactsQuery, StoreError, WriteSet},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, postgres, secrets},
};

on_both!(
    concurrent_batches_count_usage_exactly,
    an_account_is_locked_by_one_transaction_at_a_time,
    a_new_login_secret_waits_for_the_lock_on_the_account,
    batches_with_the_same_keys_do_not_deadlock,
);

const THREADS: u32 = 4;
const ROUNDS: u32 = 25;

fn count_up(tx: &mut Transaction, keys: &[&ApiKey]) -> Result<(), StoreError> {
    let mut callers: Vec<_> = keys.iter().map(|key| key.id).collect();
    callers.sort_unstable();
    let wanted = FactsQuery { recipients: callers.clone(), callers, ..FactsQuery::default() };
    let mut usage = tx.lock_facts(&wanted)?.usage;
    for used in usage.values_mut() {
        used.month.used += 1;
    }
    tx.apply(&WriteSet { usage: usage.into_iter().collect(), ..WriteSet::default() })
}

fn used(db: &Fixture, key: &ApiKey) -> Usage {
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap().usage[&key.id]
}

fn concurrent_batches_count_usage_exactly(db: &Fixture) {
    let key = db.activate();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    db.write(Durable, |tx| count_up(tx, &[&key])).unwrap();
                }
            });
        }
    });
    assert_eq!(used(db, &key).month.used, THREADS * ROUNDS);
}

/// SQLite has one writer, so a transaction needs no lock.
#[test]
fn postgresql_changes_only_locked_usage() {
    let db = postgres();
    let (key, other) = (db.activate(), db.activate());
    let usage = [&other, &key].map(|key| (key.id, Usage::UNUSED)).to_vec();
    let changes = WriteSet { usage, ..WriteSet::default() };
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let without_other = db.write(Durable, |tx| {
        tx.lock_facts(&wanted)?;
        tx.apply(&changes)
    });
    assert!(matches!(without_other, Err(StoreError::Corrupt("usage"))), "{without_other:?}");
    let twice = db.write(Durable, |tx| {
        count_up(tx, &[&key, &other])?;
        tx.apply(&changes)
    });
    assert!(matches!(twice, Err(StoreError::Corrupt("usage"))), "{twice:?}");
    assert_eq!((used(&db, &key), used(&db, &other)), (Usage::UNUSED, Usage::UNUSED));
}

fn batches_with_the_same_keys_do_not_deadlock(db: &Fixture) {
    let keys: Vec<_> = (0..6).map(|_| db.activate()).collect();
    thread::scope(|scope| {
        for thread in 0..4_usize {
            let keys = &keys;
            scope.spawn(move || {
                for round in 0..20_usize {
                    let three = [thread + round, thread + 2 * round + 1, round + 3]
                        .map(|place| &keys[place % 6]);
                    let mut three: Vec<_> = three.to_vec();
                    three.sort_unstable_by_key(|key| key.id);
                    three.dedup_by_key(|key| key.id);
                    let mut tx = db.begin(Durable).unwrap();
                    count_up(&mut tx, &three).unwrap();
                    tx.commit().unwrap();
                }
            });
        }
    });
}

fn a_new_login_secret_waits_for_the_lock_on_the_account(db: &Fixture) {
    let account_id = db.activate().account_id;
    let replaced = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut tx = db.begin(Durable).unwrap();
        tx.lock_account(&account_id).unwrap();
        scope.spawn(|| {
            let replace = |tx: &mut Transaction| tx.set_account_secrets(&account_id, &secrets());
            db.write(Durable, replace).unwrap();
            replaced.store(true, Ordering::SeqCst);
        });
        thread::sleep(PAUSE);
        assert!(!replaced.load(Ordering::SeqCst));
        tx.commit().unwrap();
    });
    assert!(replaced.load(Ordering::SeqCst));
}

fn an_account_is_locked_by_one_transaction_at_a_time(db: &Fixture) {
    let key = db.activate();
    let locked = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut tx = db.begin(Durable).unwrap();
        assert!(tx.lock_account(&key.account_id).unwrap());
        scope.spawn(|| {
            db.write(Durable, |tx| tx.lock_account(&key.account_id)).unwrap();
            locked.store(true, Ordering::SeqCst);
        });
        thread::sleep(PAUSE);
        assert!(!locked.load(Ordering::SeqCst));
        tx.commit().unwrap();
    });
}

/// A pause that is long enough for a transaction to finish if it does not wait for a lock.
const PAUSE: Duration = Duration::from_millis(150);
