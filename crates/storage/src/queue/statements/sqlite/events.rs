//! SQLite statements that insert events, their deliveries, and the outcomes of envelopes.

use std::collections::BTreeSet;

use diesel::{SqliteConnection, prelude::*};
use sealpost_domain::Timestamp;

use crate::{
    connection::fault::Fault,
    rows::{delivery::DeliveryRow, envelope::WaitingRow, event::EventRow},
    schema::{deliveries, envelope_outcomes as o, events, waiting_envelopes},
};

pub(crate) fn insert_events(
    conn: &mut SqliteConnection,
    rows: &[EventRow],
) -> Result<Vec<String>, Fault> {
    let mut inserted = Vec::with_capacity(rows.len());
    for row in rows {
        let insert = diesel::insert_into(events::table).values(row).on_conflict_do_nothing();
        if insert.execute(conn)? == 1 {
            inserted.push(row.id.clone());
        }
    }
    Ok(inserted)
}

pub(crate) fn insert_deliveries(
    conn: &mut SqliteConnection,
    rows: &[DeliveryRow],
) -> Result<(), Fault> {
    for row in rows {
        let insert = diesel::insert_into(deliveries::table).values(row);
        insert.on_conflict_do_nothing().execute(conn)?;
    }
    Ok(())
}

pub(crate) fn insert_outcomes(
    conn: &mut SqliteConnection,
    envelopes: &BTreeSet<String>,
    outcome: &'static str,
    now: Timestamp,
) -> Result<Vec<String>, Fault> {
    let mut inserted = Vec::new();
    for id in envelopes {
        let row = (o::envelope_id.eq(id), o::outcome.eq(outcome), o::at.eq(now.as_millis()));
        let insert = diesel::insert_into(o::table).values(row).on_conflict_do_nothing();
        if insert.execute(conn)? == 1 {
            inserted.push(id.clone());
        }
    }
    Ok(inserted)
}

pub(crate) fn insert_waiting(
    conn: &mut SqliteConnection,
    rows: &[WaitingRow],
) -> Result<(), Fault> {
    for row in rows {
        let insert = diesel::insert_into(waiting_envelopes::table).values(row);
        insert.on_conflict_do_nothing().execute(conn)?;
    }
    Ok(())
}
