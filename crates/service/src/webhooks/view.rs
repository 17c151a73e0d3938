//! A webhook, as its owner sees it.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Description, DisabledReason, EventKind, LastFailure, Timestamp, Webhook, WebhookId,
    WebhookStatus,
};
use serde::Serialize;

/// A webhook without its secrets.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[expect(missing_docs, reason = "the fields of a webhook")]
pub struct WebhookView {
    pub webhook_id: WebhookId,
    pub api_key_id: ApiKeyId,
    pub url: String,
    pub events: Vec<EventKind>,
    pub description: Option<Description>,
    pub status: WebhookStatus,
    /// Whether the owner paused the webhook. A paused webhook gets no events, whatever its status is.
    pub paused: bool,
    pub disabled_reason: Option<DisabledReason>,
    pub failing_since: Option<Timestamp>,
    pub created_at: Timestamp,
    pub last_success_at: Option<Timestamp>,
    pub last_failure: Option<LastFailure>,
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        Self {
            webhook_id: webhook.id,
            api_key_id: webhook.api_key_id,
            url: webhook.url,
            events: webhook.events,
            description: webhook.description,
            status: webhook.status,
            paused: webhook.paused,
            disabled_reason: webhook.disabled_reason,
            failing_since: webhook.failing_since,
            created_at: webhook.created_at,
            last_success_at: webhook.last_success_at,
            last_failure: webhook.last_failure,
        }
    }
}
