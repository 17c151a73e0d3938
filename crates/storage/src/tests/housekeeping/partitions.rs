//! Tests that partitions on PostgreSQL are added ahead of time and dropped as a whole. Before the drop, their envelopes
//! bounce and are counted.

mod postponed;
mod release;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use diesel::{
    PgConnection, RunQueryDsl as _, connection::SimpleConnection as _, dsl::sql, sql_types::Text,
};
use sealpost_domain::{
    ApiKey, Envelope, EnvelopeId, EventKind, LeaseToken, Outcome, Timestamp, Webhook,
    ports::{CountedTable, Durability::Relaxed, Outbox as _, WriteSet},
};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    housekeeping::partitions::{self, ENVELOPES},
    tests::fixture::{
        FAILING_MAX, Fixture, at, claim_of, delivery, envelope, fresh, postgres, result_of,
    },
};

const HOUR: Duration = Duration::from_hours(1);

/// Returns the time of the migration, at which the first partitions end.
fn start(db: &Fixture) -> Timestamp {
    let first = "upper_bound::TEXT FROM partitions WHERE name = 'envelopes_first'";
    at(number(db, first))
}

fn raw(db: &Fixture) -> PgConnection {
    let AnyConnection::Postgres(pg) = db.raw() else { panic!("not PostgreSQL") };
    pg
}

fn number(db: &Fixture, query: &str) -> i64 {
    db.texts(query)[0].parse().unwrap()
}

fn extend(db: &Fixture, now: Timestamp) -> bool {
    db.write(Relaxed, |tx| tx.extend_partitions(now, HOUR)).unwrap()
}

/// Creates a database with a publication for all tables, and adds partitions of one hour. Returns the database and the
/// time of its migration, from which the added partitions begin.
fn extended() -> (Fixture, Timestamp) {
    let db = postgres();
    db.execute("CREATE PUBLICATION everything FOR ALL TABLES").unwrap();
    let start = start(&db);
    assert!(extend(&db, start));
    (db, start)
}

/// Purges envelopes until no call has more work. Returns the number of calls.
fn purge(db: &Fixture, before: Timestamp) -> u64 {
    let portion = || {
        let purge = |limit| db.write(Relaxed, |tx| tx.purge_envelopes(before, at(9), limit));
        purge(2).unwrap()
    };
    (0..100).find(|_| portion() < 2).unwrap()
}

fn count(db: &Fixture) {
    db.count_rows(CountedTable::Envelopes, at(i64::MAX >> 17), 1000);
}

/// Stores an envelope from an API key to itself, with a delivery to its webhook.
fn send(db: &Fixture, to: &Webhook, when: Timestamp) -> Envelope {
    let mut envelope = envelope(&to.api_key_id, &to.api_key_id);
    envelope.meta.id = fresh(|_, random| EnvelopeId::new(when, random));
    let sent = Arc::new(envelope.clone());
    let unleased = vec![delivery(&sent, to, LeaseToken(0), 0)];
    db.apply(&WriteSet { envelopes: vec![sent], unleased, ..WriteSet::default() });
    envelope
}

/// Registers a webhook that gets received envelopes and bounces, because the API key sends to itself.
fn receiver(db: &Fixture, key: &ApiKey) -> Webhook {
    db.register_for(&key.id, &[EventKind::EnvelopeReceived, EventKind::EnvelopeBounced])
}

fn partitions_of(db: &Fixture, table: &str) -> i64 {
    let attached = format!("pg_inherits WHERE inhparent = '{table}'::regclass");
    let listed = format!("partitions WHERE parent = '{table}'");
    assert_eq!(db.count(&attached), db.count(&listed));
    db.count(&attached)
}

#[test]
fn partitions_are_added_ahead_of_the_clock() {
    let (db, start) = extended();
    assert!(extend(&db, start));
    assert!(!extend(&db, start), "two hours are enough");
    assert_eq!((partitions_of(&db, "envelopes"), partitions_of(&db, "attempts")), (4, 4));
    let to = receiver(&db, &db.activate());
    for hours in 0..4 {
        send(&db, &to, start.plus(HOUR * hours));
    }
    let tables = db.texts("DISTINCT tableoid::regclass::TEXT FROM envelopes");
    assert_eq!(tables.len(), 3, "{tables:?}");
}

#[test]
fn an_ended_partition_is_dropped_after_its_bounces_and_bytes() {
    let (db, start) = extended();
    let key = db.activate();
    let to = receiver(&db, &key);
    let sent: Vec<_> =
        (0..7).map(|millis| send(&db, &to, start.plus(Duration::from_millis(millis)))).collect();
    let later = send(&db, &to, start.plus(HOUR));
    let ids = sent.iter().map(|sent| sent.meta.id.to_string()).collect::<Vec<_>>();
    // The first envelope is delivered, the second is opened, and the third waits for a webhook.
    db.execute(&format!(
        "DELETE FROM deliveries WHERE envelope_id IN ('{}', '{}');
         UPDATE envelopes SET opened_at = 5 WHERE id = '{}';
         INSERT INTO waiting_envelopes VALUES ('{}', '{}');
         UPDATE usage SET stored_bytes = 100",
        ids[0], ids[2], ids[1], ids[2], key.id
    ))
    .unwrap();
    count(&db);
    let before = start.plus(HOUR);
    purge(&db, before.minus(Duration::from_millis(1)));
    assert_eq!(db.count("envelopes"), 8, "the partition has not ended");
    assert!(purge(&db, before) > 4, "works in portions");
    assert_eq!(db.texts("id FROM envelopes"), [later.meta.id.to_string()]);
    assert_eq!(
        (db.count("deliveries WHERE envelope_id < 'evt_'"), db.count("waiting_envelopes")),
        (1, 0)
    );
    assert_eq!(db.count("events WHERE kind = 'envelope.bounced'"), 5);
    let bounced = db.texts("envelope_id FROM envelope_outcomes ORDER BY 1");
    assert_eq!(bounced, ids[2..]);
    assert_eq!(number(&db, "stored_bytes::TEXT FROM usage"), 100 - 7 * 4);
    assert_eq!(partitions_of(&db, "envelopes"), 2, "one before, one newest");
    assert_eq!(db.unidentified_tables().unwrap(), Vec::<String>::new());
    assert_eq!(purge(&db, before), 0);

    // The clock of a node may be far behind.
    send(&db, &to, at(1000));
    send(&db, &to, start);
    purge(&db, before);
    assert_eq!(db.count("envelopes"), 1, "such rows are deleted one by one");
    assert_eq!(db.count("events WHERE kind = 'envelope.bounced'"), 7);
}

#[test]
fn several_ended_partitions_are_released_once_each() {
    let (db, start) = extended();
    assert!(extend(&db, start));
    let key = db.activate();
    let to = receiver(&db, &key);
    for hours in [0, 1] {
        send(&db, &to, start.plus(HOUR * hours));
    }
    db.execute("DELETE FROM deliveries; UPDATE usage SET stored_bytes = 100").unwrap();
    let bytes = || number(&db, "stored_bytes::TEXT FROM usage");
    // The envelopes are not in the daily counts yet, so nothing is dropped. Meanwhile the second partition ends too.
    purge(&db, start.plus(HOUR));
    purge(&db, start.plus(HOUR * 2));
    assert_eq!((bytes(), db.count("envelopes")), (100 - 4, 2));
    count(&db);
    purge(&db, start.plus(HOUR * 2));
    assert_eq!((bytes(), db.count("envelopes")), (100 - 2 * 4, 0));
}

#[test]
fn a_partition_is_dropped_once_all_its_envelopes_are_counted() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    send(&db, &to, start);
    purge(&db, start.plus(HOUR));
    assert_eq!((db.count("envelopes"), db.count("deliveries WHERE envelope_id < 'evt_'")), (1, 0));
    count(&db);
    purge(&db, start.plus(HOUR));
    assert_eq!(db.count("envelopes"), 0);
    assert_eq!(db.count("daily_counts WHERE sent = 1"), 1);
}

#[test]
fn a_partition_is_dropped_once_no_transaction_uses_it() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    let sent = send(&db, &to, start);
    count(&db);
    let mut pg = raw(&db);
    pg.batch_execute(&format!(
        "BEGIN; UPDATE deliveries SET attempts = 3 WHERE envelope_id = '{}'",
        sent.meta.id
    ))
    .unwrap();
    purge(&db, start.plus(HOUR));
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (1, 1), "its delivery is in use");
    pg.batch_execute("COMMIT; BEGIN; SELECT count(*) FROM envelopes").unwrap();
    extend(&db, start);
    assert_eq!(partitions_of(&db, "envelopes"), 3, "the table is in use");
    purge(&db, start.plus(HOUR));
    assert_eq!(db.count("events WHERE kind = 'envelope.bounced'"), 1);
    assert_eq!(db.count("envelopes"), 1, "the table is in use");
    pg.batch_execute("COMMIT").unwrap();
    purge(&db, start.plus(HOUR));
    assert_eq!(db.count("envelopes"), 0);
    assert!(extend(&db, start));
}

#[test]
fn rows_of_a_clock_ahead_are_stored_and_deleted_one_by_one() {
    let db = postgres();
    let start = start(&db);
    let to = receiver(&db, &db.activate());
    send(&db, &to, start.plus(HOUR * 2));
    assert!(db.write(Relaxed, |tx| tx.extend_partitions(start, HOUR)).unwrap(), "attempts");
    assert_eq!((partitions_of(&db, "envelopes"), partitions_of(&db, "attempts")), (2, 3));
    purge(&db, start.plus(HOUR * 3));
    assert_eq!((db.count("envelopes"), db.count("events")), (0, 1));
    assert!(extend(&db, start));
    assert_eq!(partitions_of(&db, "envelopes"), 3);
}

#[test]
fn ended_partitions_of_attempts_are_dropped_once_counted() {
    let (db, start) = extended();
    let to = receiver(&db, &db.activate());
    for hours in [0, 0, 1] {
        send(&db, &to, start);
        let held = db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap();
        let end = start.plus(HOUR * hours).as_millis();
        db.record_outcomes(&[result_of(&held[0], end, Outcome::Succeeded)], FAILING_MAX).unwrap();
    }
    let purge = || {
        db.write(Relaxed, |tx| tx.purge_attempts(start.plus(HOUR), 9)).unwrap();
        db.count("attempts")
    };
    assert_eq!(purge(), 3, "not counted");
    db.execute("DELETE FROM envelopes").unwrap();
    db.count_rows(CountedTable::Attempts, at(i64::MAX >> 17), 99);
    assert_eq!(purge(), 1);
    assert_eq!((purge(), partitions_of(&db, "attempts")), (1, 2));
}

#[test]
fn statements_read_only_the_partition_of_an_id() {
    let (db, start) = extended();
    extend(&db, start);
    let id = EnvelopeId::new(start, [1; 10]);
    let plan = |statement: &str, value: String| {
        let (options, statement) = match statement.strip_prefix("(ANALYZE) ") {
            Some(statement) => ("(ANALYZE)", statement),
            None => ("", statement),
        };
        let mut pg = raw(&db);
        pg.batch_execute(&format!(
            "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
             SET enable_hashjoin = off; SET enable_mergejoin = off;
             PREPARE statement AS {statement}"
        ))
        .unwrap();
        let explain = sql::<Text>(&format!("EXPLAIN {options} EXECUTE statement({value})"));
        explain.load::<String>(&mut pg).unwrap().join("\n")
    };
    for statement in [
        "SELECT * FROM envelopes WHERE id = $1",
        "SELECT id FROM envelopes WHERE id = $1 FOR UPDATE",
        "UPDATE envelopes SET opened_at = 1 WHERE id = $1 AND opened_at IS NULL",
        "SELECT * FROM envelopes WHERE id <= $1 AND id >= $1 ORDER BY id LIMIT 9",
    ] {
        let plan = plan(statement, format!("'{id}'"));
        assert!(plan.contains("Subplans Removed: 3"), "{statement}\n{plan}");
        assert!(!plan.contains("Seq Scan"), "{statement}\n{plan}");
    }
    // The join of a claim: for each delivery, PostgreSQL reads only the partition of its envelope.
    send(&db, &receiver(&db, &db.activate()), start);
    let join = "(ANALYZE) SELECT e.sender FROM deliveries AS d
         LEFT JOIN envelopes AS e ON e.id = d.envelope_id WHERE d.envelope_id >= $1";
    let join = plan(join, "'env_'".to_owned());
    assert_eq!(join.matches("never executed").count(), 3, "{join}");
    let attempts = plan("SELECT * FROM attempts WHERE at = $1", start.as_millis().to_string());
    assert!(attempts.contains("Subplans Removed: 3"), "{attempts}");
}

#[test]
fn a_locked_table_is_free_again_after_a_slow_statement() {
    let (db, start) = extended();
    let began = Instant::now();
    let dropped = partitions::drop_up_to(&mut raw(&db), &ENVELOPES, start.plus(HOUR), |pg| {
        pg.batch_execute("SELECT pg_sleep(20)")?;
        Ok(true)
    });
    assert!(matches!(dropped, Err(QueryError::Driver(_))), "{dropped:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(partitions_of(&db, "envelopes"), 3);
}

#[test]
fn only_a_partition_that_is_dropped_as_a_whole_has_no_autovacuum() {
    let (db, start) = extended();
    let options = || {
        db.texts(
            "p.name || ' ' || coalesce(array_to_string(c.reloptions, ' '), '-')
             FROM partitions AS p JOIN pg_class AS c ON c.relname = p.name
             WHERE p.parent = 'envelopes' ORDER BY p.upper_bound NULLS LAST",
        )
    };
    let first = start.plus(HOUR).as_millis();
    let off = "autovacuum_enabled=false";
    let [oldest, newest] = ["envelopes_first -".to_owned(), format!("envelopes_newest {off}")];
    assert_eq!(
        options(),
        [oldest.clone(), newest.clone(), format!("envelopes_from_{first} {off}")]
    );
    // After a stop of ten hours, the partition spans too much time to be dropped as a whole.
    let later = start.plus(HOUR * 10);
    assert!(partitions::extend(&mut raw(&db), &ENVELOPES, later, HOUR).unwrap());
    let added = format!("envelopes_from_{} {off}", later.plus(HOUR).as_millis());
    assert_eq!(options(), [oldest, newest, format!("envelopes_from_{first} -"), added]);
    assert_eq!(db.count("partitions WHERE parent = 'envelopes' AND is_dropped_whole"), 1);
}
