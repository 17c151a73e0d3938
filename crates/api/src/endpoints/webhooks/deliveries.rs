//! `POST /v1/webhooks/deliveries`: lists the pending deliveries and the past attempts of a webhook, in pages.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Cursor, Deliveries, DeliveriesPage, DeliveryState, Manage};
use serde_json::json;

use super::{
    action::{Action, ActionInput, READ, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
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
    #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
    limit: u32,
    /// The `next_cursor` of the previous page. If absent, shows the first page.
    #[schemars(with = "Option<String>")]
    cursor: Option<Cursor>,
}

impl RequestBody for ListDeliveries {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let webhook_id = webhook_id(fields)?;
        let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
        let cursor = fields.optional_text("cursor")?;
        let cursor = cursor.map(|text| text.parse::<Cursor>()).transpose();
        let cursor = cursor.map_err(|fault| invalid("cursor", fault.to_string()))?;
        let state = match fields.optional_text("state")? {
            None => None,
            Some(name) => {
                Some(DeliveryState::from_name(&name).ok_or_else(|| invalid("state", STATES))?)
            }
        };
        Ok(Self { webhook_id, state, limit, cursor })
    }
}

impl Action for ListDeliveries {
    const NAME: &'static str = "deliveries";
    const ACCESS: Access = READ;

    fn into_input(self) -> ActionInput {
        let Self { webhook_id, state, limit, cursor } = self;
        ActionInput::Manage(Manage::Deliveries(Deliveries { webhook_id, state, limit, cursor }))
    }

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
            .describe(Tag::Webhooks, "List deliveries", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Lists pending deliveries and all attempts of a webhook, newest first, in pages. Each attempt shows time, status, error \
class, duration, the first KiB of the response, and the next attempt.";

const STATES: &str = "must be pending, succeeded, failed or exhausted";
const LIMITS: RangeInclusive<u32> = 1..=100;
const LIMIT_DEFAULT: u32 = 20;
