//! Tests a success that commits while another transaction decides about the same envelope.
//!
//! The tests run on PostgreSQL only. On SQLite, which has one writer, two transactions cannot run at the same time.

use std::thread;

use diesel::{connection::SimpleConnection as _, prelude::*};

use super::*;
use crate::{
    connection::{AnyConnection, transaction::Transaction},
    queue::{
        bounces as bouncing,
        outcomes::{self, AttemptRecording},
        success_throttle::SuccessThrottle,
    },
    schema::deliveries as d,
    tests::fixture::{WAITING, eventually, postgres},
};

/// Records a success in a transaction that is not committed yet.
fn succeed(db: &Fixture, held: &LeasedDelivery) -> Transaction {
    let mut success = db.begin(Relaxed).unwrap();
    let results = [result_of(held, 50, Outcome::Succeeded)];
    let recording =
        AttemptRecording { failing_max: FAILING_MAX, throttle: &SuccessThrottle::new(9) };
    let record = |conn: &mut AnyConnection| outcomes::record(conn, &results, Some(&recording));
    success.run(record).map(drop).unwrap();
    success
}

/// A lock on the table of deliveries stops the decision before it reads this table, until the success has committed.
#[test]
fn a_success_that_commits_during_the_decision_leaves_nothing_waiting() {
    let db = &postgres();
    let pair = Pair::new(db, 2);
    let (sent, held) = pair.send(db);
    let id = [sent.meta.id.to_string()];
    let success = succeed(db, &held[0]);
    let other = d::table.find((id[0].clone(), pair.to[1].id.to_string()));
    diesel::delete(other).execute(&mut db.raw()).unwrap();
    thread::scope(|scope| {
        let lock = "BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE; ROLLBACK";
        scope.spawn(|| db.raw().batch_execute(lock).unwrap());
        await_waiting(db, 1);
        scope.spawn(|| {
            let mut decision = db.begin(Relaxed).unwrap();
            decision.run(|conn| bouncing::settle(conn, &id, at(60))).unwrap();
            decision.commit().unwrap();
        });
        await_waiting(db, 2);
        success.commit().unwrap();
    });
    assert_eq!((db.count("waiting_envelopes"), bounces(db)), (0, Vec::new()));
}

/// The success sees no other delivery, and the request to redeliver sees no success.
#[test]
fn a_success_that_commits_after_a_redelivery_prevents_its_bounce() {
    let db = &postgres();
    for is_deleted in [false, true] {
        let mut pair = Pair::new(db, 1);
        let (_, held) = pair.send(db);
        pair.to.push(db.register(&pair.recipient));
        let success = succeed(db, &held[0]);
        redeliver(db, held[0].event.id(), pair.to[1].id, &pair.recipient);
        success.commit().unwrap();
        if is_deleted {
            let delete =
                |tx: &mut Transaction| tx.delete_webhook(&pair.recipient, &pair.to[1].id, at(70));
            assert!(db.write(Durable, delete).unwrap());
        } else {
            end(db, &claim(db, 2)[0], EXHAUSTED);
        }
        assert_eq!((db.count("waiting_envelopes"), bounces(db)), (0, Vec::new()));
    }
}

fn await_waiting(db: &Fixture, transactions: i64) {
    eventually("the transactions wait for a lock", || {
        (db.count(WAITING) == transactions).then_some(())
    });
}
