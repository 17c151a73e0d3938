//! Webhooks: where a key's notices go.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, DisabledReason, EventKind, Timestamp, WebhookId, Wrapped};

/// Whether notices are sent to a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// Nothing is sent to it.
    Disabled,
    /// Notices are sent.
    Enabled,
}

impl WebhookStatus {
    /// The status's name in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Disabled, Self::Enabled].into_iter().find(|status| status.as_str() == name)
    }
}

/// The newest failed attempt at a webhook.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LastFailure {
    /// When the attempt ended.
    pub at: Timestamp,
    /// Its class, as [`AttemptFailure::as_str`](crate::AttemptFailure::as_str) names it.
    #[schemars(
        description = "What went wrong, as a class: such as `dns`, `connect`, `timeout` or `http_status`."
    )]
    pub error: String,
}

/// One webhook of a key.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Its public name.
    pub id: WebhookId,
    /// Whose notices it gets.
    pub api_key_id: ApiKeyId,
    /// Where they go, in the canonical form that was checked.
    pub url: String,
    /// Which events it asked for.
    pub events: Vec<EventKind>,
    /// The signing secret, encrypted.
    pub secret: Wrapped,
    /// Secrets that were replaced and still sign along, newest first.
    pub retiring: Vec<RetiringSecret>,
    /// Whether notices are sent.
    pub status: WebhookStatus,
    /// Why not, where the service decided so.
    pub disabled_reason: Option<DisabledReason>,
    /// Since when it has met nothing but failures.
    pub failing_since: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the newest successful attempt ended.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
}

/// What is needed to send to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// Where notices go.
    pub url: String,
    /// The signing secret, encrypted.
    pub secret: Wrapped,
    /// Secrets that were replaced and still sign along, newest first.
    pub retiring: Vec<RetiringSecret>,
}

/// A signing secret that was replaced, and signs along for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiringSecret {
    /// Encrypted.
    pub secret: Wrapped,
    /// From when on it signs no more.
    pub until: Timestamp,
}
