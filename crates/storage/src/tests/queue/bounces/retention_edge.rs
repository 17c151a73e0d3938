//! Tests bounces in special cases: retention runs while outcomes are recorded, and a revoked key has a long backlog.

use std::thread;

use diesel::prelude::*;

use super::*;
use crate::{
    connection::AnyConnection,
    housekeeping::deleted_webhooks::AT_ONCE_MAX,
    query::row_lock::{Locked, RowLock},
    schema::{deliveries as d, envelopes as e},
    tests::fixture::{WAITING, eventually, postgres},
};

on_both!(
    concurrent_outcomes_and_retention_bounce_an_envelope_at_most_once,
    a_long_backlog_of_a_revoked_key_bounces_in_portions,
);

fn purge(db: &Fixture) -> u64 {
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(80), 100)).unwrap()
}

fn concurrent_outcomes_and_retention_bounce_an_envelope_at_most_once(db: &Fixture) {
    let pair = Pair::new(db, 2);
    for round in 1..=20 {
        let sent: Vec<_> = (0..4).map(|_| pair.send(db).1).collect();
        thread::scope(|scope| {
            for nth in 0..2 {
                let results: Vec<_> =
                    sent.iter().map(|it| result_of(&it[nth], 50, EXHAUSTED)).collect();
                scope.spawn(move || retried(|| db.record_outcomes(&results, FAILING_MAX)).unwrap());
            }
            scope.spawn(|| purge(db));
        });
        while purge(db) > 0 {}
        assert_eq!(bounces(db).len(), 4 * round);
        assert_eq!(db.count("deliveries WHERE envelope_id < 'evt_'"), 0);
    }
}

fn a_long_backlog_of_a_revoked_key_bounces_in_portions(db: &Fixture) {
    let pair = Pair::new(db, 1);
    let (mut envelopes, mut unleased) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let sent = envelope(&pair.sender, &pair.recipient);
        unleased.push(delivery(&sent, &pair.to[0], LeaseToken(0), 0));
        envelopes.push(sent.into());
    }
    db.apply(&WriteSet { envelopes, unleased, ..WriteSet::default() });
    db.write(Durable, |tx| tx.revoke_key(&pair.recipient, at(70))).unwrap();
    assert_eq!(bounces(db).len(), AT_ONCE_MAX, "the revocation is bounded");
    let portion = || db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(71), 200)).unwrap();
    assert_eq!((portion(), bounces(db).len()), (200, AT_ONCE_MAX + 200));
    while portion() > 0 {}
    assert_eq!(bounces(db).len(), 500);
}

/// Runs on PostgreSQL only. On SQLite, which has one writer, the two transactions cannot run at the same time.
#[test]
fn retention_skips_an_envelope_whose_outcome_is_being_recorded() {
    let db = &postgres();
    let (sent, _) = Pair::new(db, 1).send(db);
    let id = sent.meta.id.to_string();
    let mut outcome = db.begin(Relaxed).unwrap();
    let lock_delivery = |conn: &mut AnyConnection| {
        diesel::update(d::table.filter(d::event_id.eq(&id)))
            .set(d::attempts.eq(9))
            .execute(conn)?;
        Ok(())
    };
    outcome.run(lock_delivery).unwrap();
    thread::scope(|scope| {
        let purged = scope.spawn(|| purge(db));
        let has_waited = eventually("the purge is done or waits", || {
            let is_waiting = db.count(WAITING) > 0;
            (is_waiting || purged.is_finished()).then_some(is_waiting)
        });
        let lock_envelope = |conn: &mut AnyConnection| {
            let AnyConnection::Postgres(pg) = conn else { return Ok(0) };
            let row = e::table.filter(e::id.eq(&id)).select(e::id);
            Ok(Locked::new(row, RowLock::Alone).load::<String>(pg)?.len())
        };
        assert_eq!(outcome.run(lock_envelope).unwrap(), 1, "not deleted");
        assert_eq!(purged.join().unwrap(), 0);
        assert!(!has_waited, "a deadlock");
    });
    Box::new(outcome).commit().unwrap();
    assert_eq!(purge(db), 1);
    assert_eq!(bounces(db), [bounce(&sent, "expired")]);
}
