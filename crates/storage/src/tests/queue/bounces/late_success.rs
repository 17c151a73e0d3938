//! Tests a success that commits while another transaction decides whether the envelope bounces or waits.

use std::thread;

use diesel::{connection::SimpleConnection as _, prelude::*};

use super::*;
use crate::{
    connection::AnyConnection,
    queue::bounces as bouncing,
    schema::deliveries as d,
    tests::fixture::{eventually, postgres},
};

/// Runs on PostgreSQL only. On SQLite, which has one writer, the two transactions cannot run at the same time.
///
/// A lock on the table of deliveries stops the decision before it reads this table, until the success has committed.
#[test]
fn a_success_that_commits_during_the_decision_leaves_nothing_waiting() {
    let db = &postgres();
    let pair = Pair::new(db, 2);
    let (sent, _) = pair.send(db);
    let id = [sent.meta.id.to_string()];
    let delivery = |webhook: &Webhook| d::table.find((id[0].clone(), webhook.id.to_string()));
    let mut success = db.transaction(Relaxed).unwrap();
    let record = |conn: &mut AnyConnection| {
        diesel::delete(delivery(&pair.to[0])).execute(conn)?;
        bouncing::announce(conn, &id, at(50))
    };
    success.run(record).unwrap();
    diesel::delete(delivery(&pair.to[1])).execute(&mut db.raw()).unwrap();
    thread::scope(|scope| {
        let lock = "BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE; ROLLBACK";
        scope.spawn(|| db.raw().batch_execute(lock).unwrap());
        await_waiting(db, 1);
        scope.spawn(|| {
            let mut decision = db.transaction(Relaxed).unwrap();
            decision.run(|conn| bouncing::settle(conn, &id, at(60))).unwrap();
            decision.commit().unwrap();
        });
        await_waiting(db, 2);
        success.commit().unwrap();
    });
    assert_eq!((db.count("waiting_envelopes"), bounces(db)), (0, Vec::new()));
}

fn await_waiting(db: &Fixture, transactions: i64) {
    let waiting =
        "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("the transactions wait for a lock", || {
        (db.count(waiting) == transactions).then_some(())
    });
}
