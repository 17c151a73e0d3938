//! The queue of deliveries. Nothing here waits for the disk: what a crash of the machine takes back is attempted
//! again when its lease ends.

use std::{collections::HashSet, time::Duration};

use diesel::{dsl::exists, prelude::*};
use sealpost_domain::{
    AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Timestamp, WebhookId, WebhookStatus,
    ports::{Claim, Durability, ExpeditedDelivery, Outbox, StoreError},
};

use crate::{
    any_of::any_of,
    batch::{self, Held, Move},
    claiming,
    connection::{AnyConnection, on_backend},
    database::Database,
    fault::Fault,
    schema::{deliveries, webhooks},
    settling,
};

impl Outbox for Database {
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError> {
        // Most sweeps find nothing: those ask without becoming the writer.
        if claim.limit == 0 || !self.read(|conn| is_any_due(conn, claim.now))? {
            return Ok(Vec::new());
        }
        self.transact(Durability::Relaxed, |conn| claiming::take_ready(conn, claim, &self.walk))
    }

    fn settle(&self, results: &[AttemptResult], failing_max: Duration) -> Result<(), StoreError> {
        if results.is_empty() {
            return Ok(());
        }
        let settled = self.transact(Durability::Relaxed, |conn| {
            settling::settle(conn, results, failing_max, &self.heard)
        })?;
        self.heard.remember(settled.told);
        for (webhook_id, reason) in settled.disabled {
            tracing::info!(
                webhook.id = webhook_id,
                reason = reason.as_str(),
                "a webhook is disabled"
            );
        }
        Ok(())
    }

    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        if held.is_empty() {
            return Ok(());
        }
        let held: Vec<_> = held.iter().map(|(id, lease)| Held::new(id, *lease)).collect();
        self.transact(Durability::Relaxed, |conn| batch::release(conn, &held, due_at))
    }

    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError> {
        if expedited.is_empty() {
            return Ok(());
        }
        let moves: Vec<_> = expedited.iter().map(Move::from).collect();
        self.transact(Durability::Relaxed, |conn| batch::expedite(conn, &moves))
    }

    fn no_longer_enabled(&self, of: &[WebhookId]) -> Result<Vec<WebhookId>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = of.iter().map(WebhookId::to_string).collect();
        let enabled = self.read(|conn| enabled_of(conn, &ids))?;
        let ended = of.iter().zip(&ids).filter(|(_, id)| !enabled.contains(*id));
        Ok(ended.map(|(id, _)| *id).collect())
    }
}

/// Makes every delivery that anybody holds due at once.
pub(crate) fn release_every_lease(conn: &mut AnyConnection, now: Timestamp) -> Result<(), Fault> {
    diesel::update(deliveries::table.filter(deliveries::lease.is_not_null()))
        .set((deliveries::lease.eq(None::<i64>), deliveries::due_at.eq(Some(now.as_millis()))))
        .execute(conn)?;
    Ok(())
}

fn enabled_of(conn: &mut AnyConnection, ids: &[String]) -> Result<HashSet<String>, Fault> {
    let enabled = webhooks::table
        .filter(any_of(webhooks::id, ids))
        .filter(webhooks::status.eq(WebhookStatus::Enabled.as_str()))
        .select(webhooks::id);
    Ok(on_backend!(conn, c => enabled.load::<String>(c))?.into_iter().collect())
}

fn is_any_due(conn: &mut AnyConnection, now: Timestamp) -> Result<bool, Fault> {
    let due = deliveries::table.filter(deliveries::due_at.le(now.as_millis()));
    Ok(diesel::select(exists(due)).get_result(conn)?)
}
