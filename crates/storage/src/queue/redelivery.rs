//! Makes deliveries due again: pending deliveries before their time, the delivery of a single event, and failed
//! deliveries.

use diesel::{
    declare_sql_function,
    dsl::{GtEq, case_when, not},
    prelude::*,
    sql_types::{Integer, Text},
};
use sealpost_domain::{
    ApiKeyId, DeliveryId, EnvelopeId, Timestamp, WebhookId,
    ports::{FailureRange, RecoverySummary, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    housekeeping::partitions::first_id,
    query::{any_of::any_of, webhook_end::delivery_ends_like},
    queue::{events, statements, waiting},
    rows::{columns, delivery::keys_to},
    schema::deliveries as d,
};

impl Transaction {
    /// Makes deliveries to a webhook due at `now`, if they wait for a later attempt. Omits leased deliveries, and
    /// deliveries of events before `oldest`. Changes at most `limit` deliveries, and returns their number.
    pub fn expedite_deliveries(
        &mut self,
        id: &WebhookId,
        oldest: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let webhook = id.to_string();
        let waiting = d::table
            .filter(delivery_ends_like(&webhook))
            .filter(d::webhook_id.eq(&webhook))
            .filter(is_kept(oldest))
            .filter(d::due_at.gt(now.as_millis()))
            .filter(d::lease.is_null())
            .order(d::due_at)
            .limit(limit.into())
            .select(d::event_id);
        self.run(|conn| {
            let events = waiting.load::<String>(conn)?;
            make_due(conn, id, &events, now)
        })
    }

    /// Makes the delivery of one event to one webhook due at `now`, or when its lease ends. Creates the delivery if it
    /// does not exist, for example after a success. The new attempt of a delivery that waits for a retry has the number
    /// of its newest attempt, so it uses up no retry. An exhausted delivery starts again with attempt 1.
    ///
    /// Returns `false` if the event is not stored, belongs to another key than `recipient`, or is of a kind that the
    /// webhook does not subscribe to.
    pub fn redeliver(
        &mut self,
        id: &DeliveryId,
        recipient: &ApiKeyId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            let (event_id, webhook_id) = (id.event_id.to_string(), id.webhook_id.to_string());
            if !events::is_deliverable(conn, &id.event_id, recipient, &webhook_id)? {
                return Ok(false);
            }
            // The waiting row is deleted before the delivery is inserted. A transfer of waiting envelopes uses the same
            // order, so that the two transactions cannot deadlock.
            waiting::end(conn, &event_id)?;
            let fresh = (
                d::webhook_id.eq(&webhook_id),
                d::event_id.eq(&event_id),
                d::attempts.eq(0),
                d::due_at.eq(now.as_millis()),
                d::requested_at.eq(now.as_millis()),
            );
            // If the delivery exists, the update changes nothing, but locks the row. Without the lock, an attempt that
            // succeeds at the same time could delete the row before the delivery is due again.
            let key = (d::event_id, d::webhook_id);
            on_backend!(conn, c => {
                let insert = diesel::insert_into(d::table).values(fresh).on_conflict(key);
                insert.do_update().set(d::webhook_id.eq(&webhook_id)).execute(c)
            })?;
            make_due(conn, &id.webhook_id, &[event_id], now)?;
            Ok(true)
        })
    }

    /// Requests new attempts for leased deliveries to a webhook: if the running attempt fails, the delivery is due at
    /// `now`. `failed` selects the deliveries by the time of their newest failure. Skips leases that end after
    /// `lease_end`.
    pub fn recover_leased(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
        lease_end: Timestamp,
    ) -> Result<(), StoreError> {
        // The leases that end first are the oldest, so their attempts are probably running. The due time of a leased
        // delivery is the end of its lease. The bounds on this time keep the query from reading the whole backlog.
        let id = id.to_string();
        let leased = d::table
            .filter(delivery_ends_like(&id))
            .filter(d::webhook_id.eq(&id))
            .filter(d::due_at.between(now.as_millis(), lease_end.as_millis()))
            .filter(d::failed_at.between(failed.since.as_millis(), failed.until.as_millis()))
            .filter(is_kept(failed.oldest))
            .filter(d::lease.is_not_null())
            .order(d::due_at)
            .limit(failed.limit.into())
            .select(d::event_id);
        self.run(|conn| {
            let events = leased.load::<String>(conn)?;
            statements::lock(conn, &keys_to(&id, &events))?;
            let leased = d::table
                .filter(d::webhook_id.eq(&id))
                .filter(any_of(d::event_id, &events))
                .filter(d::lease.is_not_null());
            let request = d::recover_at.eq(Some(now.as_millis()));
            on_backend!(conn, c => diesel::update(leased).set(request).execute(c))?;
            Ok(())
        })
    }

    /// Makes failed deliveries to a webhook due at `now`, beginning with the oldest failure. `failed` selects the
    /// deliveries by the time of their newest failure. Skips deliveries that are due or leased. With
    /// `failed.counted_only`, only counts the deliveries and changes nothing.
    pub fn recover_deliveries(
        &mut self,
        id: &WebhookId,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<RecoverySummary, StoreError> {
        let found = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::failed_at.between(failed.since.as_millis(), failed.until.as_millis()))
            .filter(is_kept(failed.oldest))
            .filter(d::lease.is_null())
            .filter(d::due_at.is_null().or(d::due_at.gt(now.as_millis())))
            .order(d::failed_at)
            .limit(i64::from(failed.limit) + 1)
            .select(d::event_id);
        self.run(|conn| {
            let mut events = found.load::<String>(conn)?;
            let limit = columns::number(failed.limit, "limit")?;
            let more = events.len() > limit;
            events.truncate(limit);
            let recovered = if failed.counted_only { 0 } else { make_due(conn, id, &events, now)? };
            let matched = columns::number(events.len(), "number of deliveries")?;
            Ok(RecoverySummary { matched, recovered, more })
        })
    }
}

/// Returns the condition that the event of a delivery is from `oldest` or later. Compares ids without the prefixes
/// `env_` and `evt_`, because the rest of an id begins with the time.
fn is_kept(oldest: Timestamp) -> GtEq<substr<d::event_id, i32>, String> {
    let since = first_id(oldest).split_off(EnvelopeId::PREFIX.len());
    substr(d::event_id, 5).ge(since)
}

#[declare_sql_function]
extern "SQL" {
    /// Returns the characters from this position on; the first character has the position 1.
    fn substr(text: Text, from: Integer) -> Text;
}

/// Makes deliveries due at `now`, and returns their number.
///
/// - A delivery whose last attempt failed starts again with the first attempt.
/// - Any other delivery repeats its newest attempt, and uses up no step of the retry schedule: each claim of the
///   delivery returns a number of attempts that is lower by one, until an attempt fails. The column `requested_at`
///   marks such a delivery. The stored number stays the same, so that a second request changes nothing.
/// - The attempt of a leased delivery may be under way. The request is stored with the lease. When the lease ends, the
///   delivery becomes due, even if the attempt succeeds.
fn make_due(
    conn: &mut AnyConnection,
    id: &WebhookId,
    events: &[String],
    now: Timestamp,
) -> Result<u64, QueryError> {
    if events.is_empty() {
        return Ok(0);
    }
    statements::lock(conn, &keys_to(&id.to_string(), events))?;
    let (is_leased, at) = (d::lease.is_not_null(), Some(now.as_millis()));
    let changed = on_backend!(conn, c => {
        let not_due = d::table
            .filter(d::webhook_id.eq(id.to_string()))
            .filter(d::event_id.eq_any(events))
            // The condition is written with NOT, so that SQLite uses the primary key instead of the index on due times.
            .filter(is_leased.or(d::due_at.is_null()).or(not(d::due_at.le(now.as_millis()))));
        let due = (
            d::attempts
                .eq(case_when::<_, _, Integer>(d::due_at.is_null(), 0).otherwise(d::attempts)),
            d::due_at.eq(case_when(is_leased, d::due_at).otherwise(at)),
            d::redeliver_at.eq(at),
            d::recover_at.eq(at),
            d::requested_at.eq(case_when(is_leased, d::requested_at).otherwise(at)),
        );
        diesel::update(not_due).set(due).execute(c)
    })?;
    columns::number(changed, "number of deliveries")
}
