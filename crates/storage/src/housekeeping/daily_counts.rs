//! Daily counts of each API key: envelopes sent and received, and successful deliveries.
//!
//! Housekeeping counts each row once, some time after the row was written, so that sends need no counting. One SQL
//! statement counts a limited number of rows (a portion), so that the node reads no rows.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::{ApiKeyId, EnvelopeId, Timestamp, ports::DailyCount};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend},
    rows::columns,
    schema::{daily_count_progress as p, daily_counts as c},
};

/// The id of an API key, and the start of a UTC day in milliseconds since the Unix epoch.
type KeyDay = (String, i64);

/// Adds up to `limit` envelopes sent before `before` to the daily counts, and returns how many were counted. Continues
/// after the last counted envelope.
pub(crate) fn count_envelopes(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from = last_counted(conn, ENVELOPES)?.unwrap_or_default();
    let bound = EnvelopeId::new(before, [0; 10]).to_string();
    let portion = sql_query(ENVELOPE_PORTION)
        .bind::<Text, _>(&from)
        .bind::<Text, _>(bound)
        .bind::<BigInt, _>(i64::from(limit))
        .get_result::<Portion>(conn)?;
    let Some(last) = portion.last else { return Ok(0) };
    mark(conn, ENVELOPES, &last)?;
    sql_query(COUNT_ENVELOPES).bind::<Text, _>(from).bind::<Text, _>(last).execute(conn)?;
    columns::number(portion.size, "number of envelopes")
}

/// Adds up to `limit` attempts that ended before `before` to the daily counts, and returns how many were counted.
/// Attempts for deleted webhooks are skipped: no API key gets them.
///
/// Counts attempts in the order of their numbers, and stores the number of the last one. Stops at the first attempt
/// that is too recent: attempts below the stored number are never read again, so a skipped attempt would never be
/// counted.
pub(crate) fn count_attempts(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let from = last_counted(conn, ATTEMPTS)?.map(|number| columns::id(&number, "count"));
    let from: i64 = from.transpose()?.unwrap_or(-1);
    let portion = sql_query(ATTEMPT_PORTION)
        .bind::<BigInt, _>(from)
        .bind::<BigInt, _>(i64::from(limit))
        .bind::<BigInt, _>(before.as_millis())
        .get_result::<Portion>(conn)?;
    let Some(last) = portion.last else { return Ok(0) };
    mark(conn, ATTEMPTS, &last)?;
    let last: i64 = columns::id(&last, "count")?;
    sql_query(COUNT_ATTEMPTS).bind::<BigInt, _>(from).bind::<BigInt, _>(last).execute(conn)?;
    columns::number(portion.size, "number of attempts")
}

/// The end and the size of the next portion: the rows that one statement counts.
#[derive(QueryableByName)]
struct Portion {
    /// The id of the last envelope or the number of the last attempt, as text. `None` if no row is left to count.
    #[diesel(sql_type = Nullable<Text>)]
    last: Option<String>,
    #[diesel(sql_type = BigInt)]
    size: i64,
}

/// Returns the daily counts of an API key from `since` on, oldest first.
///
/// Includes recent rows that housekeeping has not counted yet, but only some of them:
///
/// - the newest `uncounted_max` uncounted envelopes, of all keys together
/// - the newest `uncounted_max` uncounted successful attempts of this key
///
/// One statement reads the counts and these rows, so that no row is counted twice if housekeeping counts at the same
/// time.
pub(crate) fn of_key(
    conn: &mut AnyConnection,
    key: &ApiKeyId,
    since: Timestamp,
    uncounted_max: u32,
) -> Result<Vec<DailyCount>, Fault> {
    let days = sql_query(OF_KEY)
        .bind::<Text, _>(key.to_string())
        .bind::<BigInt, _>(i64::from(uncounted_max))
        .bind::<BigInt, _>(since.as_millis());
    days.load::<DayRow>(conn)?.into_iter().map(DayRow::read).collect()
}

/// Reads the daily counts of one API key. No index finds the envelopes of one key. Therefore the query first reads the
/// newest uncounted envelopes of all keys, and then selects those of the key. `$1`, `$2` and `$3` must first appear in
/// this order, because SQLite numbers parameters by their first use.
const OF_KEY: &str = "
    SELECT day, CAST(sum(sent) AS BIGINT) AS sent, CAST(sum(received) AS BIGINT) AS received,
        CAST(sum(delivered) AS BIGINT) AS delivered
    FROM (
        SELECT day, sent, received, delivered FROM daily_counts WHERE api_key_id = $1
        UNION ALL
        SELECT created_at - created_at % 86400000, CASE WHEN sender = $1 THEN 1 ELSE 0 END,
            CASE WHEN recipient = $1 THEN 1 ELSE 0 END, 0
        FROM (
            SELECT sender, recipient, created_at FROM envelopes
            WHERE id > coalesce(
                (SELECT last_counted FROM daily_count_progress WHERE source = 'envelopes'), '')
            ORDER BY id DESC LIMIT $2
        ) AS uncounted_envelopes
        WHERE sender = $1 OR recipient = $1
        UNION ALL
        SELECT at - at % 86400000, 0, 0, 1
        FROM (
            SELECT a.at FROM webhooks AS w JOIN attempts AS a ON a.webhook_id = w.id
            WHERE w.api_key_id = $1 AND a.outcome = 'succeeded' AND a.number > coalesce(
                (SELECT CAST(last_counted AS BIGINT) FROM daily_count_progress
                WHERE source = 'attempts'), -1)
            ORDER BY a.number DESC LIMIT $2
        ) AS uncounted_attempts
    ) AS counts
    WHERE day >= $3
    GROUP BY day ORDER BY day";

#[derive(QueryableByName)]
struct DayRow {
    #[diesel(sql_type = BigInt)]
    day: i64,
    #[diesel(sql_type = BigInt)]
    sent: i64,
    #[diesel(sql_type = BigInt)]
    received: i64,
    #[diesel(sql_type = BigInt)]
    delivered: i64,
}

impl DayRow {
    fn read(self) -> Result<DailyCount, Fault> {
        let number = |count| columns::number(count, "daily count");
        Ok(DailyCount {
            day: Timestamp::from_millis(self.day),
            sent: number(self.sent)?,
            received: number(self.received)?,
            delivered: number(self.delivered)?,
        })
    }
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

const ENVELOPE_PORTION: &str = "
    SELECT max(id) AS last, count(*) AS size FROM (
        SELECT id FROM envelopes WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3
    ) AS portion";

const COUNT_ENVELOPES: &str = "
    INSERT INTO daily_counts AS c (api_key_id, day, sent, received, delivered)
    SELECT api_key_id, day, CAST(sum(sent) AS BIGINT), CAST(sum(received) AS BIGINT), 0 FROM (
        SELECT sender AS api_key_id, created_at - created_at % 86400000 AS day,
            1 AS sent, 0 AS received
        FROM envelopes WHERE id > $1 AND id <= $2
        UNION ALL
        SELECT recipient, created_at - created_at % 86400000, 0, 1
        FROM envelopes WHERE id > $1 AND id <= $2
    ) AS counted
    GROUP BY api_key_id, day ORDER BY api_key_id, day
    ON CONFLICT (api_key_id, day) DO UPDATE
    SET sent = c.sent + excluded.sent, received = c.received + excluded.received";

/// Selects the next attempts to count, and stops before the first attempt that is too recent. An attempt with a time
/// more than an hour after `$3` does not stop the count: its time comes from a wrong clock, and counting would
/// otherwise wait until that time.
const ATTEMPT_PORTION: &str = "
    WITH portion AS (
        SELECT number, at FROM attempts WHERE number > $1 ORDER BY number LIMIT $2
    )
    SELECT CAST(max(number) AS TEXT) AS last, count(*) AS size FROM portion
    WHERE number < coalesce(
        (SELECT min(number) FROM portion WHERE at >= $3 AND at < $3 + 3600000),
        9223372036854775807
    )";

/// Adds successful attempts to the daily counts of the API keys that own the webhooks. Counts the successes with `CASE`
/// instead of a condition on the outcome. With such a condition, PostgreSQL would read the whole index of successes for
/// each portion.
const COUNT_ATTEMPTS: &str = "
    INSERT INTO daily_counts AS c (api_key_id, day, sent, received, delivered)
    SELECT w.api_key_id, s.day, 0, 0, CAST(sum(s.successes) AS BIGINT) FROM (
        SELECT webhook_id, at - at % 86400000 AS day,
            sum(CASE outcome WHEN 'succeeded' THEN 1 ELSE 0 END) AS successes
        FROM attempts WHERE number > $1 AND number <= $2
        GROUP BY webhook_id, at - at % 86400000
    ) AS s
    JOIN webhooks AS w ON w.id = s.webhook_id
    WHERE s.successes > 0
    GROUP BY w.api_key_id, s.day ORDER BY w.api_key_id, s.day
    ON CONFLICT (api_key_id, day) DO UPDATE SET delivered = c.delivered + excluded.delivered";

const ATTEMPTS: &str = "attempts";
const ENVELOPES: &str = "envelopes";
const DAY_MS: i64 = 86_400_000;
