//! Make due now what waits or has failed. Whatever becomes due is found by the next sweep, within a second.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, DeliveryId, EnvelopeId, Refusal, Timestamp, Webhook, WebhookId, WebhookStatus,
    ports::{Durability, FailureRange, StoreError, Tx},
};
use serde::Serialize;

use super::{DeliveryState, WebhookView, find};
use crate::{Error, Sealpost};

/// Send again what failed since a time.
#[derive(Debug, Clone, JsonSchema)]
pub struct Recover {
    /// To which webhook.
    #[schemars(length(min = 1))]
    pub webhook_id: String,
    /// From which instant on.
    pub since: Timestamp,
    /// Up to which instant; `None` where it is the present one.
    pub until: Option<Timestamp>,
    /// Whether it is only to be counted.
    #[schemars(with = "Option<bool>")]
    pub dry_run: bool,
}

/// A webhook that is enabled.
#[derive(JsonSchema, Serialize)]
pub struct Enabled {
    /// As it stands now.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// How many deliveries waited and are due now.
    pub due_now: u64,
}

/// What was sent again.
#[derive(JsonSchema, Serialize)]
pub struct Recovered {
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// How many failed in that time and are not due yet.
    pub matched: u64,
    /// How many of them are due now because of this request.
    pub recovered: u64,
    /// Whether there are more, so that the same request should be sent again.
    pub more: bool,
    /// Whether it was only counted.
    pub dry_run: bool,
}

/// A notice that is sent now.
#[derive(JsonSchema, Serialize)]
pub struct Redelivered {
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// Of which envelope.
    pub envelope_id: EnvelopeId,
    /// Always `pending`.
    #[schemars(extend("const" = "pending"))]
    pub outcome: &'static str,
}

impl Sealpost {
    /// Its commit waits for the batches that still let their deliveries wait for somebody to enable it. What waits is woken
    /// after that, which may take longer.
    pub(super) fn enable(&self, key: &ApiKeyId, webhook_id: &str) -> Result<Enabled, Error> {
        let enabled = self.core.store.write(Durability::Durable, |tx| {
            let Ok(id) = webhook_id.parse() else { return Ok(Err(Refusal::WebhookNotFound)) };
            if tx.lock_webhook(key, &id)?.is_none() {
                return Ok(Err(Refusal::WebhookNotFound));
            }
            tx.enable_webhook(&id)?;
            find(tx, key, webhook_id)
        });
        let webhook = enabled??;
        let due_now = self.wake(&webhook.id)?;
        Ok(Enabled { webhook: webhook.into(), due_now })
    }

    /// In bounded portions. What is beyond them comes up by itself in its time.
    fn wake(&self, id: &WebhookId) -> Result<u64, Error> {
        let limit = self.core.settings.recovered_max;
        let now = self.core.clock.now();
        let mut all = 0;
        for _ in 0..WAKE_ROUNDS {
            let wake = |tx: &mut dyn Tx| tx.expedite_deliveries(id, now, limit);
            let woken = self.core.store.write(Durability::Durable, wake)?;
            all += woken;
            if woken < u64::from(limit) {
                break;
            }
        }
        Ok(all)
    }

    pub(super) fn redeliver(
        &self,
        key: &ApiKeyId,
        webhook_id: &str,
        envelope_id: &str,
    ) -> Result<Redelivered, Error> {
        let now = self.core.clock.now();
        let done = self.core.store.write(Durability::Durable, |tx| {
            let webhook = match find_enabled(tx, key, webhook_id)? {
                Ok(webhook) => webhook,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let Ok(envelope_id) = envelope_id.parse() else {
                return Ok(Err(Refusal::EnvelopeNotFound));
            };
            let id = DeliveryId { envelope_id, webhook_id: webhook.id };
            Ok(if tx.redeliver(&id, key, now)? { Ok(id) } else { Err(Refusal::EnvelopeNotFound) })
        });
        let DeliveryId { webhook_id, envelope_id } = done??;
        Ok(Redelivered { webhook_id, envelope_id, outcome: DeliveryState::Pending.as_str() })
    }

    pub(super) fn recover(&self, key: &ApiKeyId, asked: &Recover) -> Result<Recovered, Error> {
        let now = self.core.clock.now();
        let failed = FailureRange {
            since: asked.since,
            until: asked.until.unwrap_or(now),
            limit: self.core.settings.recovered_max,
            counted_only: asked.dry_run,
        };
        let done = self.core.store.write(Durability::Durable, |tx| {
            let webhook = match find_enabled(tx, key, &asked.webhook_id)? {
                Ok(webhook) => webhook,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let done = tx.recover_deliveries(&webhook.id, &failed, now)?;
            Ok(Ok(Recovered {
                webhook_id: webhook.id,
                matched: done.matched,
                recovered: done.recovered,
                more: done.more,
                dry_run: asked.dry_run,
            }))
        });
        Ok(done??)
    }
}

/// Refused where nothing would be sent: who asks wants to see it sent.
fn find_enabled(
    tx: &mut dyn Tx,
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Result<Webhook, Refusal>, StoreError> {
    Ok(find(tx, key, webhook_id)?.and_then(|webhook| match webhook.status {
        WebhookStatus::Enabled => Ok(webhook),
        WebhookStatus::Disabled => {
            let problem = "names a disabled webhook; enable it first, which sends what waits";
            Err(Refusal::InvalidField { field: "webhook_id", problem: problem.to_owned() })
        }
    }))
}

/// How many portions one request wakes.
const WAKE_ROUNDS: u32 = 10;
