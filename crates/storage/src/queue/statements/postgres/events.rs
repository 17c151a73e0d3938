//! PostgreSQL statements that insert events, their deliveries, and the outcomes of envelopes.

use std::{collections::BTreeSet, sync::LazyLock};

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::Timestamp;

use crate::{
    connection::fault::Fault,
    query::{
        row_types::{self, StoredRow},
        statement::Statement,
    },
    rows::{delivery::DeliveryRow, envelope::WaitingRow, event::EventRow},
};

pub(crate) fn insert_events(
    conn: &mut PgConnection,
    rows: &[EventRow],
) -> Result<Vec<String>, Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        row_types::insert_all::<EventRow>() + " ON CONFLICT (id) DO NOTHING RETURNING id"
    });
    Ok(EventRow::bind_arrays(rows, Statement::<_, Text>::query(&TEXT)).load(conn)?)
}

pub(crate) fn insert_deliveries(
    conn: &mut PgConnection,
    rows: &[DeliveryRow],
) -> Result<(), Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        row_types::insert_all::<DeliveryRow>() + " ON CONFLICT (envelope_id, webhook_id) DO NOTHING"
    });
    DeliveryRow::bind_arrays(rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}

pub(crate) fn insert_outcomes(
    conn: &mut PgConnection,
    envelopes: &BTreeSet<String>,
    outcome: &'static str,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    Ok(Statement::<_, Text>::query(
        "/* events.insert_outcomes */ INSERT INTO envelope_outcomes (envelope_id, outcome, at) SELECT unnest(?), ?, ?
         ON CONFLICT (envelope_id) DO NOTHING RETURNING envelope_id",
    )
    .bind_array::<Text, _>(envelopes.iter())
    .bind::<Text, _>(outcome)
    .bind::<BigInt, _>(now.as_millis())
    .load(conn)?)
}

pub(crate) fn insert_waiting(conn: &mut PgConnection, rows: &[WaitingRow]) -> Result<(), Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        row_types::insert_all::<WaitingRow>() + " ON CONFLICT (envelope_id) DO NOTHING"
    });
    WaitingRow::bind_arrays(rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}
