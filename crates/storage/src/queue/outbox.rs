//! Implements the outbox: the interface through which the webhook dispatcher uses the delivery queue.
//!
//! Writes do not wait for the disk. A crash of the machine can therefore lose outcomes of attempts. Deliveries with
//! lost outcomes are attempted again when their leases end.

use std::{collections::HashSet, time::Duration};

use diesel::{dsl::not, prelude::*};
use sealpost_domain::{
    AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Target, Timestamp, WebhookId,
    ports::{Claim, Durability, ExpeditedDelivery, Outbox, StoreError},
};

use crate::{
    connection::on_backend,
    database::Database,
    query::{any_of::any_of, row_types::SelectedRow},
    queue::{
        claims,
        outcomes::{self, AttemptRecording},
        relays, statements,
    },
    rows::{
        columns,
        delivery::{DeliveryKey, DeliveryLease, is_leased},
        webhook::{TargetRow, is_inactive},
    },
    schema::{api_keys, deliveries, webhooks},
};

impl Outbox for Database {
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError> {
        if claim.limit == 0 {
            return Ok(Vec::new());
        }
        // Most claims find no due delivery. This search detects that without the write lock of SQLite, which the
        // transaction of a claim needs.
        let cursor = &self.claim_cursor;
        let search = self.look_up(|conn| Ok(claims::search(conn, claim.now, cursor)?))?;
        let Some(search) = search else { return Ok(Vec::new()) };
        self.transact(Durability::Relaxed, |conn| claims::take_ready(conn, claim, &search, cursor))
    }

    fn record_outcomes(
        &self,
        results: &[AttemptResult],
        failing_max: Duration,
    ) -> Result<(), StoreError> {
        let throttle = &self.success_throttle;
        self.record(results, Some(&AttemptRecording { failing_max, throttle }))
    }

    fn record_unlogged(&self, results: &[AttemptResult]) -> Result<(), StoreError> {
        self.record(results, None)
    }

    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        if held.is_empty() {
            return Ok(());
        }
        let leases = leases_of(held);
        self.transact(Durability::Relaxed, |conn| statements::release(conn, &leases, due_at))
    }

    fn await_relay(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if held.is_empty() {
            return Ok(());
        }
        let leases = leases_of(held);
        self.transact(Durability::Relaxed, |conn| statements::await_relay(conn, &leases, now))
    }

    fn relay_arrivals(
        &self,
        since: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<HashSet<WebhookId>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.look_up(|conn| relays::arrivals(conn, since, now, limit))
    }

    fn relays_waiting(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StoreError> {
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.look_up(|conn| relays::waiting(conn, &after, limit))
    }

    fn claim_relays(
        &self,
        webhooks: &[WebhookId],
        claim: &Claim,
    ) -> Result<Vec<LeasedDelivery>, StoreError> {
        let webhooks: Vec<_> = webhooks.iter().map(WebhookId::to_string).collect();
        self.transact(Durability::Relaxed, |conn| claims::take_for_relays(conn, &webhooks, claim))
    }

    fn leave_relays(&self, limit: usize) -> Result<usize, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.transact(Durability::Relaxed, |conn| statements::leave_relays(conn, limit))
    }

    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError> {
        if expedited.is_empty() {
            return Ok(());
        }
        let mut expedited = expedited.to_vec();
        expedited.sort_by_cached_key(|change| {
            (change.id.event_id.to_string(), change.id.webhook_id.to_string())
        });
        self.transact(Durability::Relaxed, |conn| statements::expedite(conn, &expedited))
    }

    fn active_targets(&self, of: &[WebhookId]) -> Result<Vec<Target>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        self.look_up(|conn| {
            let active = webhooks::table
                .inner_join(api_keys::table.on(api_keys::id.eq(webhooks::api_key_id)))
                .filter(any_of(webhooks::id, columns::texts(of)))
                .filter(not(is_inactive()))
                .select((api_keys::account_id, TargetRow::SELECTION));
            let rows = on_backend!(conn, c => active.load::<(String, TargetRow)>(c))?;
            rows.into_iter().map(|(account_id, target)| target.read(&account_id)).collect()
        })
    }
}

/// Returns the leases in the order in which transactions lock deliveries.
fn leases_of(held: &[(DeliveryId, LeaseToken)]) -> Vec<DeliveryLease> {
    let mut leases: Vec<_> =
        held.iter().map(|(id, lease)| DeliveryLease::new(id, *lease)).collect();
    leases.sort_unstable_by(|one, other| one.key.cmp_locked(&other.key));
    leases
}

impl Database {
    fn record(
        &self,
        results: &[AttemptResult],
        recording: Option<&AttemptRecording<'_>>,
    ) -> Result<(), StoreError> {
        if results.is_empty() {
            return Ok(());
        }
        let recorded =
            self.transact(Durability::Relaxed, |conn| outcomes::record(conn, results, recording))?;
        self.success_throttle.committed(recorded.successes);
        for DeliveryKey { webhook_id, event_id } in recorded.exhausted {
            tracing::debug!(event.id = event_id, webhook.id = webhook_id, "delivery exhausted");
        }
        for (webhook_id, reason) in recorded.disabled {
            tracing::info!(webhook.id = webhook_id, reason = reason.as_str(), "webhook disabled");
        }
        Ok(())
    }

    /// Ends all leases and makes the leased deliveries due. Call only when a node with SQLite starts: no other node
    /// uses its database, so all leases are from an earlier run.
    pub fn release_every_lease(&self, now: Timestamp) -> Result<(), StoreError> {
        let due = deliveries::due_at.eq(Some(now.as_millis()));
        self.transact(Durability::Relaxed, |conn| {
            let leased = deliveries::table.filter(is_leased());
            diesel::update(leased).set((deliveries::lease.eq(None::<i64>), due)).execute(conn)?;
            Ok(())
        })
    }
}
