//! What a batch of sends reads and writes.

use diesel::{
    PgConnection,
    pg::Pg,
    prelude::*,
    sql_types::{Array, BigInt, Binary, Integer, Nullable, SmallInt, Text},
};

use super::{BigInts, MetaColumns, Texts, column};
use crate::{
    batch::{
        ChannelRow, OverageRow, RecalledRow, RememberedId, RememberedRow, SentRows,
        statement::Statement,
    },
    fault::Fault,
    usage::UsageRow,
};

macro_rules! set_usage {
    () => {
        "UPDATE usage SET minute_start = n.minute_start, minute_used = n.minute_used,
             day_start = n.day_start, day_used = n.day_used,
             month_start = n.month_start, month_used = n.month_used,
             throughput_tat_us = n.throughput_tat_us
         FROM (
             SELECT unnest(?) AS api_key_id, unnest(?) AS minute_start, unnest(?) AS minute_used,
                 unnest(?) AS day_start, unnest(?) AS day_used, unnest(?) AS month_start,
                 unnest(?) AS month_used, unnest(?) AS throughput_tat_us
         ) AS n
         WHERE usage.api_key_id = n.api_key_id"
    };
}

pub(in crate::batch) fn lock_usage_and_facts(
    conn: &mut PgConnection,
    callers: &[String],
) -> Result<(Vec<UsageRow>, String), Fault> {
    let mut rows: Vec<(String, UsageRow)> =
        Statement::<_, (Text, UsageColumns)>::query("SELECT * FROM lock_usage_and_facts(?)")
            .bind::<Texts, _>(callers)
            .load(conn)?;
    let last = rows.pop().filter(|(stamp, _)| !stamp.is_empty());
    let (stamp, _) = last.ok_or(Fault::Corrupt("stamp of the facts"))?;
    Ok((rows.into_iter().map(|(_, usage)| usage).collect(), stamp))
}

/// All in one statement.
pub(in crate::batch) fn store(conn: &mut PgConnection, rows: &SentRows<'_>) -> Result<(), Fault> {
    let SentRows { envelopes, deliveries, usage } = rows;
    if envelopes.is_empty() && deliveries.is_empty() {
        return count(Statement::command(set_usage!()), usage, conn);
    }
    let statement = Statement::command(STORE)
        .bind::<Texts, _>(column(envelopes, |row| &*row.id))
        .bind::<Texts, _>(column(envelopes, |row| &*row.sender))
        .bind::<Texts, _>(column(envelopes, |row| &*row.recipient))
        .bind::<Array<SmallInt>, _>(column(envelopes, |row| row.suite))
        .bind::<Array<Binary>, _>(column(envelopes, |row| row.hash))
        .bind::<Array<Binary>, _>(column(envelopes, |row| row.signature))
        .bind::<Array<Binary>, _>(column(envelopes, |row| row.sealed))
        .bind::<BigInts, _>(column(envelopes, |row| row.payload_size_bytes))
        .bind::<BigInts, _>(column(envelopes, |row| row.created_at))
        .bind::<Texts, _>(column(deliveries, |row| &*row.envelope_id))
        .bind::<Texts, _>(column(deliveries, |row| &*row.webhook_id))
        .bind::<Array<Integer>, _>(column(deliveries, |row| row.attempts))
        .bind::<BigInts, _>(column(deliveries, |row| row.due_at))
        .bind::<Array<Nullable<BigInt>>, _>(column(deliveries, |row| row.lease));
    count(statement, usage, conn)
}

/// Runs a statement that ends with what sets usage.
fn count<'a>(
    statement: Statement<'a, Pg, ()>,
    usage: &'a [UsageRow],
    conn: &mut PgConnection,
) -> Result<(), Fault> {
    let updated = statement
        .bind::<Texts, _>(column(usage, |row| &*row.api_key_id))
        .bind::<BigInts, _>(column(usage, |row| row.minute_start))
        .bind::<BigInts, _>(column(usage, |row| row.minute_used))
        .bind::<BigInts, _>(column(usage, |row| row.day_start))
        .bind::<BigInts, _>(column(usage, |row| row.day_used))
        .bind::<BigInts, _>(column(usage, |row| row.month_start))
        .bind::<BigInts, _>(column(usage, |row| row.month_used))
        .bind::<BigInts, _>(column(usage, |row| row.throughput_tat_us))
        .execute(conn)?;
    if updated == usage.len() { Ok(()) } else { Err(Fault::Corrupt("usage")) }
}

/// As [`UsageRow`] reads them.
type UsageColumns = (Text, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt);

const STORE: &str = concat!(
    "WITH stored AS (
        INSERT INTO envelopes (id, sender, recipient, suite, hash, signature, sealed,
            payload_size_bytes, created_at)
        SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?),
            unnest(?), unnest(?)
    ), queued AS (
        INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, lease)
        SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)
    ) ",
    set_usage!()
);

pub(in crate::batch) fn open_channels(
    conn: &mut PgConnection,
    rows: &[ChannelRow<'_>],
) -> Result<(), Fault> {
    Statement::command(
        "INSERT INTO channels (id, sender, recipient, sealing_version, encapsulation, signature)
         SELECT * FROM unnest(?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.id))
    .bind::<Texts, _>(column(rows, |row| &*row.sender))
    .bind::<Texts, _>(column(rows, |row| &*row.recipient))
    .bind::<Array<Integer>, _>(column(rows, |row| row.sealing_version))
    .bind::<Array<Binary>, _>(column(rows, |row| row.encapsulation))
    .bind::<Array<Binary>, _>(column(rows, |row| row.signature))
    .execute(conn)?;
    Ok(())
}

pub(in crate::batch) fn recall(
    conn: &mut PgConnection,
    ids: &[RememberedId<'_>],
) -> Result<Vec<RecalledRow>, Fault> {
    Ok(Statement::<_, (Text, Text, Binary, BigInt, MetaColumns)>::query(
        "SELECT r.api_key_id, r.idempotency_key, r.fingerprint, r.created_at,
             e.id, e.sender, e.recipient, e.suite, e.hash, e.payload_size_bytes, e.created_at
         FROM unnest(?, ?) AS n (api_key_id, idempotency_key)
         JOIN remembered AS r
             ON r.api_key_id = n.api_key_id AND r.idempotency_key = n.idempotency_key
         JOIN envelopes AS e ON e.id = r.envelope_id",
    )
    .bind::<Texts, _>(column(ids, |id| &*id.api_key_id))
    .bind::<Texts, _>(column(ids, |id| id.idempotency_key))
    .load(conn)?)
}

pub(in crate::batch) fn remember(
    conn: &mut PgConnection,
    rows: &[RememberedRow<'_>],
) -> Result<usize, Fault> {
    Ok(Statement::command(
        "INSERT INTO remembered (api_key_id, idempotency_key, fingerprint, envelope_id, created_at)
         SELECT * FROM unnest(?, ?, ?, ?, ?)
         ON CONFLICT (api_key_id, idempotency_key) DO NOTHING",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.id.api_key_id))
    .bind::<Texts, _>(column(rows, |row| row.id.idempotency_key))
    .bind::<Array<Binary>, _>(column(rows, |row| row.fingerprint))
    .bind::<Texts, _>(column(rows, |row| &*row.envelope_id))
    .bind::<BigInts, _>(column(rows, |row| row.created_at))
    .execute(conn)?)
}

pub(in crate::batch) fn forget_stale(
    conn: &mut PgConnection,
    rows: &[RememberedRow<'_>],
) -> Result<(), Fault> {
    Statement::command(
        "DELETE FROM remembered AS r
         USING unnest(?, ?, ?) AS n (api_key_id, idempotency_key, expired_before)
         WHERE r.api_key_id = n.api_key_id AND r.idempotency_key = n.idempotency_key
             AND (r.created_at < n.expired_before
                 OR NOT EXISTS (SELECT FROM envelopes AS e WHERE e.id = r.envelope_id))",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.id.api_key_id))
    .bind::<Texts, _>(column(rows, |row| row.id.idempotency_key))
    .bind::<BigInts, _>(column(rows, |row| row.expired_before))
    .execute(conn)?;
    Ok(())
}

/// Summed up first: a statement may touch each row but once.
pub(in crate::batch) fn add_overages(
    conn: &mut PgConnection,
    rows: &[OverageRow],
) -> Result<(), Fault> {
    Statement::command(
        "INSERT INTO overages AS o (api_key_id, month, messages)
         SELECT n.api_key_id, n.month, sum(n.messages)::BIGINT
         FROM unnest(?, ?, ?) AS n (api_key_id, month, messages)
         GROUP BY n.api_key_id, n.month ORDER BY n.api_key_id, n.month
         ON CONFLICT (api_key_id, month) DO UPDATE SET messages = o.messages + excluded.messages",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.api_key_id))
    .bind::<BigInts, _>(column(rows, |row| row.month))
    .bind::<BigInts, _>(column(rows, |row| row.messages))
    .execute(conn)?;
    Ok(())
}
