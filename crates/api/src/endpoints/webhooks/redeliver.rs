//! `POST /v1/webhooks/redeliver`: sends one event to a webhook again.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Manage, Redelivered};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The event to send again, and the webhook.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct RedeliverEvent {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
    /// The id of the event: the id of the envelope, or `evt_…` for other events.
    #[schemars(length(min = 1))]
    envelope_id: String,
}

impl RequestBody for RedeliverEvent {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id", "envelope_id"])?;
        let webhook_id = fields.text("webhook_id")?;
        Ok(Self { webhook_id, envelope_id: fields.text("envelope_id")? })
    }
}

impl Action for RedeliverEvent {
    const NAME: &'static str = "redeliver";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        ActionInput::Manage(Manage::Redeliver {
            webhook_id: self.webhook_id,
            envelope_id: self.envelope_id,
        })
    }

    fn operation() -> Operation {
        let body = json!({ "webhook_id": examples::WEBHOOK, "envelope_id": examples::ENVELOPE });
        let redelivered = json!({
            "webhook_id": examples::WEBHOOK,
            "envelope_id": examples::ENVELOPE,
            "outcome": "pending",
        });
        Operation::new::<Redelivered>("redeliverEvent", redelivered)
            .describe(Tag::Webhooks, "Send an event again", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::EnvelopeNotFound, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Sends the event of one envelope now, also after a success or after the last retry. A disabled webhook must be enabled \
first.";
