//! Deletes events after the end of their retention, and rows of `envelope_outcomes` without an envelope.

use diesel::prelude::*;
use sealpost_domain::{EnvelopeId, OwnEventId, Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    query::any_of::any_of,
    rows::columns,
    schema::{deliveries as d, envelope_outcomes as o, envelopes as e, events as v},
};

impl Transaction {
    /// Deletes up to `limit` events that were created before `before`, oldest first, and their deliveries. Also deletes
    /// up to `limit` outcomes of envelopes that are already deleted. Returns the sum of events and outcomes.
    pub fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let below = OwnEventId::new(before, [0; 10]).to_string();
            let old = v::table.filter(v::id.lt(below)).order(v::id).limit(limit.into());
            let old: Vec<String> = old.select(v::id).load(conn)?;
            if !old.is_empty() {
                let deliveries = d::table.filter(any_of(d::event_id, &old));
                on_backend!(conn, c => diesel::delete(deliveries).execute(c))?;
                let events = v::table.filter(any_of(v::id, &old));
                on_backend!(conn, c => diesel::delete(events).execute(c))?;
            }
            let outcomes = purge_outcomes(conn, before, limit.into())?;
            columns::number(old.len() + outcomes, "number of rows")
        })
    }
}

/// Deletes up to `limit` rows of `envelope_outcomes` whose envelope was sealed before `before` and no longer exists.
/// Returns the number of rows.
///
/// Envelopes are deleted oldest first. Therefore all envelopes with ids below the oldest stored one are already
/// deleted.
fn purge_outcomes(conn: &mut AnyConnection, before: Timestamp, limit: i64) -> Result<usize, Fault> {
    let bound = EnvelopeId::new(before, [0; 10]).to_string();
    let oldest = e::table.order(e::id).select(e::id).first::<String>(conn).optional()?;
    let bound = oldest.map_or(bound.clone(), |oldest| oldest.min(bound));
    let old = o::table.filter(o::envelope_id.lt(bound)).order(o::envelope_id).limit(limit);
    let old: Vec<String> = old.select(o::envelope_id).load(conn)?;
    if !old.is_empty() {
        let outcomes = o::table.filter(any_of(o::envelope_id, &old));
        on_backend!(conn, c => diesel::delete(outcomes).execute(c))?;
    }
    Ok(old.len())
}
