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
    /// Start of the current series of failures.
    pub failing_since: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// End of the newest successful attempt.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
}

/// The part of a webhook that a delivery needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Account of the webhook's key. Accounts share the dispatcher fairly.
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
    /// End of use, exclusive.
    pub until: Timestamp,
}
