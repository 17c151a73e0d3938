//! Tests that each read of an envelope returns its hash, also if the database stores none.

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use sealpost_domain::{
    Envelope, Event, EventId, Fingerprint, IdempotencyKey, LeaseToken, ReceiptState, Timestamp,
    Webhook,
    ports::{
        Durability::Durable, FactsQuery, IdempotencyResult, NewIdempotencyRecord, Outbox as _,
        Store, StoreError, WriteSet,
    },
};

use crate::{
    Database, DatabaseUrl, Settings,
    tests::{
        fixture::{self, Fixture, claim_of, envelope, postgres},
        migrations::revert_to,
    },
};

on_both!(each_read_returns_the_hash, a_database_in_use_stores_hashes_until_it_is_finished);

fn each_read_returns_the_hash(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = send(db, &to);
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), omitted_on_postgres(db));
    assert_eq!(db.count(ADDITIVE), 1 - omitted_on_postgres(db));
    assert_reads(db, &to, &sent);
}

fn a_database_in_use_stores_hashes_until_it_is_finished(db: &Fixture) {
    let to = db.register(&db.activate().id);
    revert_to(db, "0035_revocation_journals");
    db.migrate().unwrap();
    let before = send(db, &to);
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), 0);

    assert_eq!(db.count(ADDITIVE), 1);
    assert_eq!(db.has_unfinished_migrations().unwrap(), is_postgres(db));
    assert_eq!(db.finish_migrations().unwrap(), is_postgres(db));
    assert!(!db.has_unfinished_migrations().unwrap());
    assert_eq!(db.count(ADDITIVE), 1 - omitted_on_postgres(db));
    assert!(!db.finish_migrations().unwrap());
    // This process still stores hashes. The next one omits them.
    let beside = send(db, &to);
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), 0);
    let restarted = Database::open(&db.url, Settings::default()).unwrap();
    let after = send(&restarted, &to);
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), omitted_on_postgres(db));
    for sent in [&before, &beside, &after] {
        assert_reads(db, &to, sent);
    }
}

#[test]
fn a_table_in_use_is_not_changed() {
    let db = postgres();
    db.execute("ALTER TABLE envelopes ALTER COLUMN hash SET NOT NULL").unwrap();
    let mut dump = db.raw();
    dump.batch_execute("BEGIN; LOCK TABLE envelopes IN ACCESS SHARE MODE").unwrap();
    let error = db.finish_migrations().unwrap_err();
    let StoreError::Refused(cause) = &error else { panic!("{error:?}") };
    assert!(cause.to_string().contains("repeat the command"), "{cause}");
    dump.batch_execute("ROLLBACK").unwrap();
    assert!(db.finish_migrations().unwrap());
}

#[test]
fn a_reverted_migration_restores_the_hashes() {
    let db = postgres();
    let to = db.register(&db.activate().id);
    let sent = send(&db, &to);
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), 1);
    revert_to(&db, "0035_revocation_journals");
    assert_eq!(db.count("envelopes WHERE hash IS NULL"), 0);
    db.migrate().unwrap();
    assert_eq!(db.count("envelopes WHERE hash = sha256(sealed)"), 1);
    assert_reads(&db, &to, &sent);
}

/// Stores an envelope with a delivery and an idempotency key, which is the envelope's id.
fn send(db: &Database, to: &Webhook) -> Envelope {
    let envelope = envelope(&to.api_key_id, &to.api_key_id);
    let record = NewIdempotencyRecord {
        caller: to.api_key_id,
        key: IdempotencyKey::parse(&envelope.meta.id.to_string()).unwrap(),
        fingerprint: Fingerprint([1; 32]),
        result: IdempotencyResult::Send { envelope: envelope.meta.id, state: ReceiptState::Sent },
        at: Timestamp::from_millis(5),
        expired_before: Timestamp::from_millis(5),
    };
    let changes = WriteSet {
        envelopes: vec![Arc::new(envelope.clone())],
        unleased: vec![fixture::delivery(&envelope, to, LeaseToken(0), 0)],
        idempotency: vec![record],
        ..WriteSet::default()
    };
    let store: &dyn Store = db;
    store.write(Durable, |tx| tx.apply(&changes)).unwrap();
    envelope
}

/// Reads the envelope in each way: to open it, to show its event, for a repeated send, and for its delivery.
fn assert_reads(db: &Fixture, to: &Webhook, sent: &Envelope) {
    let (key, id) = (to.api_key_id, sent.meta.id);
    let opened = db.store().write(Durable, |tx| tx.find_envelope(&id, &key)).unwrap();
    assert!(opened.unwrap().envelope == *sent);

    let received = Event::received(sent.meta.clone(), None);
    let shown = db.store().owner_lookup().unwrap().find_event(&key, &EventId::Envelope(id));
    assert_eq!(shown.unwrap(), Some(received.clone()));

    let name = (key, IdempotencyKey::parse(&id.to_string()).unwrap());
    let query = FactsQuery { idempotency: vec![name.clone()], ..FactsQuery::default() };
    let facts = db.store().write(Durable, |tx| tx.lock_facts(&query)).unwrap();
    let result = IdempotencyResult::Send { envelope: sent.meta.clone(), state: ReceiptState::Sent };
    assert_eq!(facts.idempotency[&name].result, result);

    let claimed = db.claim(&claim_of(1000, 10, LeaseToken(2))).unwrap();
    let delivered = claimed.iter().find(|delivery| delivery.event.id() == received.id());
    assert_eq!(delivered.unwrap().event, received);
    db.execute("UPDATE deliveries SET lease = NULL, due_at = 0").unwrap();
}

fn is_postgres(db: &Fixture) -> bool {
    matches!(db.url, DatabaseUrl::Postgres(_))
}

/// The number of envelopes without a stored hash, if one of the envelopes may omit it.
fn omitted_on_postgres(db: &Fixture) -> i64 {
    i64::from(is_postgres(db))
}

/// If this row exists, servers of the previous version can use the database.
const ADDITIVE: &str = "additive_migrations WHERE version = '0036'";
