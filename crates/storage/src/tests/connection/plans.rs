//! Plans of the statements that a PostgreSQL connection keeps prepared.

use std::{collections::BTreeSet, fmt::Write as _};

use diesel::{
    PgConnection,
    connection::SimpleConnection as _,
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{Integer, Text},
};
use sealpost_domain::{ApiKeyId, LeaseToken};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::row_types::insert_missing,
    queue::{claim_cursor::ClaimCursor, claims, receipts, relays, statements as queue},
    rows::idempotency::IdempotencyRow,
    send::{
        statements::{self as send, BatchRows},
        usage_rows,
    },
    tests::fixture::{Fixture, at, claim_of, postgres},
};

/// PostgreSQL keeps a plan from a time when the tables were empty, for example because an autovacuum saw an idle
/// delivery queue. With many rows, a scan of a whole index in such a plan would stop all deliveries.
#[test]
fn statements_look_up_rows_although_their_tables_were_empty() {
    check_plans(&postgres());
}

/// A scan of an index with few rows costs less than several look-ups.
#[test]
fn statements_look_up_rows_although_their_tables_had_few_rows() {
    let db = postgres();
    let to = db.register(&db.activate().id);
    db.send(&to, 5);
    check_plans(&db);
}

/// While a snapshot is open, the table of deliveries has many old rows, but its statistics say that it is empty.
#[test]
fn statements_look_up_rows_although_statistics_know_no_old_rows() {
    let db = postgres();
    let mut snapshot = db.raw();
    snapshot
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM usage")
        .unwrap();
    let leased = |count: u32| {
        format!(
            "INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, lease)
             SELECT {count} || '_' || n, 'wh_01m8fby5vffz9sjg06g3fh' || n % 256, 0, n, 1
             FROM generate_series(1, {count}) AS n"
        )
    };
    for statement in [
        &leased(20_000),
        "DELETE FROM deliveries",
        &leased(700),
        "ANALYZE deliveries",
        "DELETE FROM deliveries",
        "VACUUM (ANALYZE)",
    ] {
        db.execute(statement).unwrap();
    }
    check_plans(&db);
    drop(snapshot);
}

/// Statistics of an empty table make all its indexes equal. A condition on its first column keeps an index from
/// searches by a later column.
#[test]
fn no_index_with_the_primary_key_as_a_later_column_is_used_for_the_key_alone() {
    let db = postgres();
    let AnyConnection::Postgres(conn) = &mut db.raw() else { unreachable!() };
    let names: Vec<String> = sql::<Text>(
        "SELECT i.indexrelid::regclass::TEXT
         FROM pg_index AS i
         JOIN pg_index AS p ON p.indrelid = i.indrelid AND p.indisprimary
         JOIN pg_class AS c ON c.oid = i.indrelid
         WHERE c.relnamespace = current_schema()::regnamespace
             AND p.indkey[0] = ANY ((i.indkey::INT2[])[1:])
             AND coalesce(pg_get_expr(i.indpred, i.indrelid), '')
                 NOT LIKE '%(' || pg_get_indexdef(i.indexrelid, 1, true) || ' IS NOT NULL)%'",
    )
    .load(conn)
    .unwrap();
    assert_eq!(names, Vec::<String>::new());
}

/// Checks that no prepared statement of sends, of the queue and of receipts reads a whole table or a whole index. A
/// condition that does not include the first column of an index is checked for each of its entries.
fn check_plans(db: &Fixture) {
    db.reader()
        .run(|conn| {
            prepare_queue_statements(conn)?;
            prepare_send_statements(conn)?;
            receipts::read_sent(conn, &["env".to_owned()], &ApiKeyId::new(at(0), [0; 10]))?;
            let AnyConnection::Postgres(pg) = conn else { unreachable!() };
            check_prepared(pg);
            Ok(())
        })
        .unwrap();
}

fn check_prepared(pg: &mut PgConnection) {
    let prepared = prepared_statements(pg);
    assert!(prepared.len() >= 30, "{}", prepared.len());
    for statement in prepared {
        let plan = statement.explain(pg);
        let next = plan.iter().skip(1).map(String::as_str).chain([""]);
        for (scan, next) in plan.iter().zip(next) {
            let is_look_up = match index(scan) {
                Some(index) => {
                    next.trim_start().starts_with("Index Cond")
                        && next.contains(&first_column(pg, index))
                }
                None => !scan.contains("Seq Scan on "),
            };
            assert!(is_look_up, "{}\n{}", statement.text, plan.join("\n"));
        }
    }
}

/// Returns the name of the index that a line of a plan reads.
fn index(line: &str) -> Option<&str> {
    let scans = [
        "Index Scan using ",
        "Index Scan Backward using ",
        "Index Only Scan using ",
        "Index Only Scan Backward using ",
        "Bitmap Index Scan on ",
    ];
    let (_, rest) = scans.iter().find_map(|scan| line.split_once(scan))?;
    rest.split_whitespace().next()
}

fn first_column(conn: &mut PgConnection, index: &str) -> String {
    let first = sql::<Text>("SELECT pg_get_indexdef(").bind::<Text, _>(index);
    first.sql("::regclass, 1, true)").get_result(conn).unwrap()
}

fn prepare_queue_statements(conn: &mut AnyConnection) -> Result<(), QueryError> {
    let (now, due, full) = (at(0), 0..=1, ["wh".to_owned()]);
    queue::end_leases(conn, &due, 1)?;
    queue::oldest_due(conn, &due, 1, &[])?;
    queue::oldest_due(conn, &due, 1, &full)?;
    queue::targets_above(conn, "", 0, 1)?;
    queue::due_of(conn, &full, &due, 1)?;
    queue::awaiting_relay(conn, &full, now, 1)?;
    queue::await_relay(conn, &[], now)?;
    queue::leave_relays(conn, 1)?;
    relays::waiting(conn, "", 1)?;
    relays::arrivals(conn, now, now, 1)?;
    claims::search(conn, now, &ClaimCursor::default())?;
    queue::lease(conn, &[], &claim_of(0, 1, LeaseToken(1)))?;
    queue::lock(conn, &[])?;
    queue::delete(conn, &[])?;
    queue::park(conn, &[], now)?;
    queue::remove_succeeded(conn, &[])?;
    queue::restart_succeeded(conn, &[])?;
    queue::record_failed(conn, &[])?;
    queue::log_attempts(conn, &[])?;
    queue::set_health(conn, &[])?;
    queue::release(conn, &[], now)?;
    queue::insert_outcomes(conn, &BTreeSet::new(), "bounced", now)?;
    queue::expedite(conn, &[])
}

fn prepare_send_statements(conn: &mut AnyConnection) -> Result<(), QueryError> {
    let (envelopes, deliveries) = (Vec::new(), Vec::new());
    let rows = BatchRows {
        envelopes,
        deliveries,
        usage: Vec::new(),
        addresses: Vec::new(),
        added_bytes: Vec::new(),
        leaves: &[],
    };
    send::store_batch(conn, &rows)?;
    send::add_overages(conn, &[])?;
    send::insert_contacts(conn, &[])?;
    send::find_contacts(conn, &[], 0)?;
    send::find_idempotent_sends(conn, &[])?;
    insert_missing::<IdempotencyRow<'_>>(conn, &[], IdempotencyRow::KEY)?;
    send::delete_stale_idempotency_keys(conn, &[], &[])?;
    usage_rows::subtract_bytes(conn, &[("ak".to_owned(), 0)])
}

#[derive(QueryableByName)]
struct PreparedStatement {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text, column_name = "statement")]
    text: String,
    #[diesel(sql_type = Integer)]
    parameters: i32,
}

fn prepared_statements(conn: &mut PgConnection) -> Vec<PreparedStatement> {
    sql_query(
        "SELECT name, statement, cardinality(parameter_types) AS parameters
         FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared_statements%'",
    )
    .load(conn)
    .unwrap()
}

impl PreparedStatement {
    /// Returns the lines of the plan.
    fn explain(&self, conn: &mut PgConnection) -> Vec<String> {
        let mut explain = format!("EXPLAIN EXECUTE \"{}\"", self.name);
        for parameter in 0..self.parameters {
            write!(explain, "{}NULL", if parameter == 0 { " (" } else { ", " }).unwrap();
        }
        explain.push_str(if self.parameters > 0 { ")" } else { "" });
        sql::<Text>(&explain).load(conn).unwrap()
    }
}
