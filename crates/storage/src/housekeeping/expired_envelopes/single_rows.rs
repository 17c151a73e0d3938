//! Deletes expired envelopes one by one. Used for all envelopes on SQLite, and on PostgreSQL for the envelopes of
//! partitions that are not dropped as a whole.

use std::{collections::BTreeSet, sync::LazyLock};

use diesel::{
    PgConnection, SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::Timestamp;

use super::{BOUNCED_MAX, DELETE_QUEUED, EndedEnvelopes, EndedRow, IS_UNDELIVERED, bounce};
use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::{any_of::any_of, statement::Statement},
    rows::columns,
    schema::{deliveries as d, envelopes as e, waiting_envelopes as w},
    send::usage_rows,
};

/// Deletes up to `limit` envelopes with ids in a range, and returns their number. If too many of these envelopes would
/// bounce, deletes fewer, but returns `limit`, because more work is left.
pub(super) fn purge(
    conn: &mut AnyConnection,
    (from, below): (&str, &str),
    now: Timestamp,
    limit: i64,
) -> Result<usize, QueryError> {
    let portion = first_portion(conn, (from, below), limit)?;
    let purged = match conn {
        AnyConnection::Postgres(pg) => {
            let range = (from, &*portion.below);
            let senders = senders_of(pg, range, limit)?;
            // Locks the usage rows of the senders (their counters, which are also the locks of their keys) before
            // deliveries and envelopes. A revocation locks in the same order, so that the two transactions cannot
            // deadlock.
            usage_rows::lock_postgres(pg, senders.iter())?;
            purge_postgres(pg, range, &senders, limit)?
        }
        AnyConnection::Sqlite(conn) => purge_sqlite(conn, &portion.below)?,
    };
    usage_rows::subtract_bytes(conn, &purged.bytes)?;
    bounce(conn, &purged, now)?;
    if portion.is_cut { Ok(columns::number(limit, "limit")?) } else { Ok(purged.count) }
}

/// Returns the senders of the first `limit` envelopes in a range of ids.
fn senders_of(
    conn: &mut PgConnection,
    (from, below): (&str, &str),
    limit: i64,
) -> Result<Vec<String>, QueryError> {
    Ok(Statement::<_, Text>::query(
        "/* single_rows.senders */ SELECT DISTINCT sender FROM (
             SELECT sender FROM envelopes WHERE id >= ? AND id < ? ORDER BY id LIMIT ?
         ) AS portion",
    )
    .bind::<Text, _>(from)
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

/// The expired envelopes that one transaction deletes.
struct ExpiredPortion {
    /// Upper bound of the portion: all its envelopes have ids below this text.
    below: String,
    /// True if the portion was cut short, because too many envelopes would bounce.
    is_cut: bool,
}

/// Selects the first envelopes in a range of ids: at most `limit`, and at most about [`BOUNCED_MAX`] with rows in
/// `deliveries` or `waiting_envelopes`. Selects at least one envelope if the range has any.
fn first_portion(
    conn: &mut AnyConnection,
    (from, below): (&str, &str),
    limit: i64,
) -> Result<ExpiredPortion, QueryError> {
    let old = e::table.filter(e::id.ge(from)).filter(e::id.lt(below)).order(e::id).select(e::id);
    let first = old.first::<String>(conn).optional()?;
    let Some(first) = first else {
        return Ok(ExpiredPortion { below: below.to_owned(), is_cut: false });
    };
    let next = old.offset(limit).first::<String>(conn).optional()?;
    let below = next.unwrap_or_else(|| below.to_owned());
    let delivery = d::table
        .filter(d::event_id.gt(&first))
        .filter(d::event_id.lt(&below))
        .order(d::event_id)
        .offset(BOUNCED_MAX)
        .select(d::event_id);
    let waiting = w::table
        .filter(w::envelope_id.gt(&first))
        .filter(w::envelope_id.lt(&below))
        .order(w::envelope_id)
        .offset(BOUNCED_MAX)
        .select(w::envelope_id);
    let delivery = delivery.first::<String>(conn).optional()?;
    let waiting = waiting.first::<String>(conn).optional()?;
    Ok(match [delivery, waiting].into_iter().flatten().min() {
        Some(below) => ExpiredPortion { below, is_cut: true },
        None => ExpiredPortion { below, is_cut: false },
    })
}

/// Deletes up to `limit` envelopes in a range of ids, but only envelopes of `locked_senders`. The caller has locked the
/// usage rows (counters) of these senders.
///
/// Skips an envelope if another transaction has locked the envelope (for example, its recipient opens it) or one of its
/// deliveries. So the statement never waits for a lock, and cannot deadlock with transactions that lock deliveries
/// before envelopes.
///
/// An unopened envelope counts as undelivered only if this statement itself deletes one of its deliveries or its row in
/// `waiting_envelopes`. If there is nothing to delete, another transaction may have removed the delivery after a
/// success.
fn purge_postgres(
    conn: &mut PgConnection,
    (from, below): (&str, &str),
    locked_senders: &[String],
    limit: i64,
) -> Result<EndedEnvelopes, QueryError> {
    // Uses arrays instead of joins, because PostgreSQL may execute a join by scanning whole tables.
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "/* single_rows.purge */ WITH old AS MATERIALIZED (
                 SELECT id FROM envelopes
                 WHERE id >= ? AND id < ? AND sender = ANY (?) ORDER BY id LIMIT ?
             ), {DELETE_QUEUED}
             DELETE FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM free))
             RETURNING id, sender, recipient, {IS_UNDELIVERED}, octet_length(sealed)::BIGINT"
        )
    });
    let rows = Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(from)
        .bind::<Text, _>(below)
        .bind_array::<Text, _>(locked_senders.iter())
        .bind::<BigInt, _>(limit)
        .load::<EndedRow>(conn)?;
    Ok(rows.into())
}

/// Deletes the envelopes with ids below `below`, with their rows in `deliveries` and `waiting_envelopes`. Deletes by a
/// range of ids, because one range costs much less than a list of ids.
fn purge_sqlite(conn: &mut SqliteConnection, below: &str) -> Result<EndedEnvelopes, QueryError> {
    let mut queued: BTreeSet<String> = d::table
        .filter(d::event_id.lt(below))
        .select(d::event_id)
        .load(conn)?
        .into_iter()
        .collect();
    let waiting = w::table.filter(w::envelope_id.lt(below)).select(w::envelope_id);
    queued.extend(waiting.load::<String>(conn)?);
    let undelivered = e::table.filter(any_of(e::id, &queued)).filter(e::opened_at.is_null());
    let undelivered =
        undelivered.order(e::id).select((e::id, e::sender, e::recipient)).load(conn)?;
    let bytes = e::table.filter(e::id.lt(below)).group_by(e::sender);
    let bytes = bytes.select((e::sender, sql::<BigInt>("sum(length(sealed))"))).load(conn)?;
    diesel::delete(w::table.filter(w::envelope_id.lt(below))).execute(conn)?;
    diesel::delete(d::table.filter(d::event_id.lt(below))).execute(conn)?;
    let count = diesel::delete(e::table.filter(e::id.lt(below))).execute(conn)?;
    Ok(EndedEnvelopes { count, undelivered, bytes })
}
