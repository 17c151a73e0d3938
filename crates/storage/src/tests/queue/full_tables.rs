//! Tests that reads of full tables find their rows by an index. The newest partitions of PostgreSQL have no statistics:
//! their autovacuum is turned off, because retention drops each partition as a whole.

use diesel::{dsl::sql, prelude::*, sql_types::BigInt};
use sealpost_domain::{
    ThreadId,
    ports::{Durability::Durable, SentQuery, StoreError, WebhookOwner},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{Fixture, at, postgres},
};

/// Number of rows of each table. Every hundredth row belongs to the webhook and to the sender under test.
const ROWS: usize = 40_000;

/// Maximum number of index entries and rows that one read may examine.
const EXAMINED_MAX: i64 = 300;

#[test]
fn reads_of_full_tables_examine_few_rows() {
    let db = postgres();
    let key = db.activate().id;
    let to = db.register(&key);
    let event = db.send(&to, 1).remove(0).event.id();
    fill(&db, &key.to_string(), &to.id.to_string(), &event.to_string());
    let sent = SentQuery {
        sender: key,
        recipient: None,
        thread: None,
        since: at(0),
        until: None,
        below: None,
        limit: 20,
    };
    let in_thread = SentQuery { thread: Some(ThreadId::parse("rare").unwrap()), ..sent.clone() };
    let with_recipient = SentQuery { recipient: Some(key), limit: 1, ..sent.clone() };
    let owner = WebhookOwner::Key(key);
    let few = EXAMINED_MAX;
    check(&db, "attempts", few, |tx| Ok(tx.attempts(&to.id, None, None, 20)?.len() == 20));
    check(&db, "recent", few, |tx| Ok(tx.recent_attempts(&to.id, at(0), 20)?.len() == 20));
    check(&db, "at event", few, |tx| Ok(tx.attempts_at_event(&[to.id], &event, 9)?.len() == 2));
    check(&db, "webhooks", few, |tx| {
        Ok(tx.webhooks(&owner, None, 9)?[0].last_success_at.is_some())
    });
    check(&db, "sent", few, |tx| Ok(tx.list_sent(&sent)?.envelopes.len() == 20));
    check(&db, "in a thread", few, |tx| Ok(tx.list_sent(&in_thread)?.envelopes.len() == 1));
    // This read examines the envelopes to all recipients.
    check(&db, "to a recipient", 2 * few, |tx| {
        Ok(tx.list_sent(&with_recipient)?.envelopes.len() == 1)
    });
}

/// Runs a read in a transaction, and checks its result and how many rows it examined.
fn check(
    db: &Fixture,
    name: &str,
    examined_max: i64,
    read: impl FnOnce(&mut Transaction) -> Result<bool, StoreError>,
) {
    let mut tx = db.begin(Durable).unwrap();
    assert!(read(&mut tx).unwrap(), "{name}");
    let examined = examined(&mut tx);
    assert!(examined <= examined_max, "{name}: {examined}");
}

/// Returns the number of index entries and rows of both tables that the transaction has examined.
fn examined(tx: &mut Transaction) -> i64 {
    let sum = sql::<BigInt>(
        "(SELECT sum(pg_stat_get_xact_tuples_returned(c.oid))::BIGINT FROM pg_class AS c
          LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
          WHERE coalesce(i.indrelid, c.oid)
              IN ('attempts_newest'::regclass, 'envelopes_newest'::regclass))",
    );
    tx.run(|conn| Ok(diesel::select(sum).get_result(conn)?)).unwrap()
}

fn fill(db: &Fixture, key: &str, webhook: &str, event: &str) {
    let now = "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";
    let middle = ROWS / 2;
    db.execute(&format!(
        "INSERT INTO attempts (at, attempt, duration_ms, outcome, webhook_id, envelope_id)
         SELECT {now} + n, 1, 1,
             CASE WHEN n % 700 = 0 OR n = {middle} THEN 'failed' ELSE 'succeeded' END,
             CASE WHEN n % 100 = 0 THEN '{webhook}' ELSE 'wh_' || lpad((n % 100)::TEXT, 26, '0') END,
             CASE WHEN n IN ({middle}, {middle} + 100) THEN '{event}'
                 ELSE 'env_' || lpad(n::TEXT, 26, '0') END
         FROM generate_series(1, {ROWS}) AS n;
         INSERT INTO envelopes (id, sender, recipient, suite, signature, sealed, payload_size_bytes, created_at, thread)
         SELECT 'env_7' || lpad(n::TEXT, 25, '0'),
             CASE WHEN n % 100 = 0 THEN '{key}' ELSE 'ak_' || lpad((n % 100)::TEXT, 26, '0') END,
             CASE WHEN n = {middle} THEN '{key}' ELSE 'ak_' || lpad((n % 7)::TEXT, 26, '0') END,
             1, '', '', 1, {now} + n,
             CASE WHEN n = {middle} THEN 'rare' WHEN n % 2 = 0 THEN 'often' END
         FROM generate_series(1, {ROWS}) AS n"
    ))
    .unwrap();
}
