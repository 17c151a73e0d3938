//! `POST /v1/webhooks/list`: lists the webhooks of an API key with their state and health.

use schemars::JsonSchema;
use sealpost_domain::Refusal;
use sealpost_service::{Access, Manage, WebhookList};
use serde_json::json;

use super::{
    action::{Action, ActionInput, READ},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// A body without members. Lists all webhooks of the key.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct ListWebhooks {}

impl RequestBody for ListWebhooks {
    fn read(_fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self {})
    }
}

impl Action for ListWebhooks {
    const NAME: &'static str = "list";
    const ACCESS: Access = READ;

    fn into_input(self) -> ActionInput {
        ActionInput::Manage(Manage::List)
    }

    fn operation() -> Operation {
        let listed = json!({ "webhooks": [examples::webhook()] });
        Operation::new::<WebhookList>("listWebhooks", listed)
            .describe(Tag::Webhooks, "List webhooks", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .optional_body::<Self>(vec![("", json!({}))])
    }
}

const DESCRIPTION: &str = "\
Lists the webhooks of the key, oldest first: state, reason if disabled, and health. Their secrets are not shown.";
