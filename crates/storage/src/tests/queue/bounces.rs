//! Tests of bounces: if no delivery can reach the recipient, the sender of the envelope gets exactly one event.

use std::thread;

use sealpost_domain::{
    ApiKeyId, AttemptFailure, AttemptResult, DeliveryId, Envelope, EventId, EventKind, LeaseToken,
    LeasedDelivery, Outcome, Webhook, WebhookId,
    ports::{Durability::Durable, Durability::Relaxed, Outbox, WriteSet},
};
use serde_json::Value;

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{FAILING_MAX, Fixture, at, claim_of, delivery, envelope, result_of, retried},
};

mod late_success;
mod random;
mod retention_edge;

on_both!(
    an_exhausted_envelope_bounces_once,
    an_envelope_bounces_with_its_last_delivery,
    an_envelope_with_a_success_does_not_bounce,
    an_opened_envelope_does_not_bounce,
    an_envelope_sent_again_after_its_success_bounces_neither_then_nor_at_its_expiry,
    an_envelope_sent_again_during_its_last_attempt_bounces_only_after_the_next_failure,
    a_bounced_envelope_does_not_bounce_again,
    a_lost_lease_bounces_nothing,
    an_envelope_without_subscribed_sender_gives_no_event,
    pending_envelopes_of_a_revoked_key_bounce,
    a_delivery_stored_beside_a_revocation_bounces,
    an_envelope_bounces_if_its_other_webhook_is_deleted,
    an_envelope_of_a_deleted_webhook_does_not_bounce,
    an_undelivered_envelope_bounces_when_it_expires,
    outcomes_are_kept_as_long_as_their_envelopes,
    two_concurrent_failures_bounce_an_envelope_once,
    a_concurrent_success_prevents_the_bounce,
);

const EXHAUSTED: Outcome = Outcome::Exhausted(AttemptFailure::HttpStatus(500));

/// An API key that sends, with a webhook for bounces, and an API key that receives, with webhooks for envelopes.
struct Pair {
    sender: ApiKeyId,
    recipient: ApiKeyId,
    to: Vec<Webhook>,
}

impl Pair {
    fn new(db: &Fixture, webhooks: usize) -> Self {
        let (sender, recipient) = (db.activate().id, db.activate().id);
        db.register_for(&sender, &[EventKind::EnvelopeBounced]);
        let to = (0..webhooks).map(|_| db.register(&recipient)).collect();
        Self { sender, recipient, to }
    }

    /// Stores an envelope with a delivery to each webhook of the recipient. The leases of the deliveries end at the
    /// time 100,000 ms.
    fn send(&self, db: &Fixture) -> (Envelope, Vec<LeasedDelivery>) {
        let sent = envelope(&self.sender, &self.recipient);
        let to = self.to.iter();
        let leased: Vec<_> = to.map(|to| delivery(&sent, to, LeaseToken(1), 100_000)).collect();
        db.apply(&WriteSet {
            envelopes: vec![sent.clone().into()],
            leased: leased.clone(),
            ..WriteSet::default()
        });
        (sent, leased)
    }
}

fn end(db: &Fixture, held: &LeasedDelivery, outcome: Outcome) {
    db.record_outcomes(&[result_of(held, 50, outcome)], FAILING_MAX).unwrap();
}

/// Returns the envelope id and the reason of each stored bounce.
fn bounces(db: &Fixture) -> Vec<(String, String)> {
    use diesel::prelude::*;

    use crate::schema::events as v;
    let bodies: Vec<String> = v::table.order(v::id).select(v::body).load(&mut db.raw()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let read = |body: &String| {
        let body: Value = serde_json::from_str(body).unwrap();
        (text(&body["envelope_id"]), text(&body["reason"]))
    };
    bodies.iter().map(read).collect()
}

fn bounce(sent: &Envelope, reason: &str) -> (String, String) {
    (sent.meta.id.to_string(), reason.to_owned())
}

fn redeliver(db: &Fixture, event_id: EventId, webhook_id: WebhookId, key: &ApiKeyId) {
    let id = DeliveryId { event_id, webhook_id };
    assert!(db.write(Durable, |tx| tx.redeliver(&id, key, at(60))).unwrap());
}

/// Claims all due deliveries, and returns the deliveries of envelopes. Deliveries of other events are claimed too.
fn claim(db: &Fixture, lease: i64) -> Vec<LeasedDelivery> {
    let mut held = db.claim(&claim_of(60, 1000, LeaseToken(lease))).unwrap();
    held.retain(|it| matches!(it.event.id(), EventId::Envelope(_)));
    held
}

fn an_exhausted_envelope_bounces_once(db: &Fixture) {
    let pair = Pair::new(db, 1);
    let (sent, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    assert_eq!(bounces(db), [bounce(&sent, "exhausted")]);
    assert_eq!(db.count("deliveries WHERE envelope_id >= 'evt_' AND due_at = 50"), 1);
    assert_eq!(db.count(&format!("events WHERE api_key_id = '{}'", pair.sender)), 1);
}

fn an_envelope_bounces_with_its_last_delivery(db: &Fixture) {
    let (sent, held) = Pair::new(db, 3).send(db);
    end(db, &held[0], EXHAUSTED);
    end(db, &held[1], Outcome::Gone);
    assert_eq!(bounces(db), []);
    end(db, &held[2], EXHAUSTED);
    assert_eq!(bounces(db), [bounce(&sent, "exhausted")]);
}

fn an_envelope_with_a_success_does_not_bounce(db: &Fixture) {
    let pair = Pair::new(db, 2);
    for outcomes in [[Outcome::Succeeded, EXHAUSTED], [EXHAUSTED, Outcome::Succeeded]] {
        let (_, held) = pair.send(db);
        for (held, outcome) in held.iter().zip(outcomes) {
            end(db, held, outcome);
        }
        let (_, held) = pair.send(db);
        let together: Vec<_> =
            held.iter().zip(outcomes).map(|(held, outcome)| result_of(held, 50, outcome)).collect();
        db.record_outcomes(&together, FAILING_MAX).unwrap();
    }
    assert_eq!(bounces(db), []);
}

fn an_opened_envelope_does_not_bounce(db: &Fixture) {
    let (sent, held) = Pair::new(db, 1).send(db);
    db.write(Durable, |tx| tx.mark_opened(&sent.meta.id, at(40))).unwrap();
    end(db, &held[0], EXHAUSTED);
    assert_eq!(bounces(db), []);
}

fn an_envelope_sent_again_after_its_success_bounces_neither_then_nor_at_its_expiry(db: &Fixture) {
    let pair = Pair::new(db, 1);
    let send_twice = || {
        let (_, held) = pair.send(db);
        end(db, &held[0], Outcome::Succeeded);
        redeliver(db, held[0].event.id(), pair.to[0].id, &pair.recipient);
    };
    send_twice();
    end(db, &claim(db, 2)[0], EXHAUSTED);
    assert_eq!(bounces(db), []);
    // The second delivery of this envelope is still due when the envelope expires.
    send_twice();
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 9)).unwrap();
    assert_eq!((bounces(db), db.count("envelopes")), (Vec::new(), 0));
}

fn an_envelope_sent_again_during_its_last_attempt_bounces_only_after_the_next_failure(
    db: &Fixture,
) {
    let pair = Pair::new(db, 1);
    let ((failing, failed), (_, succeeded)) = (pair.send(db), pair.send(db));
    for held in [&failed[0], &succeeded[0]] {
        redeliver(db, held.event.id(), held.target.webhook_id, &pair.recipient);
    }
    end(db, &failed[0], EXHAUSTED);
    end(db, &succeeded[0], Outcome::Succeeded);
    assert!(bounces(db).is_empty());
    for held in claim(db, 2) {
        end(db, &held, EXHAUSTED);
    }
    assert_eq!(bounces(db), [bounce(&failing, "exhausted")], "the other was delivered before");
}

fn a_bounced_envelope_does_not_bounce_again(db: &Fixture) {
    let pair = Pair::new(db, 1);
    let (sent, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    redeliver(db, held[0].event.id(), pair.to[0].id, &pair.recipient);
    end(db, &claim(db, 2)[0], EXHAUSTED);
    db.write(Durable, |tx| tx.revoke_key(&pair.recipient, at(70))).unwrap();
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 9)).unwrap();
    assert_eq!(bounces(db), [bounce(&sent, "exhausted")]);
}

fn a_lost_lease_bounces_nothing(db: &Fixture) {
    let (_, held) = Pair::new(db, 1).send(db);
    let lost = AttemptResult { lease: LeaseToken(99), ..result_of(&held[0], 50, EXHAUSTED) };
    db.record_outcomes(&[lost], FAILING_MAX).unwrap();
    assert_eq!((bounces(db), db.count("envelope_outcomes")), (Vec::new(), 0));
}

fn an_envelope_without_subscribed_sender_gives_no_event(db: &Fixture) {
    let mut pair = Pair::new(db, 1);
    pair.sender = db.activate().id;
    let (_, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    assert_eq!(bounces(db), []);
    db.register_for(&pair.sender, &[EventKind::EnvelopeBounced]);
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 9)).unwrap();
    assert_eq!(bounces(db), [], "the cause is past");
}

fn pending_envelopes_of_a_revoked_key_bounce(db: &Fixture) {
    let pair = Pair::new(db, 2);
    let (pending, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    let (_, held) = pair.send(db);
    end(db, &held[1], Outcome::Succeeded);
    let (opened, _) = pair.send(db);
    db.write(Durable, |tx| tx.mark_opened(&opened.meta.id, at(40))).unwrap();
    db.write(Durable, |tx| tx.revoke_key(&pair.recipient, at(70))).unwrap();
    assert_eq!(bounces(db), [bounce(&pending, "recipient_revoked")]);
    assert_eq!(db.count("events WHERE created_at = 70"), 1);
}

fn a_delivery_stored_beside_a_revocation_bounces(db: &Fixture) {
    let pair = Pair::new(db, 1);
    db.write(Durable, |tx| tx.revoke_key(&pair.recipient, at(40))).unwrap();
    let (sent, _) = pair.send(db);
    db.release_every_lease(at(50)).unwrap();
    assert!(claim(db, 2).is_empty());
    assert_eq!(bounces(db), [bounce(&sent, "recipient_revoked")]);
}

fn an_envelope_bounces_if_its_other_webhook_is_deleted(db: &Fixture) {
    let pair = Pair::new(db, 2);
    let (sent, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    let delete = |tx: &mut Transaction| tx.delete_webhook(&pair.recipient, &pair.to[1].id, at(70));
    assert!(db.write(Durable, delete).unwrap());
    assert_eq!(bounces(db), [bounce(&sent, "exhausted")]);
}

fn an_envelope_of_a_deleted_webhook_does_not_bounce(db: &Fixture) {
    let pair = Pair::new(db, 1);
    pair.send(db);
    db.write(Durable, |tx| tx.delete_webhook(&pair.recipient, &pair.to[0].id, at(70))).unwrap();
    assert_eq!(bounces(db), []);
}

fn an_undelivered_envelope_bounces_when_it_expires(db: &Fixture) {
    let pair = Pair::new(db, 2);
    let (pending, _) = pair.send(db);
    let (_, succeeded) = pair.send(db);
    end(db, &succeeded[0], Outcome::Succeeded);
    let (_, succeeded) = pair.send(db);
    for held in &succeeded {
        end(db, held, Outcome::Succeeded);
    }
    let (opened, _) = pair.send(db);
    db.write(Durable, |tx| tx.mark_opened(&opened.meta.id, at(40))).unwrap();
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 9)).unwrap();
    assert_eq!(bounces(db), [bounce(&pending, "expired")]);
    assert_eq!(db.count("events WHERE created_at = 80"), 1);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (0, 1));
}

fn outcomes_are_kept_as_long_as_their_envelopes(db: &Fixture) {
    let pair = Pair::new(db, 1);
    let (first, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    let (_, held) = pair.send(db);
    end(db, &held[0], EXHAUSTED);
    let purge = || db.write(Relaxed, |tx| tx.purge_events(at(45), 9)).unwrap();
    assert_eq!((purge(), db.count("envelope_outcomes")), (0, 2));
    db.execute(&format!("DELETE FROM envelopes WHERE id = '{}'", first.meta.id)).unwrap();
    let purge = || db.write(Relaxed, |tx| tx.purge_events(at(1 << 30), 9)).unwrap();
    assert_eq!(purge(), 3, "two events and an outcome");
    assert_eq!(db.count("envelope_outcomes"), 1);
    db.execute("DELETE FROM envelopes").unwrap();
    assert_eq!((purge(), purge(), db.count("envelope_outcomes")), (1, 0, 0));
}

fn two_concurrent_failures_bounce_an_envelope_once(db: &Fixture) {
    let pair = Pair::new(db, 2);
    for round in 0..20 {
        let (_, held) = pair.send(db);
        thread::scope(|scope| {
            for held in &held {
                let results = [result_of(held, 50 + round, EXHAUSTED)];
                scope.spawn(move || retried(|| db.record_outcomes(&results, FAILING_MAX)).unwrap());
            }
        });
        assert_eq!(bounces(db).len(), usize::try_from(round + 1).unwrap());
    }
}

fn a_concurrent_success_prevents_the_bounce(db: &Fixture) {
    let pair = Pair::new(db, 2);
    for _ in 0..20 {
        let (_, held) = pair.send(db);
        thread::scope(|scope| {
            for (held, outcome) in held.iter().zip([Outcome::Succeeded, EXHAUSTED]) {
                let results = [result_of(held, 50, outcome)];
                scope.spawn(move || retried(|| db.record_outcomes(&results, FAILING_MAX)).unwrap());
            }
        });
    }
    assert_eq!(bounces(db), []);
}
