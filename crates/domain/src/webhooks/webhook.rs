//! Webhooks: URLs of receivers for the events of an API key.

use crate::{
    AccountId, ApiKeyId, Description, DisabledReason, EventKind, LastFailure, Timestamp, WebhookId,
    WebhookStatus, Wrapped,
};

/// A webhook of an API key.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Public id of the webhook, with the prefix `wh_`.
    pub id: WebhookId,
    /// The API key whose events the webhook gets.
    pub api_key_id: ApiKeyId,
    /// The URL of the receiver in canonical form. It was checked at registration.
    pub url: String,
    /// Subscribed kinds of events.
    pub events: Vec<EventKind>,
    /// The owner's note about the webhook.
    pub description: Option<Description>,
    /// True if the owner paused the webhook. A paused webhook gets no events, whatever its status is.
    pub paused: bool,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced signing secrets that the service still signs with, newest first.
    pub retiring: Vec<RetiringSecret>,
    /// Enabled or disabled. A disabled webhook gets no events.
    pub status: WebhookStatus,
    /// The reason why the service disabled the webhook. `None` if the webhook is enabled, or if an operator disabled
    /// it.
    pub disabled_reason: Option<DisabledReason>,
    /// Time of the first failed attempt since the last success, or since the webhook was enabled. `None` if no attempt
    /// has failed since then.
    pub failing_since: Option<Timestamp>,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the newest successful attempt. `None` before the first success.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt. `None` if no attempt has ever failed.
    pub last_failure: Option<LastFailure>,
}

impl Webhook {
    /// Whether the receiver opens connections to the service, instead of having a URL.
    pub fn is_relay(&self) -> bool {
        self.url == RELAY_URL
    }

    /// Whether events are delivered to the webhook: it is enabled and not paused.
    pub fn is_active(&self) -> bool {
        self.status == WebhookStatus::Enabled && !self.paused
    }

    /// Returns the data for deliveries to this webhook. `account_id` is the account of its key.
    pub fn target(&self, account_id: AccountId) -> Target {
        Target {
            webhook_id: self.id,
            account_id,
            url: self.url.clone(),
            secret: self.secret.clone(),
            retiring: self.retiring.clone(),
        }
    }
}

/// The data of a webhook for its deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The account of the webhook's key. The dispatcher shares its capacity fairly among accounts.
    pub account_id: AccountId,
    /// The URL of the receiver in canonical form.
    pub url: String,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced signing secrets that the service still signs with, newest first.
    pub retiring: Vec<RetiringSecret>,
}

impl Target {
    /// Whether the receiver opens connections to the service, instead of having a URL.
    pub fn is_relay(&self) -> bool {
        self.url == RELAY_URL
    }
}

/// The URL of webhooks whose receiver opens connections to the service.
pub const RELAY_URL: &str = "relay:";

/// A replaced signing secret. For some time, requests are signed with both the replaced and the new secret, so
/// receivers have time to switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiringSecret {
    /// The signing secret, encrypted.
    pub secret: Wrapped,
    /// End of the time in which the service signs with the secret, exclusive.
    pub until: Timestamp,
}
