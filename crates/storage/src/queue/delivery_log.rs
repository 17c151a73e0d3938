//! Reads the pending deliveries and the logged attempts of a webhook or an event, for the owner of the key.

use diesel::{
    dsl::sql,
    expression::SqlLiteral,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool, Integer, Nullable, Text},
};
use sealpost_domain::{
    Attempt, AttemptNumber, AttemptOutcome, AttemptTiming, Event, EventId, PendingDelivery,
    Timestamp, WebhookId, ports::StoreError,
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Reader},
    housekeeping::partitions::first_id,
    query::{any_of::any_of, webhook_end::attempt_ends_like},
    rows::columns,
    schema::{attempts as a, deliveries as d},
};

impl Reader {
    /// Reads up to `limit` pending deliveries of a webhook (those that wait for an attempt), newest event first. Omits
    /// events before `oldest`. If `below` is given, reads only deliveries of events older than `below`.
    ///
    /// Scans all pending deliveries of the webhook. Do not call this in a transaction that holds locks, because other
    /// transactions would wait for the whole scan.
    pub fn pending_deliveries(
        &mut self,
        id: &WebhookId,
        oldest: Timestamp,
        below: Option<&EventId>,
        limit: u32,
    ) -> Result<Vec<PendingDelivery>, StoreError> {
        self.run(|conn| {
            let newest = sql_query(NEWEST_PENDING)
                .bind::<Text, _>(id.to_string())
                .bind::<Text, _>(first_id(oldest))
                .bind::<Nullable<Text>, _>(below.map(EventId::to_string))
                .bind::<BigInt, _>(i64::from(limit));
            newest.load::<PendingRow>(conn)?.into_iter().map(PendingRow::read).collect()
        })
    }

    /// Reads up to `limit` attempts at a webhook from the log, newest first. If `outcome` is given, reads only attempts
    /// with this outcome. If `below` is given, reads only attempts older than `below`.
    pub fn attempts(
        &mut self,
        id: &WebhookId,
        outcome: Option<AttemptOutcome>,
        below: Option<AttemptNumber>,
        limit: u32,
    ) -> Result<Vec<Attempt>, StoreError> {
        self.run(|conn| {
            let id = id.to_string();
            let below = below.map_or(i64::MAX, |number| number.0);
            let outcomes = match &outcome {
                Some(outcome) => std::slice::from_ref(outcome),
                None => &AttemptOutcome::ALL,
            };
            let mut rows = Vec::<AttemptRow>::new();
            for outcome in outcomes {
                let newest = a::table
                    .filter(attempt_ends_like(&id))
                    .filter(a::webhook_id.eq(&id))
                    .filter(has_outcome(*outcome))
                    .filter(a::number.lt(below))
                    .order(a::number.desc())
                    .limit(limit.into());
                rows.extend(newest.load::<AttemptRow>(conn)?);
            }
            rows.sort_by_key(|row| std::cmp::Reverse(row.number));
            rows.truncate(columns::number(limit, "limit")?);
            rows.into_iter().map(AttemptRow::read).collect()
        })
    }

    /// Reads up to `limit` attempts at a webhook that ended at or after `since`, newest first.
    pub fn recent_attempts(
        &mut self,
        id: &WebhookId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<AttemptTiming>, StoreError> {
        self.run(|conn| {
            let id = id.to_string();
            let mut rows = Vec::<(i64, AttemptTiming)>::new();
            for outcome in AttemptOutcome::ALL {
                let newest = a::table
                    .filter(attempt_ends_like(&id))
                    .filter(a::webhook_id.eq(&id))
                    .filter(has_outcome(outcome))
                    .order(a::number.desc())
                    .limit(limit.into())
                    .select((a::number, a::at, a::duration_ms, a::status_code.is_not_null()));
                let is_success = outcome == AttemptOutcome::Succeeded;
                for (number, at, duration, has_status) in
                    newest.load::<(i64, i64, i32, bool)>(conn)?
                {
                    let duration_ms = columns::number(duration, "duration")?;
                    let has_response = is_success || has_status;
                    let at = Timestamp::from_millis(at);
                    rows.push((
                        number,
                        AttemptTiming { at, duration_ms, is_success, has_response },
                    ));
                }
            }
            rows.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
            rows.truncate(columns::number(limit, "limit")?);
            let timings = rows.into_iter().map(|(_, timing)| timing);
            Ok(timings.filter(|timing| timing.at >= since).collect())
        })
    }

    /// Reads up to `limit` attempts to deliver an event to these webhooks, newest first.
    pub fn attempts_at_event(
        &mut self,
        webhooks: &[WebhookId],
        id: &EventId,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Attempt)>, StoreError> {
        self.run(|conn| {
            let webhooks: Vec<_> = webhooks.iter().map(WebhookId::to_string).collect();
            let mut rows = Vec::<AttemptRow>::new();
            for outcomes in PARTS {
                let of_event = a::table
                    .filter(a::event_id.eq(id.to_string()))
                    .filter(sql::<Bool>(outcomes))
                    .filter(any_of(a::webhook_id, &webhooks))
                    .order(a::number.desc())
                    .limit(limit.into());
                rows.extend(on_backend!(conn, c => of_event.load::<AttemptRow>(c))?);
            }
            rows.sort_by_key(|row| std::cmp::Reverse(row.number));
            rows.truncate(columns::number(limit, "limit")?);
            let with_webhook =
                |row: AttemptRow| Ok((columns::id(&row.webhook_id, "attempt")?, row.read()?));
            rows.into_iter().map(with_webhook).collect()
        })
    }

    /// Reads the pending deliveries of an event to these webhooks.
    pub fn pending_at_event(
        &mut self,
        webhooks: &[WebhookId],
        event: &Event,
    ) -> Result<Vec<(WebhookId, PendingDelivery)>, StoreError> {
        self.run(|conn| {
            let webhooks: Vec<_> = webhooks.iter().map(WebhookId::to_string).collect();
            let pending = d::table
                .filter(d::event_id.eq(event.id().to_string()))
                .filter(any_of(d::webhook_id, &webhooks))
                .filter(d::due_at.is_not_null())
                .select((d::webhook_id, d::attempts, d::last_failure, d::due_at, d::lease));
            let read = |(webhook_id, attempts, error, due_at, lease): PendingColumns| {
                let pending = PendingDelivery {
                    event_id: event.id(),
                    event_at: event.timestamp(),
                    attempts: columns::number(attempts, "number of attempts")?,
                    error,
                    due_at: columns::instant(due_at).filter(|_| lease.is_none()),
                };
                Ok((columns::id(&webhook_id, "delivery")?, pending))
            };
            on_backend!(conn, c => pending.load::<PendingColumns>(c))?
                .into_iter()
                .map(read)
                .collect()
        })
    }
}

/// Returns the SQL condition that an attempt has this outcome. The text includes one of the conditions in [`PARTS`], so
/// that the databases use the partial indexes.
fn has_outcome(outcome: AttemptOutcome) -> SqlLiteral<Bool> {
    sql(match outcome {
        AttemptOutcome::Exhausted => "outcome <> 'succeeded' AND outcome = 'exhausted'",
        AttemptOutcome::Failed => "outcome <> 'succeeded' AND outcome = 'failed'",
        AttemptOutcome::Succeeded => "outcome = 'succeeded'",
    })
}

/// The SQL conditions of the two parts of the attempt log: successes and all other outcomes. Each part has its own
/// partial indexes.
pub(crate) const PARTS: [&str; 2] = ["outcome = 'succeeded'", "outcome <> 'succeeded'"];

const NEWEST_PENDING: &str = "/* delivery_log.newest_pending */
    SELECT d.envelope_id, coalesce(e.created_at, v.created_at) AS event_at, d.attempts,
        d.last_failure, d.due_at, d.lease
    FROM (
        SELECT envelope_id, webhook_id FROM deliveries
        WHERE substr(webhook_id, 24) = substr($1, 24) AND webhook_id = $1 AND due_at IS NOT NULL
            AND substr(envelope_id, 5) >= substr($2, 5)
            AND ($3 IS NULL OR substr(envelope_id, 5) < substr($3, 5))
        ORDER BY substr(envelope_id, 5) DESC LIMIT $4
    ) AS newest
    JOIN deliveries AS d
        ON d.envelope_id = newest.envelope_id AND d.webhook_id = newest.webhook_id
    LEFT JOIN envelopes AS e ON e.id = newest.envelope_id
    LEFT JOIN events AS v ON v.id = newest.envelope_id
    WHERE e.id IS NOT NULL OR v.id IS NOT NULL
    ORDER BY substr(newest.envelope_id, 5) DESC";

/// Returns the number of the first attempt that ended at `at` or later. If there is none, returns a number above all
/// attempt numbers.
///
/// Uses a binary search, because numbers increase with time and no index orders attempts by time. After attempts from
/// nodes with wrong clocks, the result can be too low or too high.
pub(crate) fn first_attempt_at(conn: &mut AnyConnection, at: Timestamp) -> Result<i64, QueryError> {
    let highest = a::table.order(a::number.desc()).select(a::number).first::<i64>(conn);
    let Some(highest) = highest.optional()? else { return Ok(0) };
    let (mut low, mut high) = (0, highest + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let next = a::table.filter(a::number.ge(middle)).order(a::number);
        match next.select((a::number, a::at)).first::<(i64, i64)>(conn).optional()? {
            Some((number, ended)) if ended < at.as_millis() => low = number + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Id of the webhook, number of attempts, newest failure, due time and lease of a pending delivery.
type PendingColumns = (String, i32, Option<String>, Option<i64>, Option<i64>);

#[derive(Debug, QueryableByName)]
struct PendingRow {
    #[diesel(sql_type = Text)]
    envelope_id: String,
    #[diesel(sql_type = BigInt)]
    event_at: i64,
    #[diesel(sql_type = Integer)]
    attempts: i32,
    #[diesel(sql_type = Nullable<Text>)]
    last_failure: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    due_at: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    lease: Option<i64>,
}

impl PendingRow {
    fn read(self) -> Result<PendingDelivery, QueryError> {
        let due_at = columns::instant(self.due_at);
        Ok(PendingDelivery {
            event_id: columns::id(&self.envelope_id, "delivery")?,
            event_at: Timestamp::from_millis(self.event_at),
            attempts: columns::number(self.attempts, "number of attempts")?,
            error: self.last_failure,
            due_at: due_at.filter(|_| self.lease.is_none()),
        })
    }
}

#[derive(Debug, Queryable)]
struct AttemptRow {
    number: i64,
    at: i64,
    next_attempt_at: Option<i64>,
    attempt: i32,
    duration_ms: i32,
    status_code: Option<i32>,
    outcome: String,
    error: Option<String>,
    webhook_id: String,
    event_id: String,
    excerpt: Option<String>,
}

impl AttemptRow {
    fn read(self) -> Result<Attempt, QueryError> {
        let status = |code| columns::number(code, "HTTP status");
        let (error_detail, excerpt) = match self.status_code {
            Some(_) => (None, self.excerpt),
            None => (self.excerpt, None),
        };
        Ok(Attempt {
            number: AttemptNumber(self.number),
            event_id: columns::id(&self.event_id, "attempt")?,
            attempt: columns::number(self.attempt, "number of attempts")?,
            at: Timestamp::from_millis(self.at),
            duration_ms: columns::number(self.duration_ms, "duration")?,
            outcome: AttemptOutcome::from_name(&self.outcome)
                .ok_or(QueryError::Corrupt("outcome"))?,
            status_code: self.status_code.map(status).transpose()?,
            error: self.error,
            error_detail,
            excerpt,
            next_attempt_at: columns::instant(self.next_attempt_at),
        })
    }
}
