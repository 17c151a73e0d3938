//! Daily counts of each API key: envelopes sent and received, and successful deliveries.
//!
//! Housekeeping counts each row once, some time after the row was written, so that sends need no counting.

use std::collections::BTreeMap;

use diesel::{prelude::*, upsert::excluded};
use sealpost_domain::{AttemptOutcome, EnvelopeId, Timestamp};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend},
    rows::columns,
    schema::{
        attempts as a, daily_count_progress as p, daily_counts as c, envelopes as e, webhooks as w,
    },
};

/// An API key, and the start of a UTC day in milliseconds.
type KeyDay = (String, i64);

#[derive(Debug, Default)]
struct Count {
    sent: i64,
    received: i64,
    delivered: i64,
}

/// Adds up to `limit` envelopes sent before `before` to the daily counts, and returns how many were counted. Continues
/// after the last counted envelope.
pub(crate) fn count_envelopes(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from = last_counted(conn, ENVELOPES)?;
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
    let mut counts = BTreeMap::<KeyDay, Count>::new();
    for (_, sender, recipient, at) in &rows {
        counts.entry((sender.clone(), day_of(*at))).or_default().sent += 1;
        counts.entry((recipient.clone(), day_of(*at))).or_default().received += 1;
    }
    add(conn, &counts)?;
    columns::number(rows.len(), "number of envelopes")
}

/// Adds up to `limit` attempts that ended before `before` to the daily counts, and returns how many were counted.
/// Attempts for deleted webhooks are not added to any key.
pub(crate) fn count_attempts(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from =
        last_counted(conn, ATTEMPTS)?.map(|number| columns::id(&number, "count")).transpose()?;
    let rows = a::table
        .left_join(w::table.on(w::id.eq(a::webhook_id)))
        .filter(a::number.gt(from.unwrap_or(-1)))
        .order(a::number)
        .limit(limit.into())
        .select((a::number, a::at, a::outcome, w::api_key_id.nullable()))
        .load::<(i64, i64, String, Option<String>)>(conn)?;
    // Counting stops at the first attempt that is too recent, because attempts below the stored number of the last
    // counted attempt are never read again.
    let ended: Vec<_> =
        rows.into_iter().take_while(|(_, at, ..)| *at < before.as_millis()).collect();
    let Some((last, ..)) = ended.last() else { return Ok(0) };
    mark(conn, ATTEMPTS, &last.to_string())?;
    let mut counts = BTreeMap::<KeyDay, Count>::new();
    for (_, at, outcome, key) in &ended {
        if let (SUCCEEDED, Some(key)) = (&**outcome, key) {
            counts.entry((key.clone(), day_of(*at))).or_default().delivered += 1;
        }
    }
    add(conn, &counts)?;
    columns::number(ended.len(), "number of attempts")
}

/// Deletes up to `limit` daily counts of days that ended before `before`.
pub(crate) fn purge(conn: &mut AnyConnection, before: Timestamp, limit: u32) -> Result<u64, Fault> {
    let ended = before.as_millis().saturating_sub(DAY_MS);
    let days = c::table
        .filter(c::day.le(ended))
        .order(c::day)
        .limit(limit.into())
        .select((c::api_key_id, c::day))
        .load::<KeyDay>(conn)?;
    for (key, day) in &days {
        diesel::delete(c::table.find((key, *day))).execute(conn)?;
    }
    columns::number(days.len(), "number of days")
}

fn day_of(at: i64) -> i64 {
    at - at.rem_euclid(DAY_MS)
}

fn last_counted(conn: &mut AnyConnection, source: &str) -> Result<Option<String>, Fault> {
    Ok(p::table.find(source).select(p::last_counted).first(conn).optional()?)
}

fn mark(conn: &mut AnyConnection, source: &str, last: &str) -> Result<(), Fault> {
    let mark =
        diesel::insert_into(p::table).values((p::source.eq(source), p::last_counted.eq(last)));
    on_backend!(conn, c => {
        mark.on_conflict(p::source).do_update().set(p::last_counted.eq(last)).execute(c)
    })?;
    Ok(())
}

/// Adds counts to the stored counts, in the order of keys and days. Uses several statements if necessary, because the
/// number of parameters of a statement is limited.
fn add(conn: &mut AnyConnection, counts: &BTreeMap<KeyDay, Count>) -> Result<(), Fault> {
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
    for portion in rows.chunks(ROWS_MAX) {
        let insert = diesel::insert_into(c::table).values(portion);
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
