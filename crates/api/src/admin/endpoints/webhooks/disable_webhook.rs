//! `POST /admin/v1/webhooks/disable`: disables a webhook.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, WebhookId};
use sealpost_service::WebhookView;
use serde_json::json;

use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The webhook to disable.
#[derive(JsonSchema)]
struct DisableWebhookRequest {
    /// The id of the webhook.
    webhook_id: WebhookId,
    /// The reason, for the audit trail.
    reason: Reason,
}

impl RequestBody for DisableWebhookRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id", "reason"])?;
        let webhook_id = parsed_required(fields, "webhook_id")?;
        Ok(Self { webhook_id, reason: Reason::read(fields)? })
    }
}

async fn disable(request: ActRequest<DisableWebhookRequest>) -> JsonResponse<WebhookView> {
    request
        .perform(|body| &body.reason, |operator, body| operator.disable_webhook(&body.webhook_id))
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(disable) }
}

fn operation() -> Operation {
    let webhook = "wh_01m7ye92sqen1aazwgag1e22t1";
    let disabled = json!({
        "webhook_id": webhook,
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://receiver.example/hook",
        "events": ["envelope.received"],
        "description": null,
        "paused": false,
        "status": "disabled",
        "disabled_reason": null,
        "failing_since": null,
        "created_at": "2026-11-21T06:56:38.596Z",
        "last_success_at": null,
        "last_failure": null,
        "connected": null,
    });
    let body = json!({ "webhook_id": webhook, "reason": "Receiver asked for it" });
    Operation::new::<WebhookView>("disableWebhook", disabled)
        .describe(
            Tag::Webhooks,
            "Disable a webhook",
            "Disables a webhook. Its deliveries wait until the owner enables it again.",
        )
        .acting_operator()
        .body::<DisableWebhookRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused])
}
