//! `POST /v1/webhooks/test`: sends a test event to a webhook, and returns the result of the attempt.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Tested};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The webhook to test.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct TestWebhook {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
}

impl RequestBody for TestWebhook {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self { webhook_id: webhook_id(fields)? })
    }
}

impl Action for TestWebhook {
    const NAME: &'static str = "test";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        ActionInput::Test { webhook_id: self.webhook_id }
    }

    fn operation() -> Operation {
        let tested = json!({
            "webhook_id": examples::WEBHOOK,
            "event_id": "evt_01m7ye92xk1c2d3e4f5g6h7j8k",
            "outcome": "failed",
            "status_code": 503,
            "error": "http_status",
            "error_detail": null,
            "duration_ms": 12,
            "response": "come back later",
        });
        Operation::new::<Tested>("testWebhook", tested)
            .describe(Tag::Webhooks, "Test a webhook", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Sends one `webhook.test` event to the webhook now, whatever its `events` are, and returns the result of the attempt. The \
event is signed like all events. It is never retried, is not listed in `deliveries`, and never disables the webhook. \
Limited per account.";
