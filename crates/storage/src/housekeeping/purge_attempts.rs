//! Deletes logged attempts after the end of their retention. On PostgreSQL, drops whole partitions.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool},
};
use sealpost_domain::{Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, query_error::QueryError, transaction::Transaction},
    housekeeping::partitions::{self, ATTEMPTS},
    query::statement::Statement,
    queue::delivery_log,
    rows::columns,
    schema::envelopes as e,
};

impl Transaction {
    /// Deletes attempts that ended before `before`, oldest first: whole partitions if possible, and otherwise up to
    /// `limit` attempts. Returns `limit` if more work may be left, and otherwise a lower number.
    ///
    /// Keeps all attempts from the time of the oldest stored envelope on. The successful attempts of stored envelopes
    /// decide which states senders see (receipts), and whether an envelope bounces.
    pub fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let oldest = e::table.order(e::id).select(e::created_at).first(conn).optional()?;
            let before = columns::instant(oldest).map_or(before, |oldest| oldest.min(before));
            let ranges = match conn {
                AnyConnection::Postgres(pg) => {
                    let partitions = partitions::list(pg, &ATTEMPTS)?;
                    if let Some(upper) = partitions::first_ended(&partitions, before)
                        && drop_counted(pg, upper)?
                    {
                        return Ok(limit.into());
                    }
                    partitions::ranges_of_rows(&partitions, before)
                }
                AnyConnection::Sqlite(_) => vec![(None, before)],
            };
            // Finds the attempt number below which attempts can have expired. Without this bound, the search would also
            // read all live attempts. If a wrong clock makes the bound too high, no attempt is deleted too early,
            // because the deletion also checks the time of each attempt.
            let end = delivery_log::first_attempt_at(conn, before)?;
            let mut left = i64::from(limit);
            for (from, below) in ranges {
                // The statement is not kept prepared, so that PostgreSQL plans it for these values.
                let purged = sql_query(DELETE)
                    .bind::<BigInt, _>(from.map_or(i64::MIN, Timestamp::as_millis))
                    .bind::<BigInt, _>(below.as_millis())
                    .bind::<BigInt, _>(end)
                    .bind::<BigInt, _>(left)
                    .execute(conn)?;
                left -= columns::number::<i64, _>(purged, "number of attempts")?;
            }
            columns::number(i64::from(limit) - left, "number of attempts")
        })
    }
}

/// Drops the partitions of attempts before `upper` if all their attempts are counted in the daily counts of their API
/// keys. Returns true if the partitions were dropped.
fn drop_counted(conn: &mut PgConnection, upper: Timestamp) -> Result<bool, QueryError> {
    partitions::drop_up_to(conn, &ATTEMPTS, upper, |pg| {
        let is_counted = Statement::<_, Bool>::query(IS_COUNTED);
        Ok(is_counted.bind::<BigInt, _>(upper.as_millis()).get_result(pg)?)
    })
}

/// Deletes the attempts with the lowest numbers in a range of times. Reads no other attempts, so that the cost does not
/// depend on the size of the table. `$1` to `$4` must first appear in this order, because SQLite numbers parameters by
/// their first use.
const DELETE: &str = "/* purge_attempts.delete */
    DELETE FROM attempts WHERE at >= $1 AND at < $2 AND number <= (
        SELECT max(number) FROM (
            SELECT number FROM attempts WHERE at >= $1 AND at < $2 AND number < $3
            ORDER BY number LIMIT $4
        ) AS portion
    )";

const IS_COUNTED: &str = "/* purge_attempts.is_counted */
    SELECT NOT EXISTS (
        SELECT FROM attempts WHERE at < ? AND number > coalesce(
            (SELECT last_counted::BIGINT FROM daily_count_progress WHERE source = 'attempts'), -1
        )
    )";
