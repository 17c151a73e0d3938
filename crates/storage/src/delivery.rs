//! What became of the deliveries of a webhook: the log of attempts, what waits, and how it is made due again.

use diesel::{
    dsl::not,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Integer, Nullable, Text},
};
use sealpost_domain::{
    ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, DeliveryId, EnvelopeId, PendingDelivery,
    Timestamp, WebhookId,
    ports::{DeliveryRepo, FailureRange, RecoverySummary, StoreError},
};

use crate::{
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    schema::{attempts as a, deliveries as d, envelopes as e},
    unit::Unit,
};

impl DeliveryRepo for Unit {
    fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let waiting = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::due_at.gt(now.as_millis()))
            .filter(d::lease.is_null())
            .order(d::due_at)
            .limit(limit.into())
            .select(d::envelope_id);
        self.run(|conn| {
            let envelopes = waiting.load::<String>(conn)?;
            wake(conn, id, &envelopes, now)
        })
    }

    fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let envelope = e::table
            .find(id.envelope_id.to_string())
            .filter(e::recipient.eq(recipient.to_string()))
            .select(e::id);
        self.run(|conn| {
            let Some(envelope_id) = envelope.first::<String>(conn).optional()? else {
                return Ok(false);
            };
            let webhook_id = id.webhook_id.to_string();
            let fresh = (
                d::webhook_id.eq(&webhook_id),
                d::envelope_id.eq(&envelope_id),
                d::attempts.eq(0),
                d::due_at.eq(now.as_millis()),
            );
            let added = on_backend!(conn, c => {
                diesel::insert_into(d::table).values(fresh).on_conflict_do_nothing().execute(c)
            })?;
            if added == 0 {
                let envelopes = [envelope_id];
                revive(conn, &id.webhook_id, &envelopes, now)?;
                wake(conn, &id.webhook_id, &envelopes, now)?;
            }
            Ok(true)
        })
    }

    fn recover_deliveries(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<RecoverySummary, StoreError> {
        let found = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::failed_at.between(failed.since.as_millis(), failed.until.as_millis()))
            .filter(d::lease.is_null())
            .filter(d::due_at.is_null().or(d::due_at.gt(now.as_millis())))
            .order(d::failed_at)
            .limit(i64::from(failed.limit) + 1)
            .select(d::envelope_id);
        self.run(|conn| {
            let mut envelopes = found.load::<String>(conn)?;
            let limit = columns::number(failed.limit, "limit")?;
            let more = envelopes.len() > limit;
            envelopes.truncate(limit);
            let recovered = if failed.counted_only {
                0
            } else {
                revive(conn, id, &envelopes, now)? + wake(conn, id, &envelopes, now)?
            };
            let matched = columns::number(envelopes.len(), "number of deliveries")?;
            Ok(RecoverySummary { matched, recovered, more })
        })
    }
}

/// Only the newest are joined. On SQLite an index alone tells which they are; PostgreSQL reads every row that waits.
pub(crate) fn pending(
    conn: &mut AnyConnection,
    id: &WebhookId,
    below: Option<&EnvelopeId>,
    limit: u32,
) -> Result<Vec<PendingDelivery>, Fault> {
    let newest = sql_query(NEWEST_PENDING)
        .bind::<Text, _>(id.to_string())
        .bind::<Nullable<Text>, _>(below.map(EnvelopeId::to_string))
        .bind::<BigInt, _>(i64::from(limit));
    newest.load::<PendingRow>(conn)?.into_iter().map(PendingRow::read).collect()
}

const NEWEST_PENDING: &str = "
    SELECT d.envelope_id, e.created_at AS sealed_at, d.attempts, d.last_failure, d.due_at, d.lease
    FROM (
        SELECT envelope_id, webhook_id FROM deliveries
        WHERE webhook_id = $1 AND due_at IS NOT NULL AND ($2 IS NULL OR envelope_id < $2)
        ORDER BY envelope_id DESC LIMIT $3
    ) AS newest
    JOIN deliveries AS d
        ON d.envelope_id = newest.envelope_id AND d.webhook_id = newest.webhook_id
    JOIN envelopes AS e ON e.id = newest.envelope_id
    ORDER BY newest.envelope_id DESC";

/// Read outcome by outcome, because that is how they are indexed, and put together.
pub(crate) fn attempts(
    conn: &mut AnyConnection,
    id: &WebhookId,
    outcome: Option<AttemptOutcome>,
    below: Option<AttemptNumber>,
    limit: u32,
) -> Result<Vec<Attempt>, Fault> {
    let below = below.map_or(i64::MAX, |number| number.0);
    let outcomes = match &outcome {
        Some(outcome) => std::slice::from_ref(outcome),
        None => &AttemptOutcome::ALL,
    };
    let mut rows = Vec::<AttemptRow>::new();
    for outcome in outcomes {
        let newest = a::table
            .filter(a::webhook_id.eq(id.to_string()))
            .filter(a::outcome.eq(outcome.as_str()))
            .filter(a::number.lt(below))
            .order(a::number.desc())
            .limit(limit.into());
        rows.extend(newest.load::<AttemptRow>(conn)?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.number));
    rows.truncate(columns::number(limit, "limit")?);
    rows.into_iter().map(AttemptRow::read).collect()
}

/// Makes those due that wait for a later instant.
fn wake(
    conn: &mut AnyConnection,
    id: &WebhookId,
    envelopes: &[String],
    now: Timestamp,
) -> Result<u64, Fault> {
    let woken = on_backend!(conn, c => {
        let waiting = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::envelope_id.eq_any(envelopes))
            .filter(d::lease.is_null())
            // Said so that SQLite finds these by their key and does not go through all that waits.
            .filter(not(d::due_at.le(now.as_millis())));
        diesel::update(waiting).set(d::due_at.eq(Some(now.as_millis()))).execute(c)
    })?;
    columns::number(woken, "number of deliveries")
}

/// Makes those due that were exhausted, with the whole schedule before them again.
fn revive(
    conn: &mut AnyConnection,
    id: &WebhookId,
    envelopes: &[String],
    now: Timestamp,
) -> Result<u64, Fault> {
    let revived = on_backend!(conn, c => {
        let exhausted = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::envelope_id.eq_any(envelopes))
            .filter(d::due_at.is_null());
        let anew = (d::attempts.eq(0), d::due_at.eq(Some(now.as_millis())));
        diesel::update(exhausted).set(anew).execute(c)
    })?;
    columns::number(revived, "number of deliveries")
}

#[derive(Debug, QueryableByName)]
struct PendingRow {
    #[diesel(sql_type = Text)]
    envelope_id: String,
    #[diesel(sql_type = BigInt)]
    sealed_at: i64,
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
    fn read(self) -> Result<PendingDelivery, Fault> {
        let due_at = columns::instant(self.due_at);
        Ok(PendingDelivery {
            envelope_id: columns::id(&self.envelope_id, "delivery")?,
            sealed_at: Timestamp::from_millis(self.sealed_at),
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
    _webhook_id: String,
    envelope_id: String,
    excerpt: Option<String>,
}

impl AttemptRow {
    fn read(self) -> Result<Attempt, Fault> {
        let status = |code| columns::number(code, "HTTP status");
        Ok(Attempt {
            number: AttemptNumber(self.number),
            envelope_id: columns::id(&self.envelope_id, "attempt")?,
            attempt: columns::number(self.attempt, "number of attempts")?,
            at: Timestamp::from_millis(self.at),
            duration_ms: columns::number(self.duration_ms, "duration")?,
            outcome: AttemptOutcome::from_name(&self.outcome).ok_or(Fault::Corrupt("outcome"))?,
            status_code: self.status_code.map(status).transpose()?,
            error: self.error,
            excerpt: self.excerpt,
            next_attempt_at: columns::instant(self.next_attempt_at),
        })
    }
}
