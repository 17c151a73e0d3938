//! `POST /v1/webhooks/rotate-secret`: replaces the signing secret of a webhook. For 24 hours, events have a signature
//! with each of the two secrets.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Manage, WebhookSecretRotated};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
};

/// The webhook whose secret is replaced.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct RotateWebhookSecret {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
}

impl RequestBody for RotateWebhookSecret {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self { webhook_id: webhook_id(fields)? })
    }
}

impl Action for RotateWebhookSecret {
    const NAME: &'static str = "rotate_secret";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        ActionInput::Manage(Manage::RotateSecret { webhook_id: self.webhook_id })
    }

    fn operation() -> Operation {
        let rotated = json!({
            "webhook_id": examples::WEBHOOK,
            "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
            "retiring": [{ "expires_at": "2026-11-22T06:56:38.711Z" }],
        });
        Operation::new::<WebhookSecretRotated>("rotateWebhookSecret", rotated)
            .describe(Tag::Webhooks, "Replace the secret of a webhook", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::QuotaExceeded, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Creates a new secret and shows it only once. For 24 hours events carry the signatures of both secrets, so receivers can \
change to the new one. At most four replaced secrets sign at a time: the fifth replacement within 24 hours is refused with \
`QUOTA_EXCEEDED`, and `detail` names the time from which it is possible.";
