//! Bodies of the operations of webhooks.

use std::fmt;

use sealpost_domain::{ApiKeyId, DisabledReason, LastFailure, Timestamp, WebhookId, WebhookStatus};
use serde::{Deserialize, Serialize};

/// A new webhook.
#[derive(Clone, Serialize, Deserialize)]
pub struct Registered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The key of the webhook.
    pub api_key_id: ApiKeyId,
    /// The URL that gets the events.
    pub url: String,
    /// Kinds of events.
    pub events: Vec<String>,
    /// The secret that verifies events. No later response shows it.
    pub secret: String,
    /// The status.
    pub status: WebhookStatus,
    /// Time of the registration.
    pub created_at: Timestamp,
    /// Number of envelopes that wait for this webhook.
    pub waiting: u64,
    /// Whether more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

/// A webhook without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebhookView {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The key of the webhook.
    pub api_key_id: ApiKeyId,
    /// The URL that gets the events.
    pub url: String,
    /// Kinds of events.
    pub events: Vec<String>,
    /// The status.
    pub status: WebhookStatus,
    /// The reason why the service disabled the webhook.
    pub disabled_reason: Option<DisabledReason>,
    /// Time of the first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// Time of the registration.
    pub created_at: Timestamp,
    /// Time of the last success.
    pub last_success_at: Option<Timestamp>,
    /// The last failure.
    pub last_failure: Option<LastFailure>,
}

/// A new secret of a webhook.
#[derive(Clone, Serialize, Deserialize)]
pub struct RotatedWebhookSecret {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The new secret. No later response shows it.
    pub secret: String,
    /// Older secrets that still sign.
    pub retiring: Vec<RetiringSecret>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("webhook_id", &self.webhook_id).finish_non_exhaustive()
    }
}

impl fmt::Debug for RotatedWebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotatedWebhookSecret")
            .field("webhook_id", &self.webhook_id)
            .finish_non_exhaustive()
    }
}

/// An older secret that still signs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RetiringSecret {
    /// Time of its end.
    pub expires_at: Timestamp,
}

/// One attempt of a delivery.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// Id of the event: the id of an envelope, or of another event (`evt_…`).
    pub envelope_id: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// For example `succeeded`, `failed` or `pending`.
    pub outcome: String,
    /// Status of the receiver.
    pub status_code: Option<u16>,
    /// Class of the failure.
    pub error: Option<String>,
    /// Duration of the attempt.
    pub duration_ms: Option<u64>,
    /// Time of the next attempt.
    pub next_attempt_at: Option<Timestamp>,
    /// Beginning of the receiver's response.
    pub response: Option<String>,
}

/// The outcome of a test event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestedWebhook {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the test event.
    pub event_id: String,
    /// `succeeded` or `failed`.
    pub outcome: String,
    /// Status of the receiver.
    pub status_code: Option<u16>,
    /// Class of the failure.
    pub error: Option<String>,
    /// Duration of the attempt.
    pub duration_ms: u64,
    /// Beginning of the receiver's response.
    pub response: Option<String>,
}

/// A delivery that is due now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Redelivered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the event.
    pub envelope_id: String,
    /// Always `pending`.
    pub outcome: String,
}

/// The failed deliveries to recover.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RecoverRequest {
    /// Start of the time range.
    pub since: Timestamp,
    /// End of the time range. `None` for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// If true, only counts the deliveries.
    pub dry_run: bool,
}

/// Failed deliveries that are due now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recovered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Number of deliveries that failed in the requested time range, without those that are already due or in progress.
    pub matched: u64,
    /// Number of deliveries that are due now.
    pub recovered: u64,
    /// Whether further deliveries match.
    pub more: bool,
    /// True if the request only counted the deliveries and changed none of them.
    pub dry_run: bool,
}
