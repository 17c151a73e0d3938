//! Plans of the statements that a PostgreSQL connection keeps prepared.

use std::{collections::BTreeSet, fmt::Write as _};

use diesel::{
    PgConnection,
    prelude::*,
    sql_query,
    sql_types::{Integer, Text},
};
use sealpost_domain::LeaseToken;

use crate::{
    DatabaseUrl, Settings,
    connection::{
        AnyConnection,
        connect::{Target, connect},
        fault::Fault,
    },
    queue::{claim_cursor::ClaimCursor, claims, relays, statements as queue},
    send::{
        statements::{self as send, BatchRows},
        stored_bytes,
    },
    tests::fixture::{Fixture, at, claim_of, postgres},
};

/// PostgreSQL keeps a plan from a time when the tables were empty, for example because an autovacuum saw an idle
/// delivery queue. With many rows, a scan of a whole index in such a plan would stop all deliveries.
#[test]
fn statements_look_up_rows_although_their_tables_were_empty() {
    let db = postgres();
    let mut conn = connection(&db);
    prepare_queue_statements(&mut conn).unwrap();
    prepare_send_statements(&mut conn).unwrap();
    let AnyConnection::Postgres(pg) = &mut conn else { unreachable!() };
    let prepared = prepared_statements(pg);
    assert!(prepared.len() >= 20, "{}", prepared.len());
    for statement in prepared {
        let plan = statement.explain(pg);
        for (scan, next) in plan.iter().zip(plan.iter().skip(1)) {
            let has_condition = next.trim_start().starts_with("Index Cond");
            assert!(!is_scan(scan) || has_condition, "{}\n{}", statement.text, plan.join("\n"));
        }
        assert!(!plan.last().is_some_and(|line| is_scan(line)), "{}", plan.join("\n"));
    }
}

/// Opens a connection with the settings of the service.
fn connection(db: &Fixture) -> AnyConnection {
    let DatabaseUrl::Postgres(url) = &db.url else { unreachable!() };
    connect(&Target::Postgres(url.clone()), &Settings::default()).unwrap()
}

fn prepare_queue_statements(conn: &mut AnyConnection) -> Result<(), Fault> {
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

fn prepare_send_statements(conn: &mut AnyConnection) -> Result<(), Fault> {
    let (envelopes, deliveries) = (Vec::new(), Vec::new());
    let rows = BatchRows {
        envelopes,
        deliveries,
        usage: Vec::new(),
        added_bytes: Vec::new(),
        leaves: &[],
    };
    send::store_batch(conn, &rows)?;
    send::add_overages(conn, &[])?;
    send::insert_contacts(conn, &[])?;
    send::find_contacts(conn, &[], 0)?;
    send::find_idempotent_sends(conn, &[])?;
    send::insert_idempotency_keys(conn, &[])?;
    send::delete_stale_idempotency_keys(conn, &[], &[])?;
    stored_bytes::subtract(conn, &[("ak".to_owned(), 0)])
}

fn is_scan(line: &str) -> bool {
    ["Seq Scan on ", "Index Scan using ", "Index Only Scan using "]
        .iter()
        .any(|scan| line.contains(scan))
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
        let lines: Vec<PlanLine> = sql_query(explain).load(conn).unwrap();
        lines.into_iter().map(|line| line.text).collect()
    }
}

#[derive(QueryableByName)]
struct PlanLine {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    text: String,
}
