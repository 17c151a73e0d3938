//! Tests that expired envelopes are left to housekeeping while their rows are still stored: no other statement finds
//! these envelopes, and each of them bounces once.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, AttemptFailure, BounceReason, EnvelopeBounced, EnvelopeId, EventDetails, EventKind,
    IdentityRotation, LeaseToken, LeasedDelivery, NewEvent, Outcome, OwnEventId, RotationReason,
    ports::{
        Claim,
        Durability::{Durable, Relaxed},
        FailureRange, Outbox, WaitingEnvelope, WriteSet,
    },
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{
        FAILING_MAX, Fixture, at, claim_of, delivery, envelope, eventually, result_of,
    },
};

on_both!(
    an_expired_envelope_neither_waits_nor_reaches_a_webhook,
    deliveries_of_an_expired_envelope_are_not_leased,
    deliveries_of_an_expired_envelope_are_neither_listed_nor_made_due,
    deliveries_of_an_expired_event_are_neither_counted_nor_made_due,
    a_correspondent_by_an_expired_envelope_is_not_informed,
);

/// Time from which the envelopes of these tests are kept.
const OLDEST: i64 = 5000;

struct Sent {
    sender: ApiKeyId,
    recipient: ApiKeyId,
    /// Sealed one millisecond before [`OLDEST`].
    expired: EnvelopeId,
    /// Sealed at [`OLDEST`].
    kept: EnvelopeId,
}

fn send(db: &Fixture) -> Sent {
    let (sender, recipient) = (db.activate().id, db.activate().id);
    db.register_for(&sender, &[EventKind::EnvelopeBounced, EventKind::IdentityRotated]);
    let [expired, kept] = [OLDEST - 1, OLDEST].map(|millis| {
        let mut sent = envelope(&sender, &recipient);
        let [_, _, _, _, _, _, random @ ..] = *sent.meta.id.as_bytes();
        sent.meta.id = EnvelopeId::new(at(millis), random);
        let id = sent.meta.id;
        db.apply(&WriteSet { envelopes: vec![Arc::new(sent)], ..WriteSet::default() });
        id
    });
    Sent { sender, recipient, expired, kept }
}

/// Registers a webhook of the recipient, and stores the deliveries of both envelopes.
fn deliver(db: &Fixture, sent: &Sent) -> LeasedDelivery {
    let to = db.register(&sent.recipient);
    let [expired, kept] = [sent.expired, sent.kept].map(|id| {
        let mut envelope = envelope(&sent.sender, &sent.recipient);
        envelope.meta.id = id;
        delivery(&envelope, &to, LeaseToken(0), 0)
    });
    db.apply(&WriteSet { unleased: vec![expired, kept.clone()], ..WriteSet::default() });
    kept
}

/// Lets housekeeping delete the expired envelope, and checks that the envelope has bounced once.
fn check_bounce(db: &Fixture, sent: &Sent) {
    let purge = || {
        let purged = db.write(Relaxed, |tx| tx.purge_envelopes(at(OLDEST), at(6000), 9));
        (purged.unwrap() == 0).then_some(())
    };
    eventually("the envelope is purged", purge);
    assert_eq!(db.count(&format!("envelopes WHERE id = '{}'", sent.expired)), 0);
    assert_eq!(db.count("envelope_outcomes WHERE outcome = 'bounced'"), 1);
    let bounced =
        format!("events WHERE body LIKE '%{}%' AND body LIKE '%\"expired\"%'", sent.expired);
    assert_eq!((db.count(&bounced), db.count("events")), (1, 1));
}

fn claim(db: &Fixture, now: i64, lease: i64) -> Vec<LeasedDelivery> {
    let claim = Claim { oldest: at(OLDEST), ..claim_of(now, 10, LeaseToken(lease)) };
    db.claim(&claim).unwrap()
}

fn ids(held: &[LeasedDelivery]) -> Vec<String> {
    held.iter().map(|held| held.event.id().to_string()).collect()
}

fn an_expired_envelope_neither_waits_nor_reaches_a_webhook(db: &Fixture) {
    let sent = send(db);
    let (recipient, owner) = (sent.recipient, db.read(|reader| reader.find_key(&sent.recipient)));
    let waiting = [sent.expired, sent.kept];
    let waiting = waiting.map(|envelope_id| WaitingEnvelope { envelope_id, recipient }).to_vec();
    db.apply(&WriteSet { waiting, ..WriteSet::default() });
    assert_eq!(db.read(|reader| reader.count_waiting(&recipient, at(OLDEST), 9)).unwrap(), 1);
    let account = owner.unwrap().unwrap().account_id;
    let keys = db.read(|reader| reader.keys_of(&account, 9, at(OLDEST), 9)).unwrap();
    assert_eq!(keys.iter().map(|key| key.waiting).collect::<Vec<_>>(), [1]);
    let key = db.read(|reader| reader.key_of(&account, &recipient, at(OLDEST), 9)).unwrap();
    assert_eq!(key.unwrap().waiting, 1);

    db.register(&recipient);
    let transfer = || {
        let transfer =
            db.write(Relaxed, |tx| tx.transfer_waiting(None, at(OLDEST), at(OLDEST), 9)).unwrap();
        transfer.is_none().then_some(())
    };
    eventually("the transfer ends", transfer);
    assert_eq!(ids(&claim(db, OLDEST, 1)), [sent.kept.to_string()]);
    assert_eq!(db.count("deliveries"), 1);
    check_bounce(db, &sent);
}

fn deliveries_of_an_expired_envelope_are_not_leased(db: &Fixture) {
    let sent = send(db);
    deliver(db, &sent);
    let held = claim(db, OLDEST, 1);
    assert_eq!(ids(&held), [sent.kept.to_string()]);
    db.record_outcomes(&[result_of(&held[0], OLDEST, Outcome::Succeeded)], FAILING_MAX).unwrap();
    assert!(claim(db, OLDEST + 1, 2).is_empty());
    assert_eq!(db.count("deliveries WHERE lease IS NULL AND due_at > 100000"), 1, "parked");
    check_bounce(db, &sent);
    assert_eq!(db.count("deliveries WHERE envelope_id < 'evt_'"), 0);
}

fn deliveries_of_an_expired_envelope_are_neither_listed_nor_made_due(db: &Fixture) {
    let sent = send(db);
    let kept = deliver(db, &sent);
    let (to, now) = (kept.target.webhook_id, at(OLDEST + 10));
    for held in db.claim(&claim_of(OLDEST, 10, LeaseToken(1))).unwrap() {
        let failed = Outcome::Retry { failure: AttemptFailure::Tls, due_at: at(90_000) };
        db.record_outcomes(&[result_of(&held, OLDEST, failed)], FAILING_MAX).unwrap();
    }
    let pending = db.read(|reader| reader.pending_deliveries(&to, at(OLDEST), None, 9)).unwrap();
    assert_eq!(pending.iter().map(|it| it.event_id).collect::<Vec<_>>(), [sent.kept.into()]);
    let counted =
        |oldest| db.read(|reader| reader.count_pending(&sent.recipient, at(oldest), 9)).unwrap();
    assert_eq!((counted(0), counted(OLDEST)), (2, 1));

    let (since, until, oldest) = (at(0), at(OLDEST), at(OLDEST));
    let failed = FailureRange { since, until, oldest, limit: 9, counted_only: true };
    let counted = db.write(Durable, |tx| tx.recover_deliveries(&to, &failed, now)).unwrap();
    assert_eq!(counted.matched, 1);
    let failed = FailureRange { counted_only: false, ..failed };
    let done = db.write(Durable, |tx| tx.recover_deliveries(&to, &failed, now)).unwrap();
    assert_eq!((done.matched, done.recovered), (1, 1));
    db.execute("UPDATE deliveries SET due_at = 90000").unwrap();
    let expedite = db.write(Durable, |tx| tx.expedite_deliveries(&to, oldest, now, 9));
    assert_eq!(expedite.unwrap(), 1);
    assert_eq!(
        db.count(&format!("deliveries WHERE due_at = 90000 AND envelope_id = '{}'", sent.expired)),
        1
    );
}

/// The ids of other events begin with another prefix than those of envelopes.
fn deliveries_of_an_expired_event_are_neither_counted_nor_made_due(db: &Fixture) {
    let (key, now) = (db.activate().id, at(OLDEST + 10));
    let to = db.register_for(&key, &[EventKind::EnvelopeBounced]).id;
    let events = [OLDEST - 1, OLDEST].map(|millis| bounce_at(millis, &key));
    db.write(Durable, |tx| tx.insert_events(&events)).unwrap();
    let counted = |oldest| db.read(|reader| reader.count_pending(&key, at(oldest), 9)).unwrap();
    assert_eq!((counted(0), counted(OLDEST)), (2, 1));
    assert_eq!(ids(&claim(db, OLDEST, 1)), [events[1].id.to_string()]);
    for state in [
        "due_at = 90000, failed_at = 4000, lease = NULL",
        "due_at = NULL, failed_at = 4000, lease = NULL",
        "due_at = 90000, failed_at = 4000, lease = 7",
    ] {
        db.execute(&format!("UPDATE deliveries SET {state}, recover_at = NULL")).unwrap();
        let is_leased = state.ends_with('7');
        let (since, until, oldest) = (at(0), at(OLDEST), at(OLDEST));
        let failed = FailureRange { since, until, oldest, limit: 9, counted_only: false };
        if is_leased {
            let leased = |tx: &mut Transaction| tx.recover_leased(&to, &failed, now, at(90_000));
            db.write(Durable, leased).unwrap();
            assert_eq!(db.count("deliveries WHERE recover_at IS NOT NULL"), 1);
        } else {
            let recover = |tx: &mut Transaction| tx.recover_deliveries(&to, &failed, now);
            let done = db.write(Durable, recover).unwrap();
            assert_eq!((done.matched, done.recovered), (1, 1));
            assert_eq!(db.count(&format!("deliveries WHERE due_at = {}", OLDEST + 10)), 1);
        }
    }
    db.execute("UPDATE deliveries SET due_at = 90000, lease = NULL").unwrap();
    let expedite = db.write(Durable, |tx| tx.expedite_deliveries(&to, at(OLDEST), now, 9));
    assert_eq!(expedite.unwrap(), 1);
}

fn bounce_at(millis: i64, key: &ApiKeyId) -> NewEvent {
    NewEvent {
        id: OwnEventId::new(at(millis), [1; 10]),
        api_key_id: *key,
        created_at: at(millis),
        details: EventDetails::EnvelopeBounced(EnvelopeBounced {
            envelope_id: EnvelopeId::new(at(1), [1; 10]),
            recipient: *key,
            reason: BounceReason::Exhausted,
        }),
    }
}

fn a_correspondent_by_an_expired_envelope_is_not_informed(db: &Fixture) {
    let sent = send(db);
    db.execute(&format!("DELETE FROM envelopes WHERE id = '{}'", sent.kept)).unwrap();
    let inform = |oldest| {
        let rotation = IdentityRotation {
            api_key_id: sent.recipient,
            handle: None,
            replaced_by: None,
            reason: RotationReason::SealingKey,
            at: at(OLDEST),
        };
        db.write(Durable, |tx| tx.record_rotation(&rotation)).unwrap();
        while db.write(Relaxed, |tx| tx.inform_correspondents(at(oldest), at(50), 9, 9)).unwrap() {}
        db.count("events")
    };
    assert_eq!([inform(OLDEST), inform(OLDEST - 1)], [0, 1]);
}
