//! Bodies of the operations of webhooks.

use std::fmt;

use sealpost_domain::{
    ApiKeyId, DisabledReason, EventKind, LastFailure, Timestamp, WebhookId, WebhookStatus,
};
use serde::{Deserialize, Serialize, Serializer};

/// A webhook to register.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct NewWebhook<'a> {
    /// The URL that gets the events.
    pub url: &'a str,
    /// Kinds of events that are sent to the webhook.
    pub events: &'a [EventKind],
    /// A note of at most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    /// If true, no webhook gets the events of waiting envelopes, which arrived while the key had no webhook.
    #[serde(rename = "waiting", serialize_with = "skip", skip_serializing_if = "is_false")]
    pub skip_waiting: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn skip<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("skip")
}

/// The changes of a webhook. A value of `None` leaves the present one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WebhookChanges {
    /// The new URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The kinds of events that replace the present ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventKind>>,
    /// The new note; the inner `None` removes the note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    /// True to pause the webhook, false to resume it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// The response to a change of a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdatedWebhook {
    /// The webhook after the change.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// A problem such as a host name that does not resolve yet.
    pub warning: Option<String>,
}

/// The response to the registration of a webhook.
#[derive(Clone, Serialize, Deserialize)]
pub struct Registered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the API key that owns the webhook.
    pub api_key_id: ApiKeyId,
    /// The URL that gets the events.
    pub url: String,
    /// Kinds of events that are sent to the webhook.
    pub events: Vec<String>,
    /// The owner's note about the webhook.
    pub description: Option<String>,
    /// The secret that verifies events. No later response shows it.
    pub secret: String,
    /// The status of the webhook.
    pub status: WebhookStatus,
    /// Time at which the webhook was registered.
    pub created_at: Timestamp,
    /// A problem such as a host name that does not resolve yet.
    pub warning: Option<String>,
    /// Number of waiting envelopes that the new webhook gets, up to a maximum.
    pub waiting: u64,
    /// True if more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

/// A webhook without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebhookView {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the API key that owns the webhook.
    pub api_key_id: ApiKeyId,
    /// The URL that gets the events.
    pub url: String,
    /// Kinds of events that are sent to the webhook.
    pub events: Vec<String>,
    /// The owner's note about the webhook.
    pub description: Option<String>,
    /// The status of the webhook.
    pub status: WebhookStatus,
    /// True if the owner paused the webhook.
    #[serde(default)]
    pub paused: bool,
    /// The reason why the service disabled the webhook. `None` if the webhook is not disabled by the service.
    pub disabled_reason: Option<DisabledReason>,
    /// Time of the first failed attempt since the last success. `None` if no attempt has failed since then.
    pub failing_since: Option<Timestamp>,
    /// Time at which the webhook was registered.
    pub created_at: Timestamp,
    /// Time of a successful delivery, at most a minute before the newest one. `None` if no delivery has succeeded.
    pub last_success_at: Option<Timestamp>,
    /// The last failed attempt. `None` if no attempt has failed.
    pub last_failure: Option<LastFailure>,
    /// Number of connections, if the URL is `relay:`.
    pub connected: Option<u64>,
}

/// The response to the replacement of a signing secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct RotatedWebhookSecret {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The new secret. No later response shows it.
    pub secret: String,
    /// Replaced secrets with which the service still signs.
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

/// A replaced secret with which the service still signs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RetiringSecret {
    /// Time at which the service stops signing with the secret.
    pub expires_at: Timestamp,
}

/// One attempt to deliver an event, or a delivery that waits for its first attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// Id of the event: the id of an envelope, or of another event (`evt_…`).
    pub envelope_id: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// The outcome of the attempt, for example `succeeded`, `failed` or `pending`.
    pub outcome: String,
    /// HTTP status of the response. `None` if there was no response.
    pub status_code: Option<u16>,
    /// Class of the failure, such as `timeout`. `None` if the attempt did not fail.
    pub error: Option<String>,
    /// The reason of a failure without a response, such as the error of the TLS library.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: Option<u64>,
    /// Time of the next attempt. `None` if no attempt is planned.
    pub next_attempt_at: Option<Timestamp>,
    /// The first bytes of the response body.
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
    /// HTTP status of the response. `None` if there was no response.
    pub status_code: Option<u16>,
    /// Class of the failure, such as `timeout`. `None` if the attempt did not fail.
    pub error: Option<String>,
    /// The reason of a failure without a response, such as the error of the TLS library.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u64,
    /// The first bytes of the response body.
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

/// The time range whose failed deliveries are made due again.
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

/// The response to a recovery of failed deliveries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recovered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Number of deliveries that failed in the requested time range, without those that are already due or in progress.
    pub matched: u64,
    /// Number of deliveries that are due now.
    pub recovered: u64,
    /// True if more deliveries match. Repeat the request until this is false.
    pub more: bool,
    /// True if the request only counted the deliveries and changed none of them.
    pub dry_run: bool,
}
