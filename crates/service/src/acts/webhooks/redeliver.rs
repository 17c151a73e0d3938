//! Makes deliveries due now: the pending deliveries of a webhook that is being enabled, the failed deliveries of a time
//! range, or a single delivery.
//!
//! Within a second, the dispatcher leases due deliveries and sends their requests.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, DeliveryId, EventId, Refusal, Timestamp, Webhook, WebhookId, WebhookStatus,
    ports::{Durability, FailureRange},
    with_causes,
};
use sealpost_storage::{Abort, Transaction};
use serde::Serialize;

use crate::{
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
    error::Error,
    webhooks::{
        Webhooks,
        cursor::DeliveryState,
        view::{WebhookView, find, parse_id},
    },
};

/// Selects the failed deliveries of a webhook to send again.
#[derive(Debug, Clone)]
pub struct Recover {
    /// Id of the webhook.
    pub webhook_id: String,
    /// Start of the time range, inclusive.
    pub since: Timestamp,
    /// End of the time range, inclusive; `None` means now.
    pub until: Option<Timestamp>,
    /// If true, only counts the deliveries.
    pub dry_run: bool,
}

/// An enabled webhook.
#[derive(JsonSchema, Serialize)]
pub struct Enabled {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// Number of pending deliveries that this request made due now.
    pub due_now: u64,
}

/// The result of sending failed deliveries again.
#[derive(JsonSchema, Serialize)]
pub struct Recovered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Number of deliveries that failed in the time range. Excludes deliveries that are already due or in progress.
    pub matched: u64,
    /// Number of deliveries that this request made due.
    pub recovered: u64,
    /// True if further failed deliveries remain. Send the same request again.
    pub more: bool,
    /// True if the request only counted deliveries, and changed none.
    pub dry_run: bool,
}

/// A delivery that is due now.
#[derive(JsonSchema, Serialize)]
pub struct Redelivered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the event: the id of the envelope, or `evt_…` for other events.
    #[schemars(with = "String", extend("pattern" = EventId::PATTERN))]
    pub envelope_id: EventId,
    /// Always `pending`.
    #[schemars(extend("const" = "pending"))]
    pub outcome: &'static str,
}

impl Webhooks {
    /// Enables a disabled webhook, and makes its pending deliveries due. If the webhook is already enabled, only makes
    /// its pending deliveries due: an earlier request may have enabled the webhook and then failed before this second
    /// step.
    pub async fn enable(&self, actor: &Actor, webhook_id: String) -> Limited<Enabled> {
        let enable = move |webhooks: &Self, request: &ActRequest| {
            webhooks.enable_blocking(request, &webhook_id)
        };
        self.core.act(self, actor, Purpose::Manage, enable).await
    }

    /// Sends one event now, even if it was delivered before. `event_id` is the id of an envelope, or `evt_…` for other
    /// events. Refuses a disabled or paused webhook. Refuses an event that is unknown or expired, or whose kind the
    /// webhook does not name.
    pub async fn redeliver(
        &self,
        actor: &Actor,
        webhook_id: String,
        event_id: String,
    ) -> Limited<Redelivered> {
        let redeliver = move |Self { core, .. }: &Self, request: &ActRequest| {
            let (key, now) = (request.key(), core.clock.now());
            let id = request.write(|tx| {
                let webhook = find_active(tx, key, &webhook_id)?;
                let Ok(event_id) = event_id.parse::<EventId>() else {
                    return Err(Refusal::for_id(&event_id, Refusal::EnvelopeNotFound).into());
                };
                if event_id.timestamp() < core.kept_since(now) {
                    return Err(Refusal::EnvelopeNotFound.into());
                }
                let id = DeliveryId { event_id, webhook_id: webhook.id };
                if tx.redeliver(&id, key, now)? {
                    Ok(id)
                } else {
                    Err(Refusal::WebhookEventNotFound.into())
                }
            })?;
            let outcome = DeliveryState::Pending.as_str();
            Ok(Redelivered { webhook_id: id.webhook_id, envelope_id: id.event_id, outcome })
        };
        self.core.act(self, actor, Purpose::Manage, redeliver).await
    }

    /// Makes failed deliveries of a time range due, at most [`recovered_max`](crate::Settings::recovered_max)
    /// deliveries. A dry run only counts the deliveries. Refuses a disabled or paused webhook.
    pub async fn recover(&self, actor: &Actor, query: Recover) -> Limited<Recovered> {
        let recover =
            move |webhooks: &Self, request: &ActRequest| webhooks.recover_blocking(request, &query);
        self.core.act(self, actor, Purpose::Manage, recover).await
    }

    /// Enables a webhook in one transaction. Then makes its pending deliveries due in further transactions, unless the
    /// webhook is paused. The first transaction waits for concurrent transactions that store deliveries for the
    /// webhook, so the further transactions find these deliveries too.
    fn enable_blocking(&self, request: &ActRequest, webhook_id: &str) -> Result<Enabled, Error> {
        let key = request.key();
        let webhook = request.write(|tx| {
            let id = parse_id(webhook_id)?;
            let webhook = tx.lock_webhook(key, &id)?.ok_or(Refusal::WebhookNotFound)?;
            if webhook.status == WebhookStatus::Disabled {
                tx.enable_webhook(&id)?;
            }
            self.view(tx, key, webhook_id)
        })?;
        let due_now = if webhook.paused { 0 } else { self.make_pending_due(&webhook.webhook_id) };
        Ok(Enabled { webhook, due_now })
    }

    /// Makes at most `recovered_max` times [`ROUNDS_MAX`] pending deliveries due, and returns their number. Further
    /// deliveries keep their due time. Each transaction changes a bounded number of rows. Logs a database error and
    /// stops, but does not fail: the change of the webhook is already stored.
    pub(super) fn make_pending_due(&self, id: &WebhookId) -> u64 {
        let now = self.core.clock.now();
        let mut left = self.core.settings.recovered_max.saturating_mul(ROUNDS_MAX);
        let mut count = 0;
        while left > 0 {
            let limit = left.min(self.core.settings.rows_per_write);
            let make_due = |tx: &mut Transaction| {
                tx.expedite_deliveries(id, self.core.kept_since(now), now, limit)
            };
            let changed = match self.core.store.write(Durability::Durable, make_due) {
                Ok(changed) => changed,
                Err(error) => {
                    tracing::warn!(
                        error = with_causes(&error),
                        "deliveries of a webhook were not made due at once"
                    );
                    break;
                }
            };
            count += changed;
            if changed < u64::from(limit) {
                break;
            }
            left -= limit;
        }
        count
    }

    /// Makes the failed deliveries of a time range due, or only counts them. Each transaction changes a bounded number
    /// of rows, so that requests that send messages wait only briefly. A delivery that is being attempted becomes due
    /// only if this attempt fails. If a later transaction fails, returns the result of the earlier ones.
    ///
    /// Only the first transaction locks the key and checks the session again, so that sends do not wait for the others.
    fn recover_blocking(&self, request: &ActRequest, query: &Recover) -> Result<Recovered, Error> {
        let (key, now) = (request.key(), self.core.clock.now());
        let webhook_id = parse_id(&query.webhook_id)?;
        let failed = |limit| FailureRange {
            since: query.since,
            until: query.until.unwrap_or(now),
            oldest: self.core.kept_since(now),
            limit,
            counted_only: query.dry_run,
        };
        let mut left = self.core.settings.recovered_max;
        // Counting changes no rows, so one transaction counts all deliveries.
        let portion = if query.dry_run { left } else { self.core.settings.rows_per_write };
        if !query.dry_run {
            // Selects the leased deliveries first. A later selection would also select deliveries that the transactions
            // below make due and the dispatcher then leases.
            let (_, lease_end) = self.core.dispatch.lease();
            request.write(|tx| {
                let webhook = find_active(tx, key, &query.webhook_id)?;
                Ok(tx.recover_leased(&webhook.id, &failed(portion), now, lease_end)?)
            })?;
        }
        let (mut matched, mut recovered) = (0, 0);
        loop {
            let limit = left.min(portion);
            let next = match self.recover_portion(key, query, &failed(limit), now) {
                Err(error) if recovered > 0 => {
                    tracing::warn!(
                        error = with_causes(&error),
                        "not all failed deliveries were made due"
                    );
                    let (more, dry_run) = (true, false);
                    return Ok(Recovered { webhook_id, matched, recovered, more, dry_run });
                }
                next => next?,
            };
            matched += next.matched;
            recovered += next.recovered;
            left -= limit;
            if !next.more || left == 0 {
                return Ok(Recovered { matched, recovered, ..next });
            }
        }
    }

    fn recover_portion(
        &self,
        key: &ApiKeyId,
        query: &Recover,
        failed: &FailureRange,
        now: Timestamp,
    ) -> Result<Recovered, Error> {
        let done = self.core.store.write_or_refuse(Durability::Durable, |tx| {
            let webhook = find_active(tx, key, &query.webhook_id)?;
            let done = tx.recover_deliveries(&webhook.id, failed, now)?;
            Ok(Recovered {
                webhook_id: webhook.id,
                matched: done.matched,
                recovered: done.recovered,
                more: done.more,
                dry_run: query.dry_run,
            })
        });
        Ok(done?)
    }
}

/// Finds a webhook of a key. Refuses a disabled or paused webhook, because its deliveries are not attempted.
fn find_active(tx: &mut Transaction, key: &ApiKeyId, webhook_id: &str) -> Result<Webhook, Abort> {
    let webhook = find(tx, key, webhook_id)?;
    let problem = match webhook.status {
        WebhookStatus::Disabled => {
            "names a disabled webhook; enable it first, which sends its pending deliveries"
        }
        WebhookStatus::Enabled if webhook.paused => {
            "names a paused webhook; resume it first, which sends its pending deliveries"
        }
        WebhookStatus::Enabled => return Ok(webhook),
    };
    Err(Refusal::InvalidField { field: "webhook_id", problem: problem.to_owned() }.into())
}

/// Enabling or resuming a webhook makes at most this number times `recovered_max` deliveries due.
const ROUNDS_MAX: u32 = 10;
