//! Webhooks: URLs to which the events of a key are delivered.

use crate::{
    AccountId, ApiKeyId, DisabledReason, EventKind, LastFailure, Timestamp, WebhookId,
    WebhookStatus, Wrapped,
};

/// One webhook of a key.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Public id, prefix `wh_`.
    pub id: WebhookId,
    /// The key whose events are delivered.
    pub api_key_id: ApiKeyId,
    /// Canonical form of the validated URL.
    pub url: String,
    /// Subscribed kinds of events.
    pub events: Vec<EventKind>,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced secrets that still sign, newest first.
    pub retiring: Vec<RetiringSecret>,
    /// Whether events are delivered.
    pub status: WebhookStatus,
    /// Why the service disabled the webhook; `None` otherwise.
    pub disabled_reason: Option<DisabledReason>,
    /// End of the first failed attempt since the last success; `None` if no attempt has failed since.
    pub failing_since: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// End of the newest successful attempt; `None` before the first success.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt, if any attempt has failed.
    pub last_failure: Option<LastFailure>,
}

/// The part of a webhook that a delivery needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Account of the webhook's key. The dispatcher divides its capacity fairly among accounts.
    pub account_id: AccountId,
    /// URL of the receiver.
    pub url: String,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced secrets that still sign, newest first.
    pub retiring: Vec<RetiringSecret>,
}

/// A replaced signing secret. It still signs for a while, so that receivers can switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiringSecret {
    /// The secret, encrypted.
    pub secret: Wrapped,
    /// End of the time in which the secret signs, exclusive.
    pub until: Timestamp,
}
