//! What has had its time goes, nothing else does, and one node at a time sees to it.

use std::{sync::Arc, thread, time::Duration};

use sealpost_domain::{
    EnvelopeId, Fingerprint, IdempotencyKey, LeaseToken, Outcome, Session, Webhook,
    ports::{
        Durability::Durable, Durability::Relaxed, HousekeepingTurn, NewIdempotencyRecord, Outbox,
        WriteSet,
    },
};

use super::fixture::{FAILING_MAX, Fixture, at, claim_of, delivery, envelope, settlement, token};
use crate::connection::AnyConnection;

on_both!(
    a_chore_is_one_nodes_until_its_time_is_over,
    chores_have_nothing_to_do_with_each_other,
    of_many_that_take_a_chore_one_gets_it,
    a_chore_s_time_follows_the_clock_no_faster_than_its_pace,
    a_clock_that_is_behind_for_a_moment_is_not_followed_far,
    a_hold_that_no_clock_comes_to_holds_nothing,
    a_node_that_is_ahead_of_the_server_goes_by_the_server,
    expired_sessions_go_the_oldest_first,
    old_envelopes_go_by_their_ids_and_with_their_deliveries,
    no_more_envelopes_go_than_were_asked_for,
    what_was_remembered_long_ago_goes,
    old_attempts_go_and_younger_ones_stay,
    attempts_of_a_webhook_that_is_gone_go_in_portions,
    attempts_of_a_revoked_key_go_too,
);

fn take(db: &Fixture, chore: &str, node: i64, now: i64, until: i64) -> bool {
    let held_for = at(until).since(at(now));
    let pace = Duration::from_hours(1);
    let turn =
        HousekeepingTurn { task: chore, node: LeaseToken(node), now: at(now), held_for, pace };
    db.store().write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().is_some()
}

/// What it is done by, held for 10 ms by a node that nobody is in the way of.
fn done_by(db: &Fixture, now: i64, pace: u64) -> i64 {
    let (held_for, pace) = (Duration::from_millis(10), Duration::from_millis(pace));
    let turn =
        HousekeepingTurn { task: "purge", node: LeaseToken(1), now: at(now), held_for, pace };
    db.store().write(Relaxed, |tx| tx.take_housekeeping_turn(&turn)).unwrap().unwrap().as_millis()
}

fn a_chore_is_one_nodes_until_its_time_is_over(db: &Fixture) {
    assert!(take(db, "purge", 1, 0, 100));
    assert!(!take(db, "purge", 2, 50, 150));
    assert!(take(db, "purge", 1, 60, 160), "who holds it may go on");
    assert!(!take(db, "purge", 2, 159, 300));
    assert!(take(db, "purge", 2, 160, 300));
    assert!(!take(db, "purge", 1, 161, 400));
}

fn chores_have_nothing_to_do_with_each_other(db: &Fixture) {
    assert!(take(db, "one", 1, 0, 100));
    assert!(take(db, "other", 2, 0, 100));
    assert!(!take(db, "one", 2, 0, 100));
}

fn of_many_that_take_a_chore_one_gets_it(db: &Fixture) {
    for now in [0, 100, 200] {
        let taken: Vec<_> = thread::scope(|scope| {
            let nodes = 1000 * now..1000 * now + 5;
            let nodes: Vec<_> = nodes
                .map(|node| scope.spawn(move || take(db, "purge", node, now, now + 100)))
                .collect();
            nodes.into_iter().map(|node| node.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{now}");
    }
}

fn a_chore_s_time_follows_the_clock_no_faster_than_its_pace(db: &Fixture) {
    assert_eq!(done_by(db, 1_000, 100), 1_000, "no time was written down yet");
    assert_eq!(done_by(db, 1_100, 100), 1_100);
    let year_ahead = 31_536_000_000;
    assert_eq!(done_by(db, year_ahead, 100), 1_200);
    assert_eq!(done_by(db, year_ahead, 100), 1_300);
    assert_eq!(done_by(db, year_ahead, 0), 1_300);
    assert_eq!(done_by(db, 1_301, 100), 1_301);
    assert_eq!(done_by(db, 1_250, 0), 1_250, "never after the clock");
}

fn a_clock_that_is_behind_for_a_moment_is_not_followed_far(db: &Fixture) {
    assert_eq!(done_by(db, 1_000_000, 100), 1_000_000);
    assert_eq!(done_by(db, 0, 100), 0);
    assert_eq!(done_by(db, 2_000_000, 100), 1_000_000, "a hundred back, a hundred forward");
    assert_eq!(done_by(db, 0, 100), 0);
    assert_eq!(done_by(db, 0, 100), 0);
    assert_eq!(done_by(db, 2_000_000, 0), 999_800);
}

fn a_hold_that_no_clock_comes_to_holds_nothing(db: &Fixture) {
    assert!(take(db, "purge", 1, 0, 100));
    let far = 9_000_000_000_000_000_000_i64;
    db.execute(&format!("UPDATE chores SET until = {far}")).unwrap();
    assert!(take(db, "purge", 2, 50, 150));
    assert!(take(db, "purge", 3, 50, 150), "its own time is still far");
    assert_eq!(db.count(&format!("chores WHERE until < {far} - 7000000")), 1, "and comes back");
}

fn a_node_that_is_ahead_of_the_server_goes_by_the_server(db: &Fixture) {
    let ahead = 4_102_444_800_000; // 2100
    let server_is_asked = matches!(db.raw(), AnyConnection::Postgres(_));
    assert_eq!(done_by(db, ahead, 100) < ahead, server_is_asked);
    // Nor is it taken from a node that keeps the time by one whose clock is behind.
    assert_eq!(take(db, "purge", 2, 0, 10), !server_is_asked);
}

fn expired_sessions_go_the_oldest_first(db: &Fixture) {
    let account_id = db.activate().account_id;
    db.store()
        .write(Durable, |tx| {
            [4, 0, 3, 1, 2].into_iter().try_for_each(|end| {
                tx.insert_session(&Session { token: token(), account_id, expires_at: at(end) })
            })
        })
        .unwrap();
    let purge = |limit| db.store().write(Relaxed, |tx| tx.purge_sessions(at(3), limit)).unwrap();
    assert_eq!(purge(0), 0);
    assert_eq!(purge(2), 2);
    assert_eq!((db.count("sessions WHERE expires_at < 2"), db.count("sessions")), (0, 3));
    assert_eq!((purge(2), purge(2)), (1, 0));
    assert_eq!(db.count("sessions WHERE expires_at >= 3"), 2);
}

fn old_envelopes_go_by_their_ids_and_with_their_deliveries(db: &Fixture) {
    let key = db.activate();
    let to = [db.register(&key.id), db.register(&key.id)];
    let ids = [(8, [0; 10]), (9, [255; 10]), (10, [0; 10]), (10, [255; 10]), (11, [0; 10])];
    let envelopes = ids.map(|(millis, random)| {
        let mut envelope = envelope(&key.id, &key.id);
        envelope.meta.id = EnvelopeId::new(at(millis), random);
        Arc::new(envelope)
    });
    let deliveries = envelopes.iter().flat_map(|envelope| {
        to.each_ref().map(|webhook| delivery(envelope, webhook, LeaseToken(1), 9000))
    });
    let leased = deliveries.collect();
    db.apply(&WriteSet { envelopes: envelopes.to_vec(), leased, ..WriteSet::default() });
    db.execute(&format!("UPDATE deliveries SET due_at = NULL WHERE webhook_id = '{}'", to[0].id))
        .unwrap();
    let purge = |time| db.store().write(Relaxed, |tx| tx.purge_envelopes(at(time), 99)).unwrap();
    assert_eq!(purge(8), 0);
    assert_eq!(purge(10), 2);
    assert_eq!(purge(10), 0);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (3, 6));
    let bound = envelopes[2].meta.id;
    assert_eq!(db.count(&format!("deliveries WHERE envelope_id < '{bound}'")), 0);
    assert_eq!(purge(12), 3);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (0, 0));
}

fn no_more_envelopes_go_than_were_asked_for(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 5);
    let purge = |limit| {
        db.store().write(Relaxed, |tx| tx.purge_envelopes(at(i64::MAX >> 17), limit)).unwrap()
    };
    assert_eq!(purge(0), 0);
    assert_eq!(purge(2), 2);
    let old = sent[2].meta.id;
    assert_eq!(db.count(&format!("envelopes WHERE id < '{old}'")), 0);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (3, 3));
    assert_eq!((purge(2), purge(2), purge(2)), (2, 1, 0));
}

fn what_was_remembered_long_ago_goes(db: &Fixture) {
    let caller = db.activate().id;
    let remembered = [5, 1, 3, 2, 4].map(|millis| NewIdempotencyRecord {
        caller,
        key: IdempotencyKey::parse(&format!("key {millis}")).unwrap(),
        fingerprint: Fingerprint([1; 32]),
        envelope_id: envelope(&caller, &caller).meta.id,
        at: at(millis),
        expired_before: at(0),
    });
    db.apply(&WriteSet { idempotency: remembered.to_vec(), ..WriteSet::default() });
    let purge =
        |limit| db.store().write(Relaxed, |tx| tx.purge_idempotency_keys(at(4), limit)).unwrap();
    assert_eq!(purge(0), 0);
    assert_eq!(purge(2), 2);
    assert_eq!(db.count("remembered WHERE created_at < 3"), 0);
    assert_eq!((purge(2), purge(2)), (1, 0));
    assert_eq!(db.count("remembered WHERE created_at >= 4"), 2);
}

/// So many attempts that succeeded, at this time and the instants after it.
fn attempt(db: &Fixture, to: &Webhook, count: usize, when: i64) {
    db.send(to, count);
    let held = db.claim(&claim_of(1000, count, LeaseToken(1))).unwrap();
    let ends: Vec<_> = held
        .iter()
        .zip(when..)
        .map(|(held, when)| settlement(held, when, Outcome::Succeeded))
        .collect();
    db.settle(&ends, FAILING_MAX).unwrap();
}

fn old_attempts_go_and_younger_ones_stay(db: &Fixture) {
    let to = db.register(&db.activate().id);
    attempt(db, &to, 3, 100);
    attempt(db, &to, 3, 200);
    let purge = |before, limit| {
        db.store().write(Relaxed, |tx| tx.purge_attempts(at(before), limit)).unwrap()
    };
    assert_eq!((purge(100, 9), purge(202, 0)), (0, 0));
    assert_eq!((purge(202, 2), purge(202, 2), purge(202, 2)), (2, 2, 1));
    assert_eq!(db.count("attempts WHERE at >= 202"), 1);
    assert_eq!(db.count("attempts"), 1);
}

fn attempts_of_a_webhook_that_is_gone_go_in_portions(db: &Fixture) {
    let key = db.activate();
    let (gone, stays) = (db.register(&key.id), db.register(&key.id));
    attempt(db, &gone, 5, 100);
    attempt(db, &stays, 2, 100);
    let purge = || db.store().write(Relaxed, |tx| tx.purge_deleted_webhooks(3)).unwrap();
    assert_eq!(purge(), 0);
    let foreign = db.activate().id;
    let delete = |by| db.store().write(Durable, |tx| tx.delete_webhook(by, &gone.id)).unwrap();
    assert!(!delete(&foreign));
    assert_eq!(purge(), 0, "nothing goes with a webhook that stays");
    assert!(delete(&key.id));
    let left = |of: &Webhook| db.count(&format!("attempts WHERE webhook_id = '{}'", of.id));
    assert_eq!((purge(), left(&gone)), (3, 2));
    assert_eq!((purge(), left(&gone)), (3, 0));
    assert_eq!((purge(), db.count("former_webhooks"), left(&stays)), (0, 0, 2));
}

fn attempts_of_a_revoked_key_go_too(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let mine = [db.register(&key.id), db.register(&key.id)];
    let theirs = db.register(&other.id);
    for to in mine.iter().chain([&theirs]) {
        attempt(db, to, 2, 100);
    }
    db.store().write(Durable, |tx| tx.revoke_key(&key.id)).unwrap();
    let purge = || db.store().write(Relaxed, |tx| tx.purge_deleted_webhooks(100)).unwrap();
    assert_eq!((purge(), purge()), (6, 0));
    assert_eq!((db.count("attempts"), db.count("former_webhooks")), (2, 0));
}
