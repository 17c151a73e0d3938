//! Releases the envelopes of expired partitions on PostgreSQL, and then drops the partitions. A partition contains the
//! envelopes of a period of time. To release an envelope means two things:
//!
//! - If the envelope is unopened and undelivered, it bounces: its sender gets an event.
//! - The bytes of the envelope are subtracted from the stored bytes of its sender.
//!
//! The work is done in portions, in the order of envelope ids, which is the order of time. If the clock of a node is
//! behind by the length of a partition, the node may store an envelope in a range that is already processed. The bytes
//! of this envelope are not subtracted.

use std::sync::LazyLock;

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::Timestamp;

use super::{BOUNCED_MAX, DELETE_QUEUED, EndedEnvelopes, EndedRow, IS_UNDELIVERED, bounce};
use crate::{
    connection::{AnyConnection, query_error::QueryError},
    housekeeping::partitions::{self, ENVELOPES, first_id},
    query::statement::Statement,
    schema::partitions as p,
    send::usage_rows,
};

/// Releases the next envelopes before `upper`, at most `limit`. Each call performs the first of these steps that has
/// work left. Returns `false` if no step has.
///
/// 1. Subtracts the bytes of envelopes from the stored bytes of their senders.
/// 2. Deletes deliveries. Unopened and undelivered envelopes bounce: their senders get an event.
/// 3. Deletes deliveries of envelopes that no longer exist.
pub(super) fn release(
    conn: &mut AnyConnection,
    upper: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<bool, QueryError> {
    let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
    let below = first_id(upper);
    // Subtracts the bytes first, in separate transactions. A revocation locks the usage rows of a key (its counters)
    // before deliveries. A transaction that locks these rows in the reverse order could cause a deadlock.
    if let Some(bytes) = next_bytes(pg, upper, &below, limit)? {
        usage_rows::subtract_bytes(conn, &bytes)?;
        return Ok(true);
    }
    let ended = end_deliveries(pg, &below, limit.min(BOUNCED_MAX))?;
    if ended.count > 0 {
        bounce(conn, &ended, now)?;
        return Ok(true);
    }
    Ok(delete_orphans(pg, &below, limit)? > 0)
}

/// Selects the next `limit` envelopes before `upper`, and records that their bytes are subtracted. Returns the bytes to
/// subtract for each sender. Returns `None` if no such envelope is left.
fn next_bytes(
    conn: &mut PgConnection,
    upper: Timestamp,
    below: &str,
    limit: i64,
) -> Result<Option<Vec<(String, i64)>>, QueryError> {
    let of_upper = p::parent.eq(ENVELOPES.name).and(p::upper_bound.eq(upper.as_millis()));
    let partition = p::table.filter(of_upper);
    let after: String = partition.select(p::released_to).first(conn)?;
    let portion: Vec<(String, i64, String)> = Statement::<_, (Text, BigInt, Text)>::query(
        "/* whole_partitions.next_bytes */ SELECT sender, sum(octet_length(sealed))::BIGINT, max(id) FROM (
             SELECT id, sender, sealed FROM envelopes
             WHERE id > ? AND id < ? ORDER BY id LIMIT ?
         ) AS portion
         GROUP BY sender",
    )
    .bind::<Text, _>(&after)
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .load(conn)?;
    let Some(last) = portion.iter().map(|(_, _, last)| last).max() else { return Ok(None) };
    diesel::update(partition).set(p::released_to.eq(last)).execute(conn)?;
    Ok(Some(portion.into_iter().map(|(sender, bytes, _)| (sender, bytes)).collect()))
}

/// Deletes the rows in `deliveries` and `waiting_envelopes` that belong to envelopes with ids below `below`, but not
/// the envelopes. One call takes the envelopes of the first `limit` such rows of each table, and deletes all their
/// rows.
pub(crate) fn end_deliveries(
    conn: &mut PgConnection,
    below: &str,
    limit: i64,
) -> Result<EndedEnvelopes, QueryError> {
    // `free` reads each row again after its lock. Without the lock, an envelope that is opened at the same time would
    // still count as unopened.
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "/* whole_partitions.end_deliveries */ WITH old AS MATERIALIZED (
                 (SELECT envelope_id AS id FROM deliveries
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
                 UNION
                 (SELECT envelope_id FROM waiting_envelopes
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
             ), {DELETE_QUEUED}
             SELECT id, sender, recipient, {IS_UNDELIVERED}, sealed_bytes FROM free"
        )
    });
    let rows = Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .load::<EndedRow>(conn)?;
    Ok(rows.into())
}

/// Drops the partitions of envelopes before `upper`, if all their envelopes are counted in the daily counts of their
/// API keys, and [released](release). Returns true if the partitions were dropped.
pub(super) fn drop_released(
    conn: &mut AnyConnection,
    upper: Timestamp,
) -> Result<bool, QueryError> {
    let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
    partitions::drop_up_to(pg, &ENVELOPES, upper, |pg| {
        let below = first_id(upper);
        Ok(Statement::<_, Bool>::query(IS_RELEASED)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(ENVELOPES.name)
            .bind::<BigInt, _>(upper.as_millis())
            .get_result(pg)?)
    })
}

/// Deletes up to `limit` deliveries of envelopes that no longer exist, and returns their number. Such a delivery is
/// stored if a client requests another delivery of an envelope while the partition of this envelope is dropped.
fn delete_orphans(conn: &mut PgConnection, below: &str, limit: i64) -> Result<usize, QueryError> {
    Ok(Statement::command(
        "/* whole_partitions.delete_orphans */ DELETE FROM deliveries WHERE ctid = ANY (ARRAY(
             SELECT d.ctid FROM deliveries AS d
             WHERE d.envelope_id < ?
                 AND NOT EXISTS (
                     SELECT FROM envelopes AS e WHERE e.id = ANY (ARRAY[d.envelope_id])
                 )
             ORDER BY d.envelope_id LIMIT ? FOR UPDATE SKIP LOCKED
         ))",
    )
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .execute(conn)?)
}

/// Returns true if these conditions hold for all envelopes below an id:
///
/// - They have no deliveries, and do not wait for a webhook.
/// - Their bytes are subtracted from the stored bytes of their senders.
/// - They are counted in the daily counts of their API keys.
const IS_RELEASED: &str = "/* whole_partitions.is_released */
    SELECT NOT EXISTS (
        SELECT FROM deliveries AS d JOIN envelopes AS e ON e.id = d.envelope_id
        WHERE d.envelope_id < ?
    ) AND NOT EXISTS (
        SELECT FROM waiting_envelopes AS w JOIN envelopes AS e ON e.id = w.envelope_id
        WHERE w.envelope_id < ?
    ) AND NOT EXISTS (
        SELECT FROM envelopes WHERE id < ? AND id > least(
            (SELECT released_to FROM partitions WHERE parent = ? AND upper_bound = ?),
            coalesce((SELECT last_counted FROM daily_count_progress WHERE source = 'envelopes'), '')
        )
    )";
