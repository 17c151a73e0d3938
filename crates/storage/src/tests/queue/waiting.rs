//! Tests of waiting envelopes (envelopes of a recipient without a webhook): the first webhook of the recipient gets
//! each of them once.

use std::{sync::Arc, thread};

use diesel::connection::SimpleConnection as _;
use sealpost_domain::{
    ApiKeyId, AttemptFailure, DeliveryId, EnvelopeId, Event, EventKind, LeaseToken, LeasedDelivery,
    Outcome, Webhook, WebhookId,
    ports::{
        Durability::{Durable, Relaxed},
        FactsQuery, Outbox, StoreError, WaitingEnvelope, WriteSet,
    },
};

use crate::{
    connection::{AnyConnection, transaction::Transaction},
    tests::fixture::{
        FAILING_MAX, Fixture, at, claim_of, envelope, eventually, postgres, result_of, retried,
        webhook,
    },
};

on_both!(
    waiting_envelopes_are_counted_up_to_a_limit,
    the_first_webhook_gets_all_waiting_envelopes_oldest_first,
    a_webhook_for_other_events_gets_none,
    a_skipped_envelope_reaches_no_webhook,
    an_opened_envelope_does_not_wait,
    an_expired_envelope_does_not_wait_and_bounces,
    waiting_envelopes_of_a_revoked_key_bounce,
    undelivered_envelopes_of_a_deleted_webhook_wait,
    a_long_backlog_of_a_deleted_webhook_waits,
    a_delivery_stored_beside_a_deletion_waits,
    a_skip_includes_the_backlog_of_a_deleted_webhook,
    a_redelivered_envelope_does_not_wait_and_can_bounce,
    a_transfer_skips_an_envelope_with_a_delivery,
    concurrent_transfers_deliver_each_envelope_once,
    a_skip_of_a_wrong_clock_ends_no_later_envelope,
    a_skip_deletes_envelopes_of_a_wrong_clock,
);

/// Stores `count` envelopes that wait for a webhook of the API key.
fn send(db: &Fixture, key: &ApiKeyId, count: usize) -> Vec<EnvelopeId> {
    let envelopes: Vec<_> = (0..count).map(|_| Arc::new(envelope(key, key))).collect();
    let ids: Vec<_> = envelopes.iter().map(|envelope| envelope.meta.id).collect();
    db.apply(&WriteSet { waiting: waiting(key, &ids), envelopes, ..WriteSet::default() });
    ids
}

fn waiting(key: &ApiKeyId, ids: &[EnvelopeId]) -> Vec<WaitingEnvelope> {
    ids.iter().map(|id| WaitingEnvelope { envelope_id: *id, recipient: *key }).collect()
}

fn count(db: &Fixture, key: &ApiKeyId) -> u64 {
    db.read(|reader| reader.count_waiting(key, at(0), 1000)).unwrap()
}

/// Transfers all waiting envelopes to webhooks. Returns the number of envelopes of each transaction. On PostgreSQL, the
/// requests in `waiting_transfers` may remain: they are deleted only after all older transactions have ended, and other
/// test cases also run transactions.
fn transfer(db: &Fixture, limit: u32) -> Vec<u64> {
    let mut portions = Vec::new();
    loop {
        let (mut after, mut round) = (None, Vec::new());
        while let Some(done) = retried(|| portion(db, after.as_ref(), limit)).unwrap() {
            after = Some(done.0);
            round.extend((done.1 > 0).then_some(done.1));
        }
        if round.is_empty() {
            return portions;
        }
        portions.append(&mut round);
    }
}

fn portion(
    db: &Fixture,
    after: Option<&ApiKeyId>,
    limit: u32,
) -> Result<Option<(ApiKeyId, u64)>, StoreError> {
    let transfer = |tx: &mut Transaction| tx.transfer_waiting(after, at(0), at(50), limit);
    let done = db.write(Relaxed, transfer)?;
    Ok(done.map(|done| (done.api_key_id, done.transferred)))
}

/// Claims all due deliveries of envelopes.
fn claim(db: &Fixture, lease: i64) -> Vec<LeasedDelivery> {
    let mut held = db.claim(&claim_of(2000, 10_000, LeaseToken(lease))).unwrap();
    held.retain(|held| matches!(held.event, Event::EnvelopeReceived(_)));
    held
}

fn due(db: &Fixture) -> Vec<(WebhookId, String)> {
    claim(db, 1).iter().map(|held| (held.target.webhook_id, held.event.id().to_string())).collect()
}

fn each(to: &Webhook, ids: &[EnvelopeId]) -> Vec<(WebhookId, String)> {
    ids.iter().map(|id| (to.id, id.to_string())).collect()
}

fn delete(db: &Fixture, to: &Webhook) {
    let delete = |tx: &mut Transaction| tx.delete_webhook(&to.api_key_id, &to.id, at(40));
    assert!(db.write(Durable, delete).unwrap());
}

fn skip(db: &Fixture, key: &ApiKeyId) {
    db.write(Durable, |tx| tx.skip_waiting(key, at(1))).unwrap();
}

fn waiting_envelopes_are_counted_up_to_a_limit(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    send(db, &key, 3);
    send(db, &other, 1);
    let counted = |limit| db.read(|reader| reader.count_waiting(&key, at(0), limit)).unwrap();
    assert_eq!([counted(2), counted(3), counted(4)], [2, 3, 3]);
    assert!(!db.read(crate::Reader::has_waiting_transfers).unwrap());
}

fn the_first_webhook_gets_all_waiting_envelopes_oldest_first(db: &Fixture) {
    let (key, other) = (db.activate().id, db.activate().id);
    let (sent, of_other) = (send(db, &key, 5), send(db, &other, 1));
    let to = db.register(&key);
    assert!(db.read(crate::Reader::has_waiting_transfers).unwrap());
    db.register(&key);
    assert_eq!(portion(db, None, 2).unwrap(), Some((key, 2)));
    assert_eq!(due(db), each(&to, &sent[..2]));
    assert_eq!(count(db, &key), 3);
    assert_eq!(transfer(db, 2), [2, 1]);
    assert_eq!(due(db), each(&to, &sent[2..]));
    assert_eq!((count(db, &key), count(db, &other)), (0, 1));
    let to = db.register(&other);
    assert_eq!(transfer(db, 2), [1]);
    assert_eq!(due(db), each(&to, &of_other));
}

fn a_webhook_for_other_events_gets_none(db: &Fixture) {
    let key = db.activate().id;
    let sent = send(db, &key, 1);
    db.register_for(&key, &[EventKind::EnvelopeBounced]);
    assert_eq!(transfer(db, 9), Vec::<u64>::new());
    assert_eq!((due(db), count(db, &key)), (vec![], 1));
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), each(&to, &sent));
}

fn a_skipped_envelope_reaches_no_webhook(db: &Fixture) {
    let key = db.activate().id;
    send(db, &key, 3);
    let to = webhook(&key);
    db.write(Durable, |tx| {
        tx.insert_webhook(&to)?;
        tx.skip_waiting(&key, at(1))
    })
    .unwrap();
    assert_eq!(count(db, &key), 0);
    delete(db, &to);
    let later = send(db, &key, 1);
    assert_eq!(count(db, &key), 1);
    let to = db.register(&key);
    transfer(db, 2);
    assert_eq!(due(db), each(&to, &later));
    assert_eq!(db.count("waiting_envelopes"), 0);
}

fn an_opened_envelope_does_not_wait(db: &Fixture) {
    let key = db.activate().id;
    let sent = send(db, &key, 2);
    db.write(Durable, |tx| tx.mark_opened(&sent[0], at(40))).unwrap();
    assert_eq!(count(db, &key), 1);
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), each(&to, &sent[1..]));
}

fn an_expired_envelope_does_not_wait_and_bounces(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, &[EventKind::EnvelopeBounced]);
    let sent = send(db, &key, 2);
    db.write(Durable, |tx| tx.mark_opened(&sent[0], at(40))).unwrap();
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 9)).unwrap();
    assert_eq!((count(db, &key), db.count("events")), (0, 1));
    assert_eq!(db.count("events WHERE body LIKE '%\"expired\"%'"), 1);
}

fn waiting_envelopes_of_a_revoked_key_bounce(db: &Fixture) {
    let (sender, key) = (db.activate().id, db.activate().id);
    db.register_for(&sender, &[EventKind::EnvelopeBounced]);
    let envelopes: Vec<_> = (0..3).map(|_| Arc::new(envelope(&sender, &key))).collect();
    let ids: Vec<_> = envelopes.iter().map(|envelope| envelope.meta.id).collect();
    db.apply(&WriteSet { waiting: waiting(&key, &ids), envelopes, ..WriteSet::default() });
    transfer(db, 9);
    db.write(Durable, |tx| tx.revoke_key(&key, at(40))).unwrap();
    assert_eq!(transfer(db, 2), [2, 1]);
    assert_eq!(db.count("events WHERE body LIKE '%recipient_revoked%'"), 3);
    assert_eq!(count(db, &key), 0);
}

/// Retention and the opening of an envelope lock the envelope first, and then delete its row in `waiting_envelopes`. A
/// transfer must use the same order, because the transactions could deadlock otherwise.
#[test]
fn a_transfer_of_a_revoked_key_locks_envelopes_before_waiting_rows() {
    let db = postgres();
    let key = db.activate().id;
    let sent = send(&db, &key, 1);
    db.write(Durable, |tx| tx.revoke_key(&key, at(40))).unwrap();
    let AnyConnection::Postgres(mut purge) = db.raw() else { panic!("not PostgreSQL") };
    let lock = format!("SELECT FROM envelopes WHERE id = '{}' FOR UPDATE", sent[0]);
    purge.batch_execute(&format!("BEGIN; {lock}")).unwrap();
    thread::scope(|scope| {
        let transfer = scope.spawn(|| {
            // Makes a single attempt. `write` would repeat the transaction after a deadlock, and so hide the deadlock.
            let mut tx = db.begin(Relaxed)?;
            let done = tx.transfer_waiting(None, at(0), at(41), 9)?;
            tx.commit().map(|()| done.map(|done| done.transferred))
        });
        db.await_waiting();
        purge.batch_execute("DELETE FROM waiting_envelopes; COMMIT").unwrap();
        assert_eq!(transfer.join().unwrap().unwrap(), Some(0));
    });
}

fn undelivered_envelopes_of_a_deleted_webhook_wait(db: &Fixture) {
    let key = db.activate().id;
    let (first, second) = (db.register(&key), db.register(&key));
    transfer(db, 9);
    let [received, exhausted, pending, opened] =
        <[_; 4]>::try_from(db.send(&first, 4)).unwrap().map(|held| held.event.id());
    for held in claim(db, 1) {
        let outcome = match held.event.id() {
            id if id == received => Outcome::Succeeded,
            id if id == exhausted => Outcome::Exhausted(AttemptFailure::Dns),
            _ => continue,
        };
        db.record_outcomes(&[result_of(&held, 50, outcome)], FAILING_MAX).unwrap();
    }
    let id = opened.to_string().parse().unwrap();
    db.write(Durable, |tx| tx.mark_opened(&id, at(40))).unwrap();
    delete(db, &second);
    assert_eq!(count(db, &key), 0);
    delete(db, &first);
    assert_eq!(count(db, &key), 1, "only the pending one");
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), [(to.id, pending.to_string())]);
}

fn a_long_backlog_of_a_deleted_webhook_waits(db: &Fixture) {
    let key = db.activate().id;
    let old = db.register(&key);
    let sent = db.send(&old, 1500);
    delete(db, &old);
    assert_eq!(db.count("waiting_envelopes"), 200, "the deletion is bounded");
    let to = db.register(&key);
    transfer(db, 1000);
    db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(70), 2000)).unwrap();
    transfer(db, 1000);
    let sent: Vec<_> = sent.iter().map(|held| (to.id, held.event.id().to_string())).collect();
    let mut due = due(db);
    due.sort_unstable();
    assert_eq!(due, sent);
}

fn a_delivery_stored_beside_a_deletion_waits(db: &Fixture) {
    let key = db.activate().id;
    let old = db.register(&key);
    delete(db, &old);
    let sent = db.send(&old, 1);
    assert_eq!(due(db), []);
    assert_eq!(count(db, &key), 1);
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), [(to.id, sent[0].event.id().to_string())]);
}

fn a_skip_includes_the_backlog_of_a_deleted_webhook(db: &Fixture) {
    let key = db.activate().id;
    let old = db.register(&key);
    delete(db, &old);
    db.send(&old, 1);
    send(db, &key, 1);
    skip(db, &key);
    db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), []);
    transfer(db, 9);
    assert_eq!((due(db), db.count("waiting_envelopes")), (vec![], 0));
}

fn a_redelivered_envelope_does_not_wait_and_can_bounce(db: &Fixture) {
    let key = db.activate().id;
    let sent = send(db, &key, 1);
    let to = db.register(&key);
    let id = DeliveryId { event_id: sent[0].into(), webhook_id: to.id };
    assert!(db.write(Durable, |tx| tx.redeliver(&id, &key, at(50))).unwrap());
    assert_eq!(count(db, &key), 0);
    transfer(db, 9);
    let held = claim(db, 1);
    assert_eq!(held.len(), 1);
    let exhausted = Outcome::Exhausted(AttemptFailure::Dns);
    db.record_outcomes(&[result_of(&held[0], 60, exhausted)], FAILING_MAX).unwrap();
    assert_eq!(db.count("envelope_outcomes WHERE outcome = 'bounced'"), 1);
}

/// A request to redeliver may store the delivery of an envelope while another transaction lets the envelope wait again.
fn a_transfer_skips_an_envelope_with_a_delivery(db: &Fixture) {
    let key = db.activate().id;
    let sent = send(db, &key, 2);
    let to = db.register(&key);
    let id = DeliveryId { event_id: sent[0].into(), webhook_id: to.id };
    assert!(db.write(Durable, |tx| tx.redeliver(&id, &key, at(40))).unwrap());
    db.execute(&format!(
        "INSERT INTO waiting_envelopes (envelope_id, recipient) VALUES ('{}', '{key}')",
        sent[0]
    ))
    .unwrap();
    assert_eq!(transfer(db, 9), [2]);
    assert_eq!(due(db), each(&to, &sent));
}

fn concurrent_transfers_deliver_each_envelope_once(db: &Fixture) {
    let keys = [(); 3].map(|()| db.activate().id);
    let sent: Vec<_> = keys.iter().flat_map(|key| send(db, key, 40)).collect();
    for key in &keys {
        db.register(key);
    }
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| transfer(db, 7));
        }
    });
    let mut due: Vec<_> = due(db).into_iter().map(|(_, id)| id).collect();
    due.sort_unstable();
    assert_eq!(due, sent.iter().map(ToString::to_string).collect::<Vec<_>>());
}

/// Runs on PostgreSQL only. On SQLite, no other transaction can write while a webhook is registered.
#[test]
fn an_envelope_stored_beside_a_registration_is_delivered() {
    let db = &postgres();
    let key = db.activate().id;
    let sent = envelope(&key, &key);
    let ids = [sent.meta.id];
    let query = FactsQuery { callers: vec![key], recipients: vec![key], ..FactsQuery::default() };
    let mut batch = db.standing_batch(&query);
    let to = db.register(&key);
    for _ in 0..3 {
        assert_eq!(portion(db, None, 9).unwrap(), Some((key, 0)));
    }
    let changes = WriteSet {
        envelopes: vec![sent.into()],
        waiting: waiting(&key, &ids),
        ..WriteSet::default()
    };
    batch.apply(&changes).unwrap();
    assert_eq!(portion(db, None, 9).unwrap(), Some((key, 0)));
    batch.commit().unwrap();
    assert_eq!(transfer(db, 9), [1]);
    assert_eq!(due(db), each(&to, &ids));
    eventually("the request ends", || {
        portion(db, None, 9).unwrap();
        (!db.read(crate::Reader::has_waiting_transfers).unwrap()).then_some(())
    });
}

/// A time of a wrong clock, far ahead of the other ids.
const FAR: i64 = 3_600_000;

fn a_skip_of_a_wrong_clock_ends_no_later_envelope(db: &Fixture) {
    let key = db.activate().id;
    db.write(Durable, |tx| tx.skip_waiting(&key, at(FAR))).unwrap();
    let sent = send(db, &key, 1);
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), each(&to, &sent));
    db.write(Durable, |tx| tx.skip_waiting(&key, at(FAR))).unwrap();
    delete(db, &to);
    assert_eq!(db.count("waiting_envelopes"), 1, "it waits again");
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), each(&to, &sent));
    delete(db, &to);
    assert_eq!(count(db, &key), 1);
}

fn a_skip_deletes_envelopes_of_a_wrong_clock(db: &Fixture) {
    let key = db.activate().id;
    let mut ahead = envelope(&key, &key);
    ahead.meta.id = EnvelopeId::new(at(FAR), [1; 10]);
    let waiting = waiting(&key, &[ahead.meta.id]);
    db.apply(&WriteSet { waiting, envelopes: vec![Arc::new(ahead)], ..WriteSet::default() });
    send(db, &key, 1);
    skip(db, &key);
    assert_eq!((count(db, &key), db.count("waiting_envelopes")), (0, 1));
    let later = send(db, &key, 1);
    assert_eq!(count(db, &key), 1);
    let to = db.register(&key);
    transfer(db, 9);
    assert_eq!(due(db), each(&to, &later));
}
