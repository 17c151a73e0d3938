//! Releases the envelopes of expired partitions on PostgreSQL, and then drops the partitions.
//!
//! To release an envelope means two things, which are done in portions before the drop:
//!
//! - If the envelope is unopened, and still waits for a webhook or has deliveries, it bounces: its sender gets an
//!   event.
//! - The bytes of the envelope are subtracted from the stored bytes of its sender.
//!
//! The first step closes the partitions. An envelope that is stored later, by a node with a clock far behind, may be
//! below the portions that are already released. A trigger records each such envelope in `late_envelopes`. Portions
//! leave out its bytes, and a last step subtracts them.

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::Timestamp;

use crate::{
    connection::{AnyConnection, fault::Fault},
    housekeeping::{
        expired_envelopes::{BOUNCED_MAX, bounce_expired, end_deliveries},
        partitions::{self, Closing, ENVELOPES, first_id},
    },
    query::statement::Statement,
    schema::partitions as p,
    send::stored_bytes,
};

/// Does the next step of releasing the envelopes before `upper`, for at most `limit` envelopes. To release an envelope
/// means two things: it bounces if it is unopened and undelivered, and its bytes are subtracted from the stored bytes
/// of its sender. Returns `false` if no step is left, or if a lock is not free.
pub(crate) fn release(
    conn: &mut AnyConnection,
    upper: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<bool, Fault> {
    let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
    let below = first_id(upper);
    match partitions::close_up_to(pg, upper)? {
        Closing::Done => {}
        // The locks and timeouts of closing must not last while envelopes are released.
        Closing::Now => return Ok(true),
        Closing::Postponed => return Ok(false),
    }
    // The bytes come first, in transactions of their own. A revocation locks usage rows before deliveries, so the other
    // order could cause a deadlock.
    let bytes = match next_bytes(pg, upper, &below, limit)? {
        Some(bytes) => Some(bytes),
        None => late_bytes(pg, upper, &below, limit)?,
    };
    if let Some(bytes) = bytes {
        stored_bytes::subtract(conn, &bytes)?;
        return Ok(true);
    }
    let ended = end_deliveries(pg, &below, limit.min(BOUNCED_MAX))?;
    if ended.count > 0 {
        bounce_expired(conn, &ended, now)?;
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
) -> Result<Option<Vec<(String, i64)>>, Fault> {
    let after = released_to(conn, upper)?;
    let portion = bytes_of_portion(conn, &after, below, limit)?;
    let Some(last) = portion.iter().map(|(_, _, last)| last).max() else { return Ok(None) };
    let of_upper = p::parent.eq(ENVELOPES.name).and(p::upper_bound.eq(upper.as_millis()));
    diesel::update(p::table.filter(of_upper)).set(p::released_to.eq(last)).execute(conn)?;
    Ok(Some(portion.into_iter().map(|(sender, bytes, _)| (sender, bytes)).collect()))
}

fn released_to(conn: &mut PgConnection, upper: Timestamp) -> Result<String, Fault> {
    let of_upper = p::parent.eq(ENVELOPES.name).and(p::upper_bound.eq(upper.as_millis()));
    Ok(p::table.filter(of_upper).select(p::released_to).first::<String>(conn)?)
}

/// Deletes the records of up to `limit` late envelopes, which were stored after their partition was closed. Returns the
/// bytes of each sender. Returns `None` if no record is left.
///
/// Considers only envelopes with ids in the range that is already released. The bytes of the others would be subtracted
/// twice.
fn late_bytes(
    conn: &mut PgConnection,
    upper: Timestamp,
    below: &str,
    limit: i64,
) -> Result<Option<Vec<(String, i64)>>, Fault> {
    let released_to = released_to(conn, upper)?;
    let bytes = Statement::<_, (Text, BigInt)>::query(
        "WITH deleted AS (
             DELETE FROM late_envelopes WHERE envelope_id IN (
                 SELECT envelope_id FROM late_envelopes
                 WHERE envelope_id < ? AND envelope_id <= ? ORDER BY envelope_id LIMIT ?
             ) RETURNING sender, sealed_bytes
         )
         SELECT sender, sum(sealed_bytes)::BIGINT FROM deleted GROUP BY sender",
    )
    .bind::<Text, _>(below)
    .bind::<Text, _>(released_to)
    .bind::<BigInt, _>(limit)
    .load::<(String, i64)>(conn)?;
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}

/// Drops the partitions of envelopes before `upper` if all their envelopes are in the daily counts and released
/// (bounced if necessary, and subtracted from the stored bytes of their senders). Returns true if the partitions were
/// dropped.
pub(crate) fn drop_released(conn: &mut AnyConnection, upper: Timestamp) -> Result<bool, Fault> {
    let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
    partitions::drop_up_to(pg, &ENVELOPES, upper, |pg| {
        let below = first_id(upper);
        Ok(Statement::<_, Bool>::query(IS_RELEASED)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(&below)
            .bind::<Text, _>(ENVELOPES.name)
            .bind::<BigInt, _>(upper.as_millis())
            .get_result(pg)?)
    })
}

/// Deletes up to `limit` deliveries of envelopes that no longer exist. A delivery can be stored if a client requests
/// another delivery of an envelope while the partition of this envelope is dropped.
fn delete_orphans(conn: &mut PgConnection, below: &str, limit: i64) -> Result<usize, Fault> {
    Ok(Statement::command(
        "DELETE FROM deliveries WHERE ctid = ANY (ARRAY(
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

/// Reads the next `limit` envelopes. For each sender among these envelopes, returns the sender, the total size of its
/// sealed envelopes, and the highest of their ids. The size leaves out late envelopes, which were stored after their
/// partition was closed.
fn bytes_of_portion(
    conn: &mut PgConnection,
    after: &str,
    below: &str,
    limit: i64,
) -> Result<Vec<(String, i64, String)>, Fault> {
    Ok(Statement::<_, (Text, BigInt, Text)>::query(
        "SELECT sender, sum(
             CASE WHEN EXISTS (SELECT FROM late_envelopes AS l WHERE l.envelope_id = portion.id)
             THEN 0 ELSE octet_length(sealed) END
         )::BIGINT, max(id) FROM (
             SELECT id, sender, sealed FROM envelopes
             WHERE id > ? AND id < ? ORDER BY id LIMIT ?
         ) AS portion
         GROUP BY sender",
    )
    .bind::<Text, _>(after)
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

/// Returns true if these conditions hold for all envelopes below an id:
///
/// - They have no deliveries, and do not wait for a webhook.
/// - Their bytes are subtracted from the stored bytes of their senders, also those of late envelopes.
/// - They are in the daily counts.
const IS_RELEASED: &str = "
    SELECT NOT EXISTS (
        SELECT FROM deliveries AS d JOIN envelopes AS e ON e.id = d.envelope_id
        WHERE d.envelope_id < ?
    ) AND NOT EXISTS (
        SELECT FROM waiting_envelopes AS w JOIN envelopes AS e ON e.id = w.envelope_id
        WHERE w.envelope_id < ?
    ) AND NOT EXISTS (
        SELECT FROM late_envelopes WHERE envelope_id < ?
    ) AND NOT EXISTS (
        SELECT FROM envelopes WHERE id < ? AND id > least(
            (SELECT released_to FROM partitions WHERE parent = ? AND upper_bound = ?),
            coalesce((SELECT last_counted FROM daily_count_progress WHERE source = 'envelopes'), '')
        )
    )";
