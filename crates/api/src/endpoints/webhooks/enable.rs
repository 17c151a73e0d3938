//! `POST /v1/webhooks/enable`: enables a disabled webhook, and makes its pending deliveries due now.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Enabled, Manage};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The webhook to enable.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct EnableWebhook {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
}

impl RequestBody for EnableWebhook {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self { webhook_id: webhook_id(fields)? })
    }
}

impl Action for EnableWebhook {
    const NAME: &'static str = "enable";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        ActionInput::Manage(Manage::Enable { webhook_id: self.webhook_id })
    }

    fn operation() -> Operation {
        let mut enabled = examples::webhook();
        if let Some(members) = enabled.as_object_mut() {
            members.insert("due_now".to_owned(), json!(3));
        }
        Operation::new::<Enabled>("enableWebhook", enabled)
            .describe(Tag::Webhooks, "Enable a webhook", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Enables a disabled webhook, and sends its pending deliveries now. `due_now` is their number.";
