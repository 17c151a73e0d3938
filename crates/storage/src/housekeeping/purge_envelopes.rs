//! Deletes envelopes after the end of their retention, together with their deliveries.

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::Timestamp;

use crate::{
    connection::{AnyConnection, fault::Fault},
    housekeeping::{
        expired_envelopes::{bounce_expired, first_portion, purge_postgres, purge_sqlite},
        partitions::{self, ENVELOPES, first_id},
        release_envelopes,
    },
    query::statement::Statement,
    rows::columns,
    send::{stored_bytes, usage_rows},
};

/// Deletes up to `limit` envelopes from before `before`, oldest first, and their deliveries. Subtracts their bytes from
/// the stored bytes of the senders. Returns `limit` if more work may be left.
///
/// An expired envelope bounces (its sender gets an event) if all of these hold:
///
/// - It was not opened.
/// - It waits for a webhook, or has a queued delivery.
/// - No other outcome is recorded for it.
///
/// On PostgreSQL, drops whole partitions, after their envelopes have bounced and their bytes are subtracted. Deletes
/// single rows only in partitions that are not dropped as a whole.
pub(crate) fn purge_envelopes(
    conn: &mut AnyConnection,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
    let limit_reached = columns::number(limit, "limit")?;
    let ranges = match conn {
        AnyConnection::Postgres(pg) => {
            let partitions = partitions::list(pg, &ENVELOPES)?;
            if let Some(upper) = partitions::first_ended(&partitions, before) {
                let has_more = release_envelopes::release(conn, upper, now, limit)?
                    || release_envelopes::drop_released(conn, upper)?;
                // Until the drop, no older row is deleted: its bytes are subtracted already.
                return Ok(if has_more { limit_reached } else { 0 });
            }
            partitions::ranges_of_rows(&partitions, before)
        }
        AnyConnection::Sqlite(_) => vec![(None, before)],
    };
    let mut purged = 0;
    for (from, below) in ranges {
        let from = from.map(first_id).unwrap_or_default();
        let left = columns::number(limit_reached - purged, "limit")?;
        purged += purge_rows(conn, (&from, &first_id(below)), now, left)?;
    }
    Ok(purged)
}

/// Deletes up to `limit` envelopes with ids in a range, and returns their number. Deletes fewer envelopes if too many
/// of them bounce. In this case returns `limit`, because more work is left.
fn purge_rows(
    conn: &mut AnyConnection,
    (from, below): (&str, &str),
    now: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
    let portion = first_portion(conn, (from, below), limit)?;
    let purged = match conn {
        AnyConnection::Postgres(pg) => {
            let range = (from, &*portion.below);
            let senders = senders_of(pg, range, limit)?;
            // Locks usage rows before deliveries and envelopes, in the same order as a revocation. Otherwise both
            // transactions could deadlock.
            usage_rows::lock_postgres(pg, senders.iter())?;
            purge_postgres(pg, range, &senders, limit)?
        }
        AnyConnection::Sqlite(conn) => purge_sqlite(conn, &portion.below)?,
    };
    stored_bytes::subtract(conn, &purged.bytes)?;
    bounce_expired(conn, &purged, now)?;
    if portion.is_cut { Ok(columns::number(limit, "limit")?) } else { Ok(purged.count) }
}

/// Returns the senders of the first `limit` envelopes in a range of ids.
fn senders_of(
    conn: &mut PgConnection,
    (from, below): (&str, &str),
    limit: i64,
) -> Result<Vec<String>, Fault> {
    Ok(Statement::<_, Text>::query(
        "SELECT DISTINCT sender FROM (
             SELECT sender FROM envelopes WHERE id >= ? AND id < ? ORDER BY id LIMIT ?
         ) AS portion",
    )
    .bind::<Text, _>(from)
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}
