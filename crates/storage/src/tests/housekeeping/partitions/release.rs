//! Tests how the envelopes of an expired partition are released. Their bytes are subtracted from the senders once, even
//! if other transactions change the same rows.

use std::thread;

use sealpost_domain::ports::Durability::Durable;

use super::*;
use crate::housekeeping::{
    expired_envelopes::{bounce, whole_partitions::end_deliveries},
    partitions::first_id,
};

/// If the clock of a node is behind by a whole partition, the stored bytes of a sender stay too high. But no envelope
/// is left over, and no bounce is lost.
#[test]
fn an_envelope_below_the_released_ones_keeps_its_bytes_in_the_quota() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    let half = start.plus(HOUR / 2);
    send(&db, &to, start);
    send(&db, &to, half);
    // The envelopes are not in the daily counts yet, so the partition stays after the release.
    purge(&db, start.plus(HOUR));
    for late in [at(1000), half.plus(HOUR / 4)] {
        send(&db, &to, late);
    }
    db.execute("UPDATE usage SET stored_bytes = 100").unwrap();
    purge(&db, start.plus(HOUR));
    count(&db);
    purge(&db, start.plus(HOUR));
    let bytes = number(&db, "stored_bytes::TEXT FROM usage");
    assert_eq!((bytes, db.count("envelopes")), (100 - 4, 0));
    assert_eq!(db.count("events WHERE kind = 'envelope.bounced'"), 4);
}

#[test]
fn rows_of_an_older_partition_are_released_once() {
    let (db, start) = extended();
    assert!(extend(&db, start));
    let to = receiver(&db, &db.activate());
    send(&db, &to, at(1000));
    send(&db, &to, start);
    db.execute("DELETE FROM deliveries; UPDATE usage SET stored_bytes = 100").unwrap();
    // The envelopes are not in the daily counts yet, so both stay after the release.
    for _ in 0..3 {
        purge(&db, start.plus(HOUR));
    }
    let bytes = || number(&db, "stored_bytes::TEXT FROM usage");
    assert_eq!((bytes(), db.count("envelopes")), (100 - 2 * 4, 2));
    count(&db);
    purge(&db, start.plus(HOUR));
    assert_eq!((bytes(), db.count("envelopes")), (100 - 2 * 4, 0));
}

#[test]
fn deleting_rows_and_a_revocation_do_not_deadlock() {
    let db = postgres();
    let key = db.activate();
    let to = receiver(&db, &key);
    send(&db, &to, at(1000));
    let mut revocation = db.begin(Durable).unwrap();
    db.let_stand(&mut revocation);
    revocation.lock_key(&key.id).unwrap();
    thread::scope(|scope| {
        let purge = scope.spawn(|| {
            // Makes a single attempt. `write` would repeat the transaction after a deadlock, and so hide the deadlock.
            let mut purge = db.begin(Relaxed)?;
            purge.purge_envelopes(at(2000), at(9), 9)?;
            purge.commit()
        });
        db.await_waiting();
        revocation.revoke_key(&key.id, at(9)).unwrap();
        revocation.commit().unwrap();
        purge.join().unwrap().unwrap();
    });
    let left = "deliveries WHERE envelope_id < 'evt_'";
    assert_eq!((db.count("envelopes"), db.count(left)), (0, 0));
}

/// Retention must read `opened_at` after it has locked the envelope. The test pauses the statement between the lock and
/// the read: it replaces the operator `<` by a function that waits for an advisory lock.
#[test]
fn an_envelope_that_is_opened_during_the_release_does_not_bounce() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    let [opened, unopened] = [start, start.plus(HOUR / 2)].map(|when| send(&db, &to, when).meta.id);
    db.execute(
        "CREATE SCHEMA slow;
         CREATE FUNCTION slow.lower(TEXT, TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
             PERFORM pg_advisory_xact_lock(7);
             RETURN $1 OPERATOR(pg_catalog.<) $2;
         END $$;
         CREATE OPERATOR slow.< (LEFTARG = TEXT, RIGHTARG = TEXT, FUNCTION = slow.lower)",
    )
    .unwrap();
    let mut holder = raw(&db);
    holder.batch_execute("SELECT pg_advisory_lock(7)").unwrap();
    thread::scope(|scope| {
        let release = scope.spawn(|| {
            let mut pg = raw(&db);
            pg.batch_execute("SET search_path = slow, public, pg_catalog").unwrap();
            let ended = end_deliveries(&mut pg, &first_id(start.plus(HOUR)), 9).unwrap();
            bounce(&mut AnyConnection::Postgres(pg), &ended, at(9)).unwrap();
        });
        db.await_waiting();
        db.write(Durable, |tx| tx.mark_opened(&opened, at(5))).unwrap();
        holder.batch_execute("SELECT pg_advisory_unlock(7)").unwrap();
        release.join().unwrap();
    });
    let bounced = db.texts("envelope_id FROM envelope_outcomes");
    assert_eq!(bounced, [unopened.to_string()]);
}
