//! Tests the data from which receipts (the states of sent envelopes) are built.

use sealpost_domain::{
    ApiKeyId, AttemptFailure, EnvelopeId, EventId, LeasedDelivery, Outcome, ReceiptFacts, Webhook,
    ports::{
        Durability::{Durable, Relaxed},
        Outbox, WaitingEnvelope, WriteSet,
    },
};

use crate::tests::fixture::{FAILING_MAX, Fixture, at, delivery, envelope, result_of};

on_both!(
    only_the_sender_finds_a_receipt,
    the_first_success_survives_its_delivery_and_its_webhook,
    a_success_beside_other_deliveries_is_shown,
    waiting_opened_and_bounced_envelopes_are_shown,
    a_skipped_envelope_does_not_wait,
);

fn send(db: &Fixture, to: &[&Webhook]) -> (EnvelopeId, Vec<LeasedDelivery>) {
    let key = to[0].api_key_id;
    let sent = envelope(&key, &key);
    let lease = sealpost_domain::LeaseToken(1);
    let leased: Vec<_> = to.iter().map(|to| delivery(&sent, to, lease, 100_000)).collect();
    let id = sent.meta.id;
    let (envelopes, leased_rows) = (vec![sent.into()], leased.clone());
    db.apply(&WriteSet { envelopes, leased: leased_rows, ..WriteSet::default() });
    (id, leased)
}

fn facts(db: &Fixture, id: &EnvelopeId, sender: &ApiKeyId) -> ReceiptFacts {
    db.read(|reader| reader.find_sent(id, sender)).unwrap().unwrap().facts
}

fn end(db: &Fixture, held: &LeasedDelivery, when: i64, outcome: Outcome) {
    db.record_outcomes(&[result_of(held, when, outcome)], FAILING_MAX).unwrap();
}

fn notified(when: i64) -> ReceiptFacts {
    ReceiptFacts { notified_at: Some(at(when)), ..ReceiptFacts::default() }
}

const FAILED: AttemptFailure = AttemptFailure::Dns;

fn only_the_sender_finds_a_receipt(db: &Fixture) {
    let (alice, bob) = (db.activate().id, db.activate().id);
    let sent = envelope(&alice, &bob);
    let id = sent.meta.id;
    db.apply(&WriteSet { envelopes: vec![sent.clone().into()], ..WriteSet::default() });
    let find = |key| db.read(|reader| reader.find_sent(&id, key)).unwrap();
    let found = find(&alice).unwrap();
    assert_eq!((found.recipient, found.sent_at), (bob, sent.meta.timestamp));
    assert_eq!(found.facts, ReceiptFacts::default());
    assert_eq!((find(&bob), find(&db.activate().id)), (None, None));
}

fn the_first_success_survives_its_delivery_and_its_webhook(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register(&key);
    let (id, held) = send(db, &[&to]);
    let retry = Outcome::Retry { failure: FAILED, due_at: at(60) };
    end(db, &held[0], 50, retry);
    assert_eq!(facts(db, &id, &key), ReceiptFacts::default());
    let (id, held) = send(db, &[&to]);
    end(db, &held[0], 50, Outcome::Succeeded);
    assert_eq!(db.count(&format!("deliveries WHERE envelope_id = '{id}'")), 0);
    assert_eq!(facts(db, &id, &key), notified(50));
    db.write(Durable, |tx| tx.delete_webhook(&key, &to.id, at(70))).unwrap();
    assert_eq!(facts(db, &id, &key), notified(50));
    db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(80), 1000)).unwrap();
    assert_eq!(db.count("attempts"), 0);
    assert_eq!(facts(db, &id, &key), notified(50));
}

fn a_success_beside_other_deliveries_is_shown(db: &Fixture) {
    let key = db.activate().id;
    let (first, second) = (db.register(&key), db.register(&key));
    let (id, held) = send(db, &[&first, &second]);
    end(db, &held[1], 50, Outcome::Succeeded);
    end(db, &held[0], 60, Outcome::Succeeded);
    assert_eq!(facts(db, &id, &key), notified(50));
}

fn waiting_opened_and_bounced_envelopes_are_shown(db: &Fixture) {
    let key = db.activate().id;
    let sent = envelope(&key, &key);
    let id = sent.meta.id;
    let waiting = vec![WaitingEnvelope { envelope_id: id, recipient: key }];
    db.apply(&WriteSet { envelopes: vec![sent.into()], waiting, ..WriteSet::default() });
    assert_eq!(facts(db, &id, &key), ReceiptFacts { is_waiting: true, ..ReceiptFacts::default() });
    db.write(Durable, |tx| tx.mark_opened(&id, at(40))).unwrap();
    let opened = ReceiptFacts { opened_at: Some(at(40)), ..ReceiptFacts::default() };
    assert_eq!(facts(db, &id, &key), opened);
    let to = db.register(&key);
    let (id, held) = send(db, &[&to]);
    end(db, &held[0], 50, Outcome::Exhausted(FAILED));
    assert_eq!(facts(db, &id, &key), ReceiptFacts { is_bounced: true, ..ReceiptFacts::default() });
    let again = sealpost_domain::DeliveryId { event_id: EventId::Envelope(id), webhook_id: to.id };
    assert!(db.write(Durable, |tx| tx.redeliver(&again, &key, at(60))).unwrap());
}

fn a_skipped_envelope_does_not_wait(db: &Fixture) {
    let (sender, key, other) = (db.activate().id, db.activate().id, db.activate().id);
    let wait = |recipient: ApiKeyId| {
        let sent = envelope(&sender, &recipient);
        let envelope_id = sent.meta.id;
        let waiting = vec![WaitingEnvelope { envelope_id, recipient }];
        db.apply(&WriteSet { envelopes: vec![sent.into()], waiting, ..WriteSet::default() });
        envelope_id
    };
    let (skipped, of_other) = (wait(key), wait(other));
    db.write(Durable, |tx| tx.skip_waiting(&key, at(1))).unwrap();
    let later = wait(key);
    assert_eq!(facts(db, &skipped, &sender), ReceiptFacts::default());
    for id in [of_other, later] {
        let waiting = ReceiptFacts { is_waiting: true, ..ReceiptFacts::default() };
        assert_eq!(facts(db, &id, &sender), waiting);
    }
}
