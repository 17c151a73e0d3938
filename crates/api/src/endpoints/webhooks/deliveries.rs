//! `POST /v1/webhooks/deliveries`, `redeliver` and `recover`: lists the deliveries of a webhook, and sends events
//! again.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, Timestamp};
use sealpost_service::{
    Access, Actor, Cursor, Deliveries, DeliveriesPage, DeliveryState, Limited, Recover, Recovered,
    Redelivered,
};
use serde_json::json;

use super::{
    act::{Act, CHANGE, READ},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, Member, NumberUpTo, RequestBody, refuse_until_before_since, request_body},
    state::ApiState,
};

/// A page of the pending deliveries and the attempts of a webhook.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct ListDeliveries {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
    /// Shows only entries in this state. If absent, shows all entries.
    #[schemars(with = "Option<String>", extend("enum" = ["pending", "succeeded", "failed", "exhausted", null]))]
    state: Option<DeliveryState>,
    /// The maximum number of entries, 20 by default.
    #[schemars(default)]
    limit: NumberUpTo<100, 20>,
    /// The `next_cursor` of the previous page. If absent, shows the first page.
    #[schemars(with = "Option<String>")]
    cursor: Option<Cursor>,
}

impl RequestBody for ListDeliveries {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id"])?;
        let webhook_id = fields.text("webhook_id")?;
        let limit = Member::read(fields, "limit")?;
        let cursor = fields.optional_parsed("cursor", str::parse)?;
        let state = |name: &str| DeliveryState::from_name(name).ok_or(STATES);
        let state = fields.optional_parsed("state", state)?;
        Ok(Self { webhook_id, state, limit, cursor })
    }
}

request_body! {
    /// The event to send again, and the webhook.
    pub(in crate::endpoints) struct RedeliverEvent {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// The id of the event: the id of the envelope, or `evt_…` for other events.
        #[schemars(length(min = 1))]
        envelope_id: String,
    }
}

request_body! {
    /// The webhook and the time range of the failed events.
    pub(in crate::endpoints) struct RecoverDeliveries {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// The start of the time range, inclusive. An event is in the range if its delivery failed in that time.
        since: Timestamp,
        /// The end of the time range, inclusive. If absent, the current time.
        until: Option<Timestamp> => refuse_until_before_since(Some(since), until),
        /// If true, only counts the events and sends nothing.
        #[schemars(with = "Option<bool>")]
        dry_run: bool,
    }
}

impl Act for ListDeliveries {
    const NAME: &'static str = "deliveries";
    const ACCESS: Access = READ;
    type Done = DeliveriesPage;

    fn operation() -> Operation {
        let body = json!({ "webhook_id": examples::WEBHOOK, "state": "failed", "limit": 20 });
        let page = json!({
            "deliveries": [{
                "envelope_id": examples::ENVELOPE,
                "attempt": 1,
                "at": "2026-11-21T06:56:38.757Z",
                "outcome": "failed",
                "status_code": 503,
                "error": "http_status",
                "error_detail": null,
                "duration_ms": 12,
                "next_attempt_at": "2026-11-21T06:56:44.102Z",
                "response": "come back later",
            }],
            "next_cursor": null,
        });
        Operation::new::<DeliveriesPage>("listDeliveries", page)
            .describe(Tag::Webhooks, "List deliveries", DELIVERIES)
            .repeatable()
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<DeliveriesPage> {
        let Self { webhook_id, state, limit: NumberUpTo(limit), cursor } = self;
        app.sealpost
            .webhooks
            .deliveries(actor, Deliveries { webhook_id, state, limit, cursor })
            .await
    }
}

impl Act for RedeliverEvent {
    const NAME: &'static str = "redeliver";
    const ACCESS: Access = CHANGE;
    type Done = Redelivered;

    fn operation() -> Operation {
        let body = json!({ "webhook_id": examples::WEBHOOK, "envelope_id": examples::ENVELOPE });
        let redelivered = json!({
            "webhook_id": examples::WEBHOOK,
            "envelope_id": examples::ENVELOPE,
            "outcome": "pending",
        });
        Operation::new::<Redelivered>("redeliverEvent", redelivered)
            .describe(Tag::Webhooks, "Send an event again", REDELIVER)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::EnvelopeNotFound, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Redelivered> {
        app.sealpost.webhooks.redeliver(actor, self.webhook_id, self.envelope_id).await
    }
}

impl Act for RecoverDeliveries {
    const NAME: &'static str = "recover";
    const ACCESS: Access = CHANGE;
    type Done = Recovered;

    fn operation() -> Operation {
        let body = json!({
            "webhook_id": examples::WEBHOOK,
            "since": "2026-11-21T00:00:00Z",
            "dry_run": true,
        });
        let recovered = json!({
            "webhook_id": examples::WEBHOOK,
            "matched": 3,
            "recovered": 0,
            "more": false,
            "dry_run": true,
        });
        Operation::new::<Recovered>("recoverDeliveries", recovered)
            .describe(Tag::Webhooks, "Send failed events again", RECOVER)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Recovered> {
        let Self { webhook_id, since, until, dry_run } = self;
        app.sealpost.webhooks.recover(actor, Recover { webhook_id, since, until, dry_run }).await
    }
}

const STATES: &str = "must be pending, succeeded, failed or exhausted";
const DELIVERIES: &str = "\
Lists the pending deliveries of a webhook, and then all attempts, each newest first, in pages. Each attempt shows \
time, status, error class, duration, the first KiB of the response, and the next attempt.";
const REDELIVER: &str = "\
Sends the event of one envelope now, also after a success or after the last retry. A disabled webhook must be enabled \
first.";
const RECOVER: &str = "\
Sends all events again that failed since a time, at most 10,000 per request; with `dry_run` it only counts them. While \
`more` is true, repeat the request with the same `since` and an `until`. A disabled webhook must be enabled first.";
