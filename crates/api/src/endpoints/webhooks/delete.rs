//! `POST /v1/webhooks/delete`: deletes a webhook with its pending deliveries.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Deleted, Manage};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The webhook to delete.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct DeleteWebhook {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
}

impl RequestBody for DeleteWebhook {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self { webhook_id: webhook_id(fields)? })
    }
}

impl Action for DeleteWebhook {
    const NAME: &'static str = "delete";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        ActionInput::Manage(Manage::Delete { webhook_id: self.webhook_id })
    }

    fn operation() -> Operation {
        let deleted = json!({ "webhook_id": examples::WEBHOOK, "deleted": true });
        Operation::new::<Deleted>("deleteWebhook", deleted)
            .describe(Tag::Webhooks, "Delete a webhook", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Deletes a webhook with its pending deliveries and its log of attempts. Nothing more is sent to it.";
