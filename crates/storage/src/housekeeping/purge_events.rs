//! Deletes events after the end of their retention, and rows of `envelope_outcomes` without an envelope.

use diesel::prelude::*;
use sealpost_domain::{EnvelopeId, OwnEventId, Timestamp};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend},
    query::any_of::any_of,
    schema::{deliveries as d, envelope_outcomes as o, envelopes as e, events as v},
};

/// Deletes up to `limit` events created before `before`, oldest first, and their deliveries. Returns the number of
/// events.
pub(crate) fn purge_events(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
    let below = OwnEventId::new(before, [0; 10]).to_string();
    let old = v::table.filter(v::id.lt(below)).order(v::id).limit(limit).select(v::id);
    let old: Vec<String> = old.load(conn)?;
    if !old.is_empty() {
        let deliveries = d::table.filter(any_of(d::event_id, &old));
        on_backend!(conn, c => diesel::delete(deliveries).execute(c))?;
        let events = v::table.filter(any_of(v::id, &old));
        on_backend!(conn, c => diesel::delete(events).execute(c))?;
    }
    Ok(old.len())
}

/// Deletes up to `limit` rows of `envelope_outcomes` whose envelope was sealed before `before` and no longer exists.
/// Returns the number of rows.
///
/// Envelopes are deleted oldest first. Therefore all envelopes with ids below the oldest stored one are already
/// deleted.
pub(crate) fn purge_outcomes(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
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
