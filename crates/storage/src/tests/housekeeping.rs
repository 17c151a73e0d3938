//! What has had its time goes, nothing else does, and one node at a time sees to it.

use std::{sync::Arc, thread};

use sealpost_domain::{
    EnvelopeId, Fingerprint, IdempotencyKey, LeaseToken, Session,
    ports::{Changes, Durability::Durable, Durability::Relaxed, ToRemember},
};

use super::fixture::{Fixture, at, delivery, envelope, token};

on_both!(
    a_chore_is_one_nodes_until_its_time_is_over,
    chores_have_nothing_to_do_with_each_other,
    of_many_that_take_a_chore_one_gets_it,
    expired_sessions_go_the_oldest_first,
    old_envelopes_go_by_their_ids_and_with_their_deliveries,
    no_more_envelopes_go_than_were_asked_for,
    what_was_remembered_long_ago_goes,
);

fn take(db: &Fixture, chore: &str, node: i64, now: i64, until: i64) -> bool {
    let (node, now, until) = (LeaseToken(node), at(now), at(until));
    db.store().write(Relaxed, |tx| tx.take_chore(chore, node, now, until)).unwrap()
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
        to.each_ref().map(|registration| delivery(envelope, registration, LeaseToken(1), 9000))
    });
    let leased = deliveries.collect();
    db.apply(&Changes { envelopes: envelopes.to_vec(), leased, ..Changes::default() });
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
    let remembered = [5, 1, 3, 2, 4].map(|millis| ToRemember {
        caller,
        key: IdempotencyKey::parse(&format!("key {millis}")).unwrap(),
        fingerprint: Fingerprint([1; 32]),
        envelope_id: envelope(&caller, &caller).meta.id,
        at: at(millis),
    });
    db.apply(&Changes { remembered: remembered.to_vec(), ..Changes::default() });
    let purge = |limit| db.store().write(Relaxed, |tx| tx.purge_remembered(at(4), limit)).unwrap();
    assert_eq!(purge(0), 0);
    assert_eq!(purge(2), 2);
    assert_eq!(db.count("remembered WHERE created_at < 3"), 0);
    assert_eq!((purge(2), purge(2)), (1, 0));
    assert_eq!(db.count("remembered WHERE created_at >= 4"), 2);
}
