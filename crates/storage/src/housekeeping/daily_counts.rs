//! Daily counts of each API key: envelopes sent and received, and successful deliveries.
//!
//! Housekeeping counts each row once, some time after the row was written, so that sends need no counting. Housekeeping
//! reads and sums a limited number of rows (a portion) outside a transaction. A short transaction then adds the sums to
//! the daily counts. This transaction must not read the rows, because on SQLite all other writers wait until it ends.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::{
    ApiKeyId, EnvelopeId, Timestamp, WebhookId,
    ports::{CountedTable, DailyCount, DailyCounts, StoreError, UncountedRows},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{any_of::any_of, statement::Statement},
    rows::columns,
    schema::{daily_count_progress as p, daily_counts as c, webhooks as w},
};

impl Reader {
    /// Reads and sums up to `limit` uncounted rows of `table` that were written before `before`. Starts after the rows
    /// in `read`, or after the last counted row if `read` is `None`. Returns `None` if no row is left.
    /// [`count`](crate::Transaction::count) then adds the sums to the daily counts.
    ///
    /// Call this method outside a transaction: on SQLite, all other writers wait until a transaction ends.
    pub fn uncounted(
        &mut self,
        table: CountedTable,
        before: Timestamp,
        limit: u32,
        read: Option<&UncountedRows>,
    ) -> Result<Option<UncountedRows>, StoreError> {
        self.run(|conn| {
            let after = match read {
                Some(rows) => Some(rows.last.clone()),
                None => p::table
                    .find(name(table))
                    .select(p::last_counted)
                    .first::<String>(conn)
                    .optional()?,
            };
            let (keys, webhooks) = (DailyCounts::new(), BTreeMap::new());
            let (last, number) = (String::new(), 0);
            let mut rows = UncountedRows { table, after, last, number, keys, webhooks };
            match table {
                CountedTable::Envelopes => add_envelopes(conn, &mut rows, before, limit)?,
                CountedTable::Attempts => add_attempts(conn, &mut rows, before, limit)?,
            }
            Ok((rows.number > 0).then_some(rows))
        })
    }

    /// Reads the daily counts of a key for days that begin at `since` or later, oldest first. Omits days without
    /// activity.
    ///
    /// Housekeeping adds rows to the daily counts some time after they were written. Therefore this method also counts
    /// rows that housekeeping has not counted yet: the newest envelopes of the service and the newest successful
    /// attempts of the key, up to `uncounted_max` of each.
    pub fn daily_counts(
        &mut self,
        key: &ApiKeyId,
        since: Timestamp,
        uncounted_max: u32,
    ) -> Result<Vec<DailyCount>, StoreError> {
        self.run(|conn| {
            let days = sql_query(OF_KEY)
                .bind::<Text, _>(key.to_string())
                .bind::<BigInt, _>(i64::from(uncounted_max))
                .bind::<BigInt, _>(since.as_millis());
            days.load::<DayRow>(conn)?.into_iter().map(DayRow::read).collect()
        })
    }
}

/// Adds the next envelopes to `rows`. The statement is not kept prepared, so that PostgreSQL plans it for the
/// parameters of each call.
fn add_envelopes(
    conn: &mut AnyConnection,
    rows: &mut UncountedRows,
    before: Timestamp,
    limit: u32,
) -> Result<(), QueryError> {
    let envelopes = sql_query(UNCOUNTED_ENVELOPES)
        .bind::<Text, _>(rows.after.as_deref().unwrap_or_default())
        .bind::<Text, _>(EnvelopeId::new(before, [0; 10]).to_string())
        .bind::<BigInt, _>(i64::from(limit))
        .load::<UncountedEnvelope>(conn)?;
    for UncountedEnvelope { id, sender, recipient, created_at } in envelopes {
        let key = |text: &str| columns::id(text, "API key");
        let day = Timestamp::from_millis(created_at).start_of_day();
        rows.add_envelope(key(&sender)?, key(&recipient)?, day);
        (rows.last, rows.number) = (id, rows.number.saturating_add(1));
    }
    Ok(())
}

/// Adds the next attempts to `rows`. Stops at the first attempt that ended within the hour after `before`, which is too
/// recent. An attempt with a later time is added at once: its time comes from a wrong clock, and the counting would
/// otherwise stop until that time.
fn add_attempts(
    conn: &mut AnyConnection,
    rows: &mut UncountedRows,
    before: Timestamp,
    limit: u32,
) -> Result<(), QueryError> {
    let after = rows.after.as_deref().map(|number| columns::id::<i64>(number, "count"));
    let attempts = sql_query(UNCOUNTED_ATTEMPTS)
        .bind::<BigInt, _>(after.transpose()?.unwrap_or(-1))
        .bind::<BigInt, _>(i64::from(limit))
        .load::<UncountedAttempt>(conn)?;
    let too_recent = before.as_millis()..before.plus(Duration::from_hours(1)).as_millis();
    for attempt in attempts.into_iter().take_while(|attempt| !too_recent.contains(&attempt.at)) {
        // Ids that no webhook can have are not counted. `owners` leaves out the ids of deleted webhooks in the same
        // way.
        if attempt.has_succeeded
            && let Ok(webhook_id) = columns::id(&attempt.webhook_id, "webhook")
        {
            let day = Timestamp::from_millis(attempt.at).start_of_day();
            let successes = rows.webhooks.entry((webhook_id, day)).or_default();
            *successes = successes.saturating_add(1);
        }
        (rows.last, rows.number) = (attempt.number.to_string(), rows.number.saturating_add(1));
    }
    Ok(())
}

#[derive(QueryableByName)]
struct UncountedEnvelope {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    sender: String,
    #[diesel(sql_type = Text)]
    recipient: String,
    #[diesel(sql_type = BigInt)]
    created_at: i64,
}

#[derive(QueryableByName)]
struct UncountedAttempt {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Text)]
    webhook_id: String,
    #[diesel(sql_type = Bool)]
    has_succeeded: bool,
    #[diesel(sql_type = BigInt)]
    at: i64,
}

/// Returns the API key that owns each webhook in `rows`. Looks up all webhooks at once, because a look-up can be slow:
/// while another session has an open snapshot, a look-up reads all old versions of the row of a webhook.
fn owners(
    conn: &mut AnyConnection,
    rows: &UncountedRows,
) -> Result<HashMap<WebhookId, ApiKeyId>, QueryError> {
    let ids: BTreeSet<_> = rows.webhooks.keys().map(|(id, _)| id.to_string()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = w::table.filter(any_of(w::id, ids)).select((w::id, w::api_key_id));
    let found = on_backend!(conn, c => found.load::<(String, String)>(c))?;
    let read = |(id, owner): (String, String)| {
        Ok((columns::id(&id, "webhook")?, columns::id(&owner, "webhook")?))
    };
    found.into_iter().map(read).collect()
}

fn add(conn: &mut AnyConnection, sums: &DailyCounts) -> Result<(), QueryError> {
    match conn {
        AnyConnection::Postgres(conn) => {
            let sums: Vec<_> = sums.iter().map(|((key, _), count)| (key, count)).collect();
            for part in sums.chunks(SUMS_OF_STATEMENT_MAX) {
                add_on_postgres(conn, part)?;
            }
        }
        AnyConnection::Sqlite(conn) => {
            for ((key, _), count) in sums {
                let number = |number| columns::number::<i64, _>(number, "daily count");
                Statement::command(ADD_SQLITE)
                    .bind::<Text, _>(key.to_string())
                    .bind::<BigInt, _>(count.day.as_millis())
                    .bind::<BigInt, _>(number(count.sent)?)
                    .bind::<BigInt, _>(number(count.received)?)
                    .bind::<BigInt, _>(number(count.delivered)?)
                    .execute(conn)?;
            }
        }
    }
    Ok(())
}

fn add_on_postgres(
    conn: &mut PgConnection,
    sums: &[(&ApiKeyId, &DailyCount)],
) -> Result<(), QueryError> {
    let (keys, counts): (Vec<&ApiKeyId>, Vec<&DailyCount>) = sums.iter().copied().unzip();
    let numbers = |of: fn(&DailyCount) -> u64| {
        let number = |count: &&DailyCount| columns::number::<i64, _>(of(count), "daily count");
        counts.iter().map(number).collect::<Result<Vec<_>, _>>()
    };
    Statement::command(ADD_POSTGRES)
        .bind_array::<Text, _>(keys.iter().map(ToString::to_string))
        .bind_array::<BigInt, _>(counts.iter().map(|count| count.day.as_millis()))
        .bind_array::<BigInt, _>(numbers(|count| count.sent)?.into_iter())
        .bind_array::<BigInt, _>(numbers(|count| count.received)?.into_iter())
        .bind_array::<BigInt, _>(numbers(|count| count.delivered)?.into_iter())
        .execute(conn)?;
    Ok(())
}

/// Stores the id of the last counted row. Returns `false` and stores nothing if another transaction has counted rows of
/// the table since `rows` were read.
fn advance(conn: &mut AnyConnection, rows: &UncountedRows) -> Result<bool, QueryError> {
    let (source, last) = (p::source.eq(name(rows.table)), p::last_counted.eq(&rows.last));
    let changed = if let Some(after) = &rows.after {
        let unchanged = p::table.filter(source).filter(p::last_counted.eq(after));
        diesel::update(unchanged).set(last).execute(conn)?
    } else {
        let first = diesel::insert_into(p::table).values((source, last));
        on_backend!(conn, c => first.on_conflict_do_nothing().execute(c))?
    };
    Ok(changed == 1)
}

/// Returns the name of a table in `daily_count_progress`, which stores the last counted row of each table.
fn name(table: CountedTable) -> &'static str {
    match table {
        CountedTable::Envelopes => "envelopes",
        CountedTable::Attempts => "attempts",
    }
}

/// Reads the daily counts of one API key, and adds its rows that housekeeping has not counted yet. No index finds the
/// envelopes of one key. Therefore the query first reads the newest uncounted envelopes of all keys. `$1`, `$2` and
/// `$3` must first appear in this order, because SQLite numbers parameters by their first use.
const OF_KEY: &str = "/* daily_counts.of_key */
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
            SELECT a.at FROM webhooks AS w JOIN attempts AS a
                ON substr(a.webhook_id, 24) = substr(w.id, 24) AND a.webhook_id = w.id
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
    fn read(self) -> Result<DailyCount, QueryError> {
        let number = |count| columns::number(count, "daily count");
        Ok(DailyCount {
            day: Timestamp::from_millis(self.day),
            sent: number(self.sent)?,
            received: number(self.received)?,
            delivered: number(self.delivered)?,
        })
    }
}

impl Transaction {
    /// Adds the sums of `rows`, which [`uncounted`](Reader::uncounted) has read, to the daily counts. Leaves out keys
    /// of accounts that are erased or being erased. Returns the number of counted rows.
    ///
    /// Returns 0 and changes nothing if another transaction has counted rows of the table since `rows` were read,
    /// because it may have counted the same rows.
    pub fn count(&mut self, rows: &UncountedRows) -> Result<u64, StoreError> {
        self.run(|conn| {
            if !advance(conn, rows)? {
                return Ok(0);
            }
            let owners = owners(conn, rows)?;
            add(conn, &rows.by_key(&owners))?;
            Ok(rows.number)
        })
    }

    /// Deletes up to `limit` daily counts of days that ended before `before`, oldest first. Returns their number.
    pub fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let ended = before.as_millis().saturating_sub(DAY_MS);
            let mut days = c::table
                .filter(c::day.le(ended))
                .order(c::day)
                .limit(limit.into())
                .select((c::api_key_id, c::day))
                .load::<(String, i64)>(conn)?;
            // The order in which `count` locks rows.
            days.sort_unstable();
            for (key, day) in &days {
                diesel::delete(c::table.find((key, *day))).execute(conn)?;
            }
            columns::number(days.len(), "number of days")
        })
    }
}

const UNCOUNTED_ENVELOPES: &str = "/* daily_counts.uncounted_envelopes */
    SELECT id, sender, recipient, created_at FROM envelopes
    WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3";

const UNCOUNTED_ATTEMPTS: &str = "/* daily_counts.uncounted_attempts */
    SELECT number, webhook_id, outcome = 'succeeded' AS has_succeeded, at FROM attempts
    WHERE number > $1 ORDER BY number LIMIT $2";

/// Adds sums to the daily counts. Locks the rows in the order of keys and days, so that two transactions cannot
/// deadlock.
const ADD_POSTGRES: &str = "/* daily_counts.add_postgres */
    INSERT INTO daily_counts AS c (api_key_id, day, sent, received, delivered)
    SELECT n.api_key_id, n.day, n.sent, n.received, n.delivered
    FROM (
        SELECT unnest(?) AS api_key_id, unnest(?) AS day, unnest(?) AS sent,
            unnest(?) AS received, unnest(?) AS delivered
    ) AS n
    WHERE NOT EXISTS (
        SELECT FROM api_keys AS k JOIN accounts AS a ON a.id = ANY (ARRAY[k.account_id])
        WHERE k.id = ANY (ARRAY[n.api_key_id]) AND (a.erased_at IS NOT NULL OR a.closing = 'erase')
    )
    ORDER BY n.api_key_id, n.day
    ON CONFLICT (api_key_id, day) DO UPDATE SET sent = c.sent + excluded.sent,
        received = c.received + excluded.received, delivered = c.delivered + excluded.delivered";

const ADD_SQLITE: &str = "/* daily_counts.add_sqlite */
    INSERT INTO daily_counts AS c (api_key_id, day, sent, received, delivered)
    SELECT n.* FROM (
        SELECT ? AS api_key_id, ? AS day, ? AS sent, ? AS received, ? AS delivered
    ) AS n
    WHERE NOT EXISTS (
        SELECT 1 FROM api_keys AS k JOIN accounts AS a ON a.id = k.account_id
        WHERE k.id = n.api_key_id AND (a.erased_at IS NOT NULL OR a.closing = 'erase')
    )
    ON CONFLICT (api_key_id, day) DO UPDATE SET sent = c.sent + excluded.sent,
        received = c.received + excluded.received, delivered = c.delivered + excluded.delivered";

/// Number of sums that one statement adds, so that the statement ends long before its timeout.
const SUMS_OF_STATEMENT_MAX: usize = 20_000;

const DAY_MS: i64 = 86_400_000;
