//! What each key sent and received a day, and how many notices its webhooks took. It is counted after the fact,
//! from the rows themselves and each row once, so that a send has nothing to do with it.

use std::collections::BTreeMap;

use diesel::{prelude::*, upsert::excluded};
use sealpost_domain::{AttemptOutcome, EnvelopeId, Timestamp};

use crate::{
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    schema::{attempts as a, counted, daily_counts as c, envelopes as e, webhooks as w},
};

/// A key and a day.
type Place = (String, i64);

#[derive(Debug, Default)]
struct Count {
    sent: i64,
    received: i64,
    delivered: i64,
}

/// Counts up to `limit` envelopes sent before `before`, and says how many those were.
pub(crate) fn count_envelopes(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from = up_to(conn, ENVELOPES)?;
    let bound = EnvelopeId::new(before, [0; 10]).to_string();
    let rows = e::table
        .filter(e::id.gt(from.unwrap_or_default()))
        .filter(e::id.lt(bound))
        .order(e::id)
        .limit(limit.into())
        .select((e::id, e::sender, e::recipient, e::created_at))
        .load::<(String, String, String, i64)>(conn)?;
    let Some((last, ..)) = rows.last() else { return Ok(0) };
    mark(conn, ENVELOPES, last)?;
    let mut counts = BTreeMap::<Place, Count>::new();
    for (_, sender, recipient, at) in &rows {
        counts.entry((sender.clone(), day_of(*at))).or_default().sent += 1;
        counts.entry((recipient.clone(), day_of(*at))).or_default().received += 1;
    }
    add(conn, &counts)?;
    columns::number(rows.len(), "number of envelopes")
}

/// Counts up to `limit` attempts that ended before `before`, and says how many those were. One whose webhook is
/// gone is nobody's.
pub(crate) fn count_attempts(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from = up_to(conn, ATTEMPTS)?.map(|number| columns::id(&number, "count")).transpose()?;
    let rows = a::table
        .left_join(w::table.on(w::id.eq(a::webhook_id)))
        .filter(a::number.gt(from.unwrap_or(-1)))
        .order(a::number)
        .limit(limit.into())
        .select((a::number, a::at, a::outcome, w::api_key_id.nullable()))
        .load::<(i64, i64, String, Option<String>)>(conn)?;
    // The first that is too young ends it, whatever clock it was written by: none before the mark comes up again.
    let ended: Vec<_> =
        rows.into_iter().take_while(|(_, at, ..)| *at < before.as_millis()).collect();
    let Some((last, ..)) = ended.last() else { return Ok(0) };
    mark(conn, ATTEMPTS, &last.to_string())?;
    let mut counts = BTreeMap::<Place, Count>::new();
    for (_, at, outcome, key) in &ended {
        if let (SUCCEEDED, Some(key)) = (&**outcome, key) {
            counts.entry((key.clone(), day_of(*at))).or_default().delivered += 1;
        }
    }
    add(conn, &counts)?;
    columns::number(ended.len(), "number of attempts")
}

/// Forgets up to `limit` days that began a day before `before`, or earlier.
pub(crate) fn purge(conn: &mut AnyConnection, before: Timestamp, limit: u32) -> Result<u64, Fault> {
    let ended = before.as_millis().saturating_sub(DAY_MS);
    let days = c::table
        .filter(c::day.le(ended))
        .order(c::day)
        .limit(limit.into())
        .select((c::api_key_id, c::day))
        .load::<Place>(conn)?;
    for place in &days {
        diesel::delete(c::table.find((&place.0, place.1))).execute(conn)?;
    }
    columns::number(days.len(), "number of days")
}

fn day_of(at: i64) -> i64 {
    at - at.rem_euclid(DAY_MS)
}

fn up_to(conn: &mut AnyConnection, what: &str) -> Result<Option<String>, Fault> {
    Ok(counted::table.find(what).select(counted::up_to).first(conn).optional()?)
}

fn mark(conn: &mut AnyConnection, what: &str, last: &str) -> Result<(), Fault> {
    let mark = diesel::insert_into(counted::table)
        .values((counted::what.eq(what), counted::up_to.eq(last)));
    on_backend!(conn, c => {
        mark.on_conflict(counted::what).do_update().set(counted::up_to.eq(last)).execute(c)
    })?;
    Ok(())
}

/// In the order of keys and days, and few enough at once for a statement's parameters.
fn add(conn: &mut AnyConnection, counts: &BTreeMap<Place, Count>) -> Result<(), Fault> {
    let rows: Vec<_> = counts
        .iter()
        .map(|((key, day), count)| {
            (
                c::api_key_id.eq(key),
                c::day.eq(day),
                c::sent.eq(count.sent),
                c::received.eq(count.received),
                c::delivered.eq(count.delivered),
            )
        })
        .collect();
    for some in rows.chunks(ROWS_MAX) {
        let insert = diesel::insert_into(c::table).values(some);
        on_backend!(conn, conn => {
            insert
                .on_conflict((c::api_key_id, c::day))
                .do_update()
                .set((
                    c::sent.eq(c::sent + excluded(c::sent)),
                    c::received.eq(c::received + excluded(c::received)),
                    c::delivered.eq(c::delivered + excluded(c::delivered)),
                ))
                .execute(conn)
        })?;
    }
    Ok(())
}

const ATTEMPTS: &str = "attempts";
const ENVELOPES: &str = "envelopes";
const SUCCEEDED: &str = AttemptOutcome::Succeeded.as_str();
const DAY_MS: i64 = 86_400_000;
const ROWS_MAX: usize = 1000;
