//! Tests that each read of an envelope returns its hash, which the database does not store.

use std::sync::Arc;

use sealpost_domain::{
    Envelope, Event, EventId, Fingerprint, IdempotencyKey, LeaseToken, ReceiptState, Timestamp,
    Webhook,
    ports::{
        Durability::Durable, FactsQuery, IdempotencyResult, NewIdempotencyRecord, Outbox as _,
        WriteSet,
    },
};

use crate::{
    Database,
    tests::fixture::{self, Fixture, claim_of, envelope},
};

on_both!(each_read_returns_the_hash);

fn each_read_returns_the_hash(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = send(db, &to);
    assert_reads(db, &to, &sent);
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
    db.write(Durable, |tx| tx.apply(&changes)).unwrap();
    envelope
}

/// Reads the envelope in each way: to open it, to show its event, for a repeated send, and for its delivery.
fn assert_reads(db: &Fixture, to: &Webhook, sent: &Envelope) {
    let (key, id) = (to.api_key_id, sent.meta.id);
    let opened = db.write(Durable, |tx| tx.find_envelope(&id, &key)).unwrap();
    assert!(opened.unwrap().envelope == *sent);

    let received = Event::received(sent.meta.clone(), None);
    let shown = db.read(|reader| reader.find_event(&key, &EventId::Envelope(id)));
    assert_eq!(shown.unwrap(), Some(received.clone()));

    let name = (key, IdempotencyKey::parse(&id.to_string()).unwrap());
    let query = FactsQuery { idempotency: vec![name.clone()], ..FactsQuery::default() };
    let facts = db.write(Durable, |tx| tx.lock_facts(&query)).unwrap();
    let result = IdempotencyResult::Send { envelope: sent.meta.clone(), state: ReceiptState::Sent };
    assert_eq!(facts.idempotency[&name].result, result);

    let claimed = db.claim(&claim_of(1000, 10, LeaseToken(2))).unwrap();
    let delivered = claimed.iter().find(|delivery| delivery.event.id() == received.id());
    assert_eq!(delivered.unwrap().event, received);
    db.execute("UPDATE deliveries SET lease = NULL, due_at = 0").unwrap();
}
