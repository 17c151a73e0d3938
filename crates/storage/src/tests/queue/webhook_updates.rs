//! Tests that claims and sends use the current state of changed and paused webhooks.

use std::sync::Arc;

use sealpost_domain::{
    DeliveryId, Description, EventKind, LeaseToken, Webhook,
    ports::{
        Durability::{Durable, Relaxed},
        FactsQuery, Outbox, ParkedDelivery, WaitingEnvelope, WriteSet,
    },
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at, claim_of, envelope},
};

on_both!(
    an_update_keeps_everything_else,
    claims_use_the_new_url,
    a_paused_webhook_keeps_its_deliveries,
    an_update_can_request_the_waiting_envelopes,
);

fn update(db: &Fixture, webhook: &Webhook) {
    db.write(Durable, |tx| tx.update_webhook(webhook)).unwrap();
}

fn an_update_keeps_everything_else(db: &Fixture) {
    let key = db.activate();
    let (before, other) = (db.register(&key.id), db.register(&key.id));
    let after = Webhook {
        url: "https://new.test/".to_owned(),
        events: vec![EventKind::UsageThreshold],
        description: Description::parse("orders").unwrap(),
        paused: true,
        ..before
    };
    update(db, &after);
    let listed = db.write(Durable, |tx| tx.list_webhooks(&key.id)).unwrap();
    let mut expected = [after, other];
    expected.sort_by_key(|webhook| (webhook.created_at, webhook.id));
    assert_eq!(format!("{listed:?}"), format!("{expected:?}"));
}

fn claims_use_the_new_url(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 2);
    db.claim(&claim_of(1_000, 1, LeaseToken(1))).unwrap();
    update(db, &Webhook { url: "https://new.test/".to_owned(), ..to });
    let held = db.claim(&claim_of(1_000_000, 9, LeaseToken(2))).unwrap();
    let urls: Vec<_> = held.iter().map(|it| &*it.target.url).collect();
    assert_eq!(urls, ["https://new.test/"; 2]);
    assert!(held.iter().all(|it| it.target_read_at == at(1_000_000)));
}

fn a_paused_webhook_keeps_its_deliveries(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 1);
    let paused = Webhook { paused: true, ..to.clone() };
    update(db, &paused);
    assert!(db.claim(&claim_of(2_000, 10, LeaseToken(1))).unwrap().is_empty());
    let query = FactsQuery { recipients: vec![key.id], ..FactsQuery::default() };
    let facts = db.write(Durable, |tx| tx.lock_facts(&query)).unwrap();
    assert!(!facts.webhooks[&key.id].0[0].is_active);
    let sealed = Arc::new(envelope(&key.id, &key.id));
    let id = DeliveryId { event_id: sealed.meta.id.into(), webhook_id: to.id };
    let parked = vec![ParkedDelivery { id, event_at: at(2_000) }];
    db.apply(&WriteSet { envelopes: vec![sealed], parked, ..WriteSet::default() });
    // Enabling a paused webhook does not resume the webhook.
    db.write(Durable, |tx| tx.enable_webhook(&to.id)).unwrap();
    let wake = |now| {
        let wake = |tx: &mut Transaction| tx.expedite_deliveries(&to.id, at(0), at(now), 10);
        db.write(Durable, wake).unwrap()
    };
    assert_eq!(wake(3_000), 2);
    assert!(db.claim(&claim_of(3_000, 10, LeaseToken(2))).unwrap().is_empty());
    update(db, &to);
    assert_eq!(wake(4_000), 2);
    assert_eq!(db.claim(&claim_of(4_000, 10, LeaseToken(3))).unwrap().len(), 2);
}

fn an_update_can_request_the_waiting_envelopes(db: &Fixture) {
    let key = db.activate();
    let to = db.register_for(&key.id, &[EventKind::UsageThreshold]);
    let transfer = || {
        let work = |tx: &mut Transaction| tx.transfer_waiting(None, at(0), at(9), 10);
        db.write(Relaxed, work).unwrap()
    };
    assert_eq!(transfer().unwrap().transferred, 0, "of the registration");
    assert!(transfer().is_none());
    let sealed = Arc::new(envelope(&key.id, &key.id));
    let waiting = vec![WaitingEnvelope { envelope_id: sealed.meta.id, recipient: key.id }];
    db.apply(&WriteSet { envelopes: vec![sealed], waiting, ..WriteSet::default() });
    update(db, &Webhook { events: vec![EventKind::EnvelopeReceived], ..to });
    assert_eq!(transfer().unwrap().transferred, 1);
    assert_eq!(db.claim(&claim_of(10, 10, LeaseToken(1))).unwrap().len(), 1);
}
