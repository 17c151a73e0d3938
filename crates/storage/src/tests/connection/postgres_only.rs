//! Tests that need PostgreSQL: lost connections, timeouts and prepared statements.

use std::{
    sync::{Arc, Barrier},
    thread,
    time::{Duration, Instant},
};

use diesel::{connection::SimpleConnection as _, dsl::sql, prelude::*, sql_types::BigInt};
use sealpost_domain::{
    ApiKey, Fingerprint, Handle, IdempotencyKey, LeaseToken, ReceiptState, Session, Webhook,
    ports::{
        Durability::{Durable, Relaxed},
        ExpiringRows, FactsQuery, HandleOwner, IdempotencyResult, NewIdempotencyRecord, Outbox,
        StoreError, WriteSet,
    },
};

use crate::{
    Database, DatabaseUrl, Settings,
    connection::transaction::{Transaction, begin_with},
    tests::fixture::{
        Fixture, account, at, claim_of, delivery, envelope, key, postgres, retried, token, webhook,
    },
};

/// Ends every other connection to this database, like a restart of the server.
fn kill_backends(db: &Fixture) {
    db.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .unwrap();
}

/// Opens all connections of the pool at once, and returns them to the pool.
fn warm_up(db: &Fixture) {
    let open: Vec<_> = (0..db.readers_max()).map(|_| db.begin(Durable).unwrap()).collect();
    drop(open);
}

#[test]
fn operations_succeed_after_a_restart_of_the_server() {
    let db = postgres();
    let key = db.activate();
    for _ in 0..2 {
        warm_up(&db);
        kill_backends(&db);
        db.write(Durable, |tx| tx.insert_account(&account())).unwrap();
        kill_backends(&db);
        assert!(db.read(|reader| reader.find_key(&key.id)).unwrap().is_some());
        kill_backends(&db);
        db.check().unwrap();
        let claim = claim_of(0, 1, LeaseToken(1));
        kill_backends(&db);
        assert!(db.claim(&claim).unwrap().is_empty());
    }
}

#[test]
fn a_lost_connection_fails_its_transaction_and_the_next_one_works() {
    let db = postgres();
    warm_up(&db);
    let mut tx = db.begin(Durable).unwrap();
    tx.insert_account(&account()).unwrap();
    kill_backends(&db);
    let lost = tx.insert_account(&account());
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    drop(tx);

    let mut tx = db.begin(Durable).unwrap();
    tx.insert_account(&account()).unwrap();
    kill_backends(&db);
    let lost = tx.commit();
    assert!(matches!(lost, Err(StoreError::InDoubt(_))), "{lost:?}");
    db.activate();
}

#[test]
fn concurrent_writers_recover_from_lost_connections() {
    let db = postgres();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut stored = 0;
                while stored < 50 {
                    match db.write(Durable, |tx| tx.insert_account(&account())) {
                        Ok(()) => stored += 1,
                        Err(StoreError::InDoubt(_) | StoreError::Unavailable(_)) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            });
        }
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(20));
            kill_backends(&db);
        }
    });
}

#[test]
fn statements_and_locks_time_out() {
    let db = postgres();
    let key = db.activate();
    let settings =
        Settings { statement_timeout: Duration::from_millis(200), ..Settings::default() };
    // The opening is retried, because the statements that configure a new connection may time out as well.
    let impatient = retried(|| Database::open(&db.url, settings)).unwrap();
    let mut holder = db.begin(Durable).unwrap();
    holder.lock_account(&key.account_id).unwrap();
    let waited = impatient.write(Durable, |tx| tx.lock_account(&key.account_id));
    assert!(matches!(waited, Err(StoreError::Unavailable(_))), "{waited:?}");
    drop(holder);
    let slept =
        impatient.look_up(|conn| Ok(diesel::sql_query("SELECT pg_sleep(5)").execute(conn)?));
    assert!(matches!(slept, Err(StoreError::Unavailable(_))), "{slept:?}");
}

#[test]
fn a_deadlock_is_reported_as_contended() {
    let db = postgres();
    let (one, other) = (db.activate(), db.activate());
    let both = Barrier::new(2);
    let lock = |first: &ApiKey, second: &ApiKey| {
        let mut tx = db.begin(Durable).unwrap();
        tx.lock_account(&first.account_id).unwrap();
        both.wait();
        tx.lock_account(&second.account_id)
    };
    let results = thread::scope(|scope| {
        let crossing = scope.spawn(|| lock(&other, &one));
        [lock(&one, &other), crossing.join().unwrap()]
    });
    let contended = results.iter().filter(|done| matches!(done, Err(StoreError::Contended(_))));
    assert_eq!(contended.count(), 1, "{results:?}");
}

#[test]
fn a_contact_that_is_renewed_during_the_purge_stays() {
    let db = postgres();
    db.execute("INSERT INTO contacts (api_key_id, contact, sent_at) VALUES ('ak_1', 'ak_2', 5)")
        .unwrap();
    let mut renewing = db.raw();
    renewing.batch_execute("BEGIN; UPDATE contacts SET sent_at = 50").unwrap();
    thread::scope(|scope| {
        let purged = scope.spawn(|| {
            db.write(Relaxed, |tx| tx.purge_expired(ExpiringRows::Contacts, at(10), 9)).unwrap()
        });
        db.await_waiting();
        renewing.batch_execute("COMMIT").unwrap();
        assert_eq!(purged.join().unwrap(), 0);
    });
    assert_eq!(db.count("contacts"), 1);
}

#[test]
fn a_handle_assigned_since_its_lookup_is_contended() {
    let db = postgres();
    let bob = Handle::parse("bob").unwrap();
    let first = db.activate();
    let (second, third) = (db.activate_beside(&first), db.activate_beside(&first));
    let owners = [first, second, third]
        .map(|key| HandleOwner { account_id: key.account_id, api_key_id: key.id });
    for owner in &owners[..2] {
        let mut slow = db.begin(Durable).unwrap();
        let seen = slow.find_handle(&bob).unwrap();
        db.write(Durable, |tx| tx.assign_handle(&bob, owner)).unwrap();
        assert_ne!(seen, Some(*owner));
        let late = slow.assign_handle(&bob, &owners[2]);
        assert!(matches!(late, Err(StoreError::Contended(_))), "{late:?}");
        drop(slow);
        assert_eq!(db.read(|reader| reader.find_handle(&bob)).unwrap(), Some(*owner));
    }
}

#[test]
fn an_unreachable_server_is_unavailable_at_once() {
    for url in ["postgres:///none?host=/nonexistent", "postgres://nobody@127.0.0.1:1/none"] {
        let url: DatabaseUrl = url.parse().unwrap();
        let opened = Database::open(&url, Settings::default());
        assert!(matches!(opened, Err(StoreError::Unavailable(_))), "{opened:?}");
    }
}

#[test]
fn the_hot_path_uses_prepared_statements() {
    let db = postgres();
    let mut transaction = db.begin(Durable).unwrap();
    let to = registered(&mut transaction);
    let mut counts = Vec::new();
    // Sends without an idempotency key need no statement for idempotency keys.
    for (size, with_key) in [(1, 0), (2, 0), (17, 0), (1, 1), (17, 17)] {
        send_batch(&mut transaction, &to, size, with_key);
        let kept = "(SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%unnest(%'
            OR statement LIKE '%ANY(%' OR statement LIKE '%lock_facts(%')";
        let kept = transaction
            .run(|conn| Ok(diesel::select(sql::<BigInt>(kept)).get_result::<i64>(conn)?));
        counts.push(kept.unwrap());
    }
    assert_eq!(counts, [4, 4, 4, 6, 6]);
}

fn registered(tx: &mut Transaction) -> Webhook {
    let account = account();
    let key = key(&account.id);
    let webhook = webhook(&key.id);
    tx.insert_account(&account).unwrap();
    tx.insert_key(&key).unwrap();
    tx.insert_webhook(&webhook).unwrap();
    webhook
}

/// Sends `size` envelopes from an API key to itself, in one transaction. The first `with_key` envelopes have
/// idempotency keys.
fn send_batch(tx: &mut Transaction, to: &Webhook, size: usize, with_key: usize) {
    let caller = to.api_key_id;
    let envelopes: Vec<_> = (0..size).map(|_| Arc::new(envelope(&caller, &caller))).collect();
    let leased =
        envelopes.iter().map(|envelope| delivery(envelope, to, LeaseToken(1), 5)).collect();
    let remembered: Vec<_> = envelopes[..with_key]
        .iter()
        .map(|envelope| NewIdempotencyRecord {
            caller,
            key: IdempotencyKey::parse(&envelope.meta.id.to_string()).unwrap(),
            fingerprint: Fingerprint([1; 32]),
            result: IdempotencyResult::Send {
                envelope: envelope.meta.id,
                state: ReceiptState::Sent,
            },
            at: at(7),
            expired_before: at(0),
        })
        .collect();
    let facts = tx.lock_facts(&FactsQuery {
        sessions: (0..size).map(|_| token()).collect(),
        callers: vec![caller],
        recipients: vec![caller],
        idempotency: remembered.iter().map(|one| (one.caller, one.key.clone())).collect(),
    });
    let usage = facts.unwrap().usage.into_iter().collect();
    tx.apply(&WriteSet {
        envelopes,
        leased,
        usage,
        idempotency: remembered,
        ..WriteSet::default()
    })
    .unwrap();
}

#[test]
fn only_a_relaxed_transaction_does_not_wait_for_the_disk() {
    let db = postgres();
    let setting = |durability| {
        let mut transaction = db.begin(durability).unwrap();
        let text = sql::<diesel::sql_types::Text>("current_setting('synchronous_commit')");
        transaction.run(|conn| Ok(diesel::select(text).get_result::<String>(conn)?)).unwrap()
    };
    assert_eq!([Durable, Relaxed, Durable].map(setting), ["on", "off", "on"]);
}

#[test]
fn a_connection_with_a_half_begun_transaction_is_closed() {
    let db = postgres();
    db.read(|reader| {
        assert!(begin_with(&mut reader.connection, "BEGIN; SELECT 1 / 0").is_err());
        assert!(reader.connection.is_dead);
        Ok::<_, StoreError>(())
    })
    .unwrap();
    db.activate();
}

/// Checks that the database ends a transaction that has locked rows and then stays idle. Until its end, the sends of
/// this API key wait on every node.
#[test]
fn a_stalled_transaction_with_locked_facts_is_ended() {
    let db = postgres();
    let key = db.activate();
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let mut stuck = db.begin(Durable).unwrap();
    stuck.lock_facts(&wanted).unwrap();
    let began = Instant::now();
    db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    let ended = stuck.find_key(&key.id);
    assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
}

#[test]
fn truncated_sessions_are_not_found() {
    let db = postgres();
    let account_id = db.activate().account_id;
    let session = Session { token: token(), account_id, expires_at: at(i64::MAX) };
    db.write(Durable, |tx| crate::tests::fixture::open_session(tx, &session)).unwrap();
    let wanted = FactsQuery { sessions: vec![session.token], ..FactsQuery::default() };
    let found = || {
        let facts = db.write(Durable, |tx| tx.lock_facts(&wanted));
        facts.unwrap().sessions.len()
    };
    assert_eq!(found(), 1);
    db.execute("TRUNCATE sessions").unwrap();
    assert_eq!(found(), 0);
}
