//! Deliveries that are sent again: woken, redelivered or recovered.

use diesel::{dsl::not, prelude::*};
use sealpost_domain::{
    ApiKeyId, DeliveryId, Timestamp, WebhookId,
    ports::{DeliveryRepo, FailureRange, RecoverySummary, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    rows::columns,
    schema::{deliveries as d, envelopes as e},
};

impl DeliveryRepo for Transaction {
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

/// Makes deliveries due that are scheduled for later.
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
            // Written as NOT, so that SQLite uses the primary key instead of the index on due times.
            .filter(not(d::due_at.le(now.as_millis())));
        diesel::update(waiting).set(d::due_at.eq(Some(now.as_millis()))).execute(c)
    })?;
    columns::number(woken, "number of deliveries")
}

/// Makes exhausted deliveries due, and restarts the schedule.
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
        let restarted = (d::attempts.eq(0), d::due_at.eq(Some(now.as_millis())));
        diesel::update(exhausted).set(restarted).execute(c)
    })?;
    columns::number(revived, "number of deliveries")
}
