//! Tests that the correspondents of a changed API key (keys that sent to it or received from it) get one event each.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, EnvelopeId, EventKind, Handle, IdentityRotation, RotationReason,
    ports::{Durability::Durable, Durability::Relaxed, WriteSet},
};

use crate::tests::fixture::{Fixture, at, envelope, fresh};

mod random;

on_both!(
    correspondents_get_one_event_each,
    the_key_itself_and_strangers_get_none,
    envelopes_after_the_change_do_not_count,
    a_revocation_informs_the_correspondents,
    a_portion_continues_after_the_one_before,
    a_lost_portion_is_repeated_without_a_second_event,
    a_change_informs_a_bounded_number_of_keys,
    without_a_subscribed_webhook_nothing_is_read,
    changes_that_wait_together_share_one_reading,
);

const KINDS: &[EventKind] = &[EventKind::IdentityRotated];
const MANY: u32 = 1000;

fn subscriber(db: &Fixture) -> ApiKeyId {
    let key = db.activate().id;
    db.register_for(&key, KINDS);
    key
}

/// Stores an envelope that was sent at `millis`, in milliseconds since the Unix epoch.
fn send(db: &Fixture, sender: &ApiKeyId, recipient: &ApiKeyId, millis: i64) -> EnvelopeId {
    let mut sent = envelope(sender, recipient);
    let [_, _, _, _, _, _, random @ ..] = *sent.meta.id.as_bytes();
    sent.meta.id = EnvelopeId::new(at(millis), random);
    let id = sent.meta.id;
    db.apply(&WriteSet { envelopes: vec![Arc::new(sent)], ..WriteSet::default() });
    id
}

fn rotate(db: &Fixture, key: &ApiKeyId, millis: i64) -> IdentityRotation {
    let rotation = IdentityRotation {
        api_key_id: *key,
        handle: Some(Handle::parse("bob").unwrap()),
        replaced_by: Some(fresh(ApiKeyId::new)),
        reason: RotationReason::SealingKey,
        at: at(millis),
    };
    db.write(Durable, |tx| tx.record_rotation(&rotation)).unwrap();
    rotation
}

/// Stores one envelope from each of `count` subscribers to a key, and then changes the key. Returns the subscribers.
fn rotate_after_envelopes(db: &Fixture, count: usize) -> Vec<ApiKeyId> {
    let bob = db.activate().id;
    let others: Vec<_> = (0..count).map(|_| subscriber(db)).collect();
    for (other, millis) in others.iter().zip(10..) {
        send(db, other, &bob, millis);
    }
    rotate(db, &bob, 20);
    others
}

fn inform(db: &Fixture, informed_max: u32, limit: u32) -> bool {
    db.write(Relaxed, |tx| tx.inform_correspondents(at(0), at(50), informed_max, limit)).unwrap()
}

fn inform_all(db: &Fixture) {
    while inform(db, MANY, MANY) {}
    assert_eq!(db.count("identity_rotations"), 0);
}

/// Returns the API keys with an event about a changed correspondent, sorted by id.
fn informed(db: &Fixture) -> Vec<ApiKeyId> {
    use diesel::prelude::*;

    use crate::schema::events as v;
    let rotated = v::table.filter(v::kind.eq("identity.rotated")).order(v::api_key_id);
    let keys: Vec<String> = rotated.select(v::api_key_id).load(&mut db.raw()).unwrap();
    keys.iter().map(|key| key.parse().unwrap()).collect()
}

fn correspondents_get_one_event_each(db: &Fixture) {
    let bob = db.activate().id;
    let (alice, carol) = (subscriber(db), subscriber(db));
    db.register_for(&carol, KINDS);
    for _ in 0..3 {
        send(db, &alice, &bob, 10);
        send(db, &bob, &carol, 11);
    }
    let rotation = rotate(db, &bob, 20);
    inform_all(db);
    inform_all(db);
    assert_eq!(informed(db), [alice, carol]);
    assert_eq!(db.count("deliveries"), 3);
    for key in [alice, carol] {
        let event = rotation.event_for(&key);
        let body = serde_json::to_string(&event.body()).unwrap();
        assert_eq!(db.count(&format!("events WHERE id = '{}' AND body = '{body}'", event.id)), 1);
    }
    rotate(db, &bob, 21);
    inform_all(db);
    assert_eq!(informed(db), [alice, alice, carol, carol], "another cause");
}

fn the_key_itself_and_strangers_get_none(db: &Fixture) {
    let bob = subscriber(db);
    let (stranger, unsubscribed) = (subscriber(db), db.activate().id);
    db.register(&unsubscribed);
    send(db, &bob, &bob, 10);
    send(db, &unsubscribed, &bob, 10);
    send(db, &stranger, &unsubscribed, 10);
    rotate(db, &bob, 20);
    inform_all(db);
    assert_eq!(informed(db), []);
}

fn envelopes_after_the_change_do_not_count(db: &Fixture) {
    let (bob, alice, carol) = (db.activate().id, subscriber(db), subscriber(db));
    send(db, &alice, &bob, 20);
    rotate(db, &bob, 20);
    send(db, &bob, &carol, 21);
    inform_all(db);
    assert_eq!(informed(db), [alice]);
}

fn a_revocation_informs_the_correspondents(db: &Fixture) {
    let (bob, alice) = (db.activate(), subscriber(db));
    let handle = Handle::parse("bob").unwrap();
    let owner =
        sealpost_domain::ports::HandleOwner { account_id: bob.account_id, api_key_id: bob.id };
    db.write(Durable, |tx| tx.assign_handle(&handle, &owner)).unwrap();
    send(db, &alice, &bob.id, 20);
    let mut lost = db.begin(Durable).unwrap();
    lost.revoke_key(&bob.id, at(30)).unwrap();
    drop(lost);
    assert_eq!(db.count("identity_rotations"), 0);
    db.write(Durable, |tx| tx.revoke_key(&bob.id, at(30))).unwrap();
    inform_all(db);
    assert_eq!(informed(db), [alice]);
    assert_eq!(
        db.count("events WHERE body LIKE '%\"handle\":\"bob\",\"replaced_by\":null,\"reason\":\"revoked\"%'"),
        1
    );
}

fn a_portion_continues_after_the_one_before(db: &Fixture) {
    let others = rotate_after_envelopes(db, 5);
    assert!(inform(db, MANY, 2));
    assert_eq!(informed(db), others[3..], "newest first");
    assert!(inform(db, MANY, 2));
    assert!(!inform(db, MANY, 2));
    assert_eq!(informed(db), others);
    assert_eq!(db.count("identity_rotations"), 0);
}

fn a_lost_portion_is_repeated_without_a_second_event(db: &Fixture) {
    let others = rotate_after_envelopes(db, 4);
    assert!(inform(db, MANY, 2));
    for _ in 0..2 {
        let mut lost = db.begin(Relaxed).unwrap();
        lost.inform_correspondents(at(0), at(50), MANY, 2).unwrap();
    }
    assert_eq!(informed(db), others[2..]);
    // Repeats the whole pass over the envelopes, as after a restore of the table.
    db.execute("UPDATE identity_rotations SET read_to = NULL").unwrap();
    inform_all(db);
    assert_eq!(informed(db), others);
    assert_eq!(db.count("deliveries"), 4);
}

fn a_change_informs_a_bounded_number_of_keys(db: &Fixture) {
    let (bob, dave) = (db.activate().id, db.activate().id);
    let others: Vec<_> = (0..5).map(|_| subscriber(db)).collect();
    let unsubscribed = db.activate().id;
    for (other, millis) in others.iter().zip(10..) {
        send(db, &unsubscribed, &bob, millis);
        send(db, other, &bob, millis);
        send(db, other, &dave, millis);
    }
    rotate(db, &bob, 20);
    rotate(db, &dave, 21);
    while inform(db, 3, 4) {}
    assert_eq!(informed(db).len(), 6, "three for each change");
    assert!(informed(db).iter().all(|key| others[2..].contains(key)), "the newest");
    rotate(db, &bob, 30);
    while inform(db, 2, MANY) {}
    assert_eq!(informed(db).len(), 8);
}

fn without_a_subscribed_webhook_nothing_is_read(db: &Fixture) {
    let (bob, alice) = (db.activate().id, db.activate().id);
    db.register(&alice);
    send(db, &alice, &bob, 10);
    rotate(db, &bob, 20);
    assert!(!inform(db, MANY, 1));
    assert_eq!(db.count("identity_rotations"), 0);
    db.register_for(&alice, KINDS);
    inform_all(db);
    assert_eq!(informed(db), [], "the cause is past");
}

fn changes_that_wait_together_share_one_reading(db: &Fixture) {
    let (bob, carol) = (subscriber(db), subscriber(db));
    for millis in 10..13 {
        send(db, &bob, &carol, millis);
    }
    rotate(db, &bob, 20);
    rotate(db, &carol, 20);
    assert!(inform(db, MANY, 2));
    assert_eq!(informed(db), [bob, carol]);
    rotate(db, &bob, 21);
    assert!(inform(db, MANY, 2), "the later change waits for the end of the reading");
    assert_eq!(db.count("identity_rotations WHERE read_to IS NULL"), 1);
    inform_all(db);
    assert_eq!(informed(db), [bob, carol, carol]);
}
