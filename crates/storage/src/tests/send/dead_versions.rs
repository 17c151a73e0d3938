//! Tests that the cost of sends and claims does not depend on old row versions, which PostgreSQL keeps while any
//! session has an open snapshot. A vacuum and its statistics of almost empty tables must not lead to other plans.

use std::sync::Arc;

use diesel::{connection::SimpleConnection as _, dsl::sql, prelude::*, sql_types::BigInt};
use sealpost_domain::{
    ApiKey, LeaseToken, Outcome, Usage,
    ports::{
        Claim,
        Durability::{Durable, Relaxed},
        ExpiringRows, FactsQuery, Outbox as _, OverageCount, WriteSet,
    },
};

use crate::{
    connection::{AnyConnection, transaction::Transaction},
    queue::{claim_cursor::ClaimCursor, claims},
    tests::fixture::{FAILING_MAX, Fixture, at, claim_of, delivery, envelope, postgres, result_of},
};

/// Number of batches, each with one envelope, while the snapshot is open.
const BATCHES: usize = 400;

/// Maximum number of index entries that one statement may read. A lock of a row of `usage` reads at most the entries of
/// one generation.
const READ_MAX: i64 = 40;

#[test]
fn a_batch_reads_few_old_versions_of_usage() {
    let db = postgres();
    let key = db.activate();
    let snapshot = open_snapshot(&db);
    for used in 1..=BATCHES {
        count_up(&db, &key, used);
    }
    db.execute("VACUUM (ANALYZE)").unwrap();
    let mut batch = db.begin(Durable).unwrap();
    let before = entries_read(&mut batch, "usage_pkey");
    let wanted = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let found = batch.lock_facts(&wanted).unwrap().usage[&key.id];
    assert_eq!(found.month.used, u32::try_from(BATCHES).unwrap());
    let locked = entries_read(&mut batch, "usage_pkey");
    batch.apply(&WriteSet { usage: vec![(key.id, found)], ..WriteSet::default() }).unwrap();
    let updated = entries_read(&mut batch, "usage_pkey");
    assert!(locked - before <= READ_MAX, "{locked} - {before}");
    assert_eq!(updated, locked, "an update reads the row at its address");
    drop(snapshot);
}

/// An update whose page is full moves the row to another page, and then adds an entry to the index.
#[test]
fn few_updates_of_usage_move_their_row() {
    let db = postgres();
    let keys: Vec<_> = (0..64).map(|_| db.activate().id).collect();
    let snapshot = open_snapshot(&db);
    let places = "INSERT INTO places SELECT api_key_id, (ctid::TEXT::POINT)[0] FROM usage";
    db.execute(&format!("CREATE TABLE places (api_key_id TEXT, page FLOAT8); {places}")).unwrap();
    let (mut updates, mut moves) = (0, 0);
    for _ in 0..40 {
        let usage = keys.iter().map(|key| (*key, Usage::UNUSED)).collect();
        db.apply(&WriteSet { usage, ..WriteSet::default() });
        updates += db.count("usage");
        moves += db.count(
            "usage AS u JOIN places AS p USING (api_key_id) WHERE (u.ctid::TEXT::POINT)[0] <> p.page",
        );
        db.execute(&format!("DELETE FROM places; {places}")).unwrap();
    }
    assert!(moves * 4 < updates, "{moves} of {updates}");
    drop(snapshot);
}

#[test]
fn a_batch_reads_few_old_versions_of_overages() {
    let db = postgres();
    let key = db.activate().id;
    let snapshot = open_snapshot(&db);
    let overage = vec![OverageCount { key, month: at(1), messages: 1 }];
    let more = WriteSet { overage, ..WriteSet::default() };
    for _ in 0..BATCHES {
        db.apply(&more);
    }
    db.execute("VACUUM (ANALYZE)").unwrap();
    let mut batch = db.begin(Durable).unwrap();
    let before = entries_read(&mut batch, "overages_pkey");
    batch.apply(&more).unwrap();
    let read = entries_read(&mut batch, "overages_pkey") - before;
    assert!(read <= 2 * READ_MAX, "{read}");
    batch.commit().unwrap();
    assert_eq!(db.count(&format!("overages WHERE messages = {}", BATCHES + 1)), 1);
    drop(snapshot);
}

#[test]
fn a_deletion_of_expired_rows_reads_no_deleted_row() {
    let db = postgres();
    let key = db.activate().id;
    let snapshot = open_snapshot(&db);
    db.execute(&format!(
        "INSERT INTO idempotency_keys (api_key_id, idempotency_key, fingerprint, envelope_id, created_at)
         SELECT '{key}', n::TEXT, '', 'env_' || n, n FROM generate_series(1, 400) AS n"
    ))
    .unwrap();
    db.execute("VACUUM (ANALYZE)").unwrap();
    let mut purging = db.begin(Relaxed).unwrap();
    let index = "ix_idempotency_keys__created_at";
    assert_eq!(purging.purge_expired(ExpiringRows::IdempotencyKeys, at(1_000), 380).unwrap(), 380);
    purging.commit().unwrap();
    let mut purging = db.begin(Relaxed).unwrap();
    let before = entries_read(&mut purging, index);
    assert_eq!(purging.purge_expired(ExpiringRows::IdempotencyKeys, at(1_000), 380).unwrap(), 20);
    let read = entries_read(&mut purging, index) - before;
    assert!(read <= READ_MAX, "{read}");
    drop((purging, snapshot));
}

#[test]
fn a_search_for_pending_statements_reads_no_appended_one() {
    let db = postgres();
    let snapshot = open_snapshot(&db);
    db.execute(
        "INSERT INTO log_statements (kind, subject, text)
         SELECT 'key', n::TEXT, '' FROM generate_series(1, 400) AS n",
    )
    .unwrap();
    db.execute("UPDATE log_statements SET number = id").unwrap();
    let newest = db.read(crate::Reader::newest_statement_id).unwrap();
    db.activate();
    db.execute("VACUUM (ANALYZE)").unwrap();
    let mut search = db.begin(Relaxed).unwrap();
    let indexes =
        ["ix_log_statements__pending", "ix_log_statements__number", "log_statements_pkey"];
    let before = indexes.map(|index| entries_read(&mut search, index));
    assert!(search.has_pending_statements(newest).unwrap());
    assert_eq!(search.pending_statements(newest, 9).unwrap().len(), 1);
    for (index, before) in indexes.iter().zip(before) {
        let read = entries_read(&mut search, index) - before;
        assert!(read <= READ_MAX, "{index}: {read}");
    }
    drop((search, snapshot));
}

#[test]
fn a_claim_reads_no_deleted_delivery() {
    let db = postgres();
    let to = db.register(&db.activate().id);
    let snapshot = open_snapshot(&db);
    // Stores deliveries with a lease, and records their success.
    for _ in 0..BATCHES {
        let sent = Arc::new(envelope(&to.api_key_id, &to.api_key_id));
        let leased = delivery(&sent, &to, LeaseToken(1), 1_000);
        let write =
            WriteSet { envelopes: vec![sent], leased: vec![leased.clone()], ..WriteSet::default() };
        db.apply(&write);
        db.record_outcomes(&[result_of(&leased, 10, Outcome::Succeeded)], FAILING_MAX).unwrap();
    }
    // Stores deliveries that are claimed, and records their success.
    db.send(&to, BATCHES);
    for held in db.claim(&claim_of(2_000, BATCHES, LeaseToken(2))).unwrap() {
        db.record_outcomes(&[result_of(&held, 2_000, Outcome::Succeeded)], FAILING_MAX).unwrap();
    }
    assert_eq!(db.count("deliveries"), 0);
    // Another delivery is due so late that the slack of the claim cursor excludes the index entries of the deleted
    // deliveries.
    let now = 70_000;
    db.claim(&claim_of(now, 1, LeaseToken(3))).unwrap();
    db.send(&to, 1);
    db.execute(&format!("UPDATE deliveries SET due_at = {now}")).unwrap();
    let claim = Claim { per_target_max: 1, ..claim_of(now + 1, 2, LeaseToken(4)) };
    db.execute("VACUUM (ANALYZE)").unwrap();
    let mut claiming = db.begin(Relaxed).unwrap();
    let cursor = ClaimCursor::default();
    cursor.due_times(claim.now);
    cursor.lease_ends(claim.now);
    cursor.searched(claim.now, None, None);
    let indexes = ["due_at", "lease_end", "webhook_id__due_at", "webhook_id__due_at__free"]
        .map(|index| format!("ix_deliveries__{index}"));
    let before = indexes.each_ref().map(|index| entries_read(&mut claiming, index));
    let claimed = claiming.run(|conn| {
        let search = claims::search(conn, claim.now, &cursor)?.unwrap();
        claims::take_ready(conn, &claim, &search, &cursor)
    });
    assert_eq!(claimed.unwrap().len(), 1);
    for (index, before) in indexes.iter().zip(before) {
        let read = entries_read(&mut claiming, index) - before;
        assert!(read <= READ_MAX, "{index}: {read}");
    }
    drop(snapshot);
}

/// Opens a snapshot that stays until the connection is closed, like a dump or a report.
fn open_snapshot(db: &Fixture) -> AnyConnection {
    let mut conn = db.raw();
    conn.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM usage")
        .unwrap();
    conn
}

fn count_up(db: &Fixture, key: &ApiKey, used: usize) {
    let mut usage = Usage::UNUSED;
    usage.month.used = u32::try_from(used).unwrap();
    db.apply(&WriteSet { usage: vec![(key.id, usage)], ..WriteSet::default() });
}

/// Returns the number of entries of an index that the transaction has read so far.
fn entries_read(transaction: &mut Transaction, index: &str) -> i64 {
    let read = sql::<BigInt>(&format!("pg_stat_get_xact_tuples_returned('{index}'::regclass)"));
    transaction.run(|conn| Ok(diesel::select(read).get_result(conn)?)).unwrap()
}
