//! The webhooks of an API key.

use std::{fmt, sync::Arc};

use sealpost_domain::{
    ApiKeyId, DisabledReason, EventKind, LastFailure, Timestamp, WebhookId, WebhookStatus,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{client::Client, error::ClientError, transport::Transport};

impl Client {
    /// Returns the operations of webhooks.
    pub fn webhooks(&self) -> Webhooks {
        Webhooks(Arc::clone(&self.transport))
    }
}

/// The webhooks of the client's API key.
#[derive(Debug, Clone)]
pub struct Webhooks(pub(crate) Arc<Transport>);

impl Webhooks {
    /// Registers a webhook. Only this response contains the signing secret. The webhook also gets the events of waiting
    /// envelopes, which arrived while the key had no webhook.
    pub async fn register(
        &self,
        url: &str,
        events: &[EventKind],
    ) -> Result<Registered, ClientError> {
        let webhook = NewWebhook { url, events, ..NewWebhook::default() };
        self.register_with(&webhook).await
    }

    /// Registers a webhook with all its choices, such as a description, or without the events of waiting envelopes.
    pub async fn register_with(&self, webhook: &NewWebhook<'_>) -> Result<Registered, ClientError> {
        self.0.post("/v1/webhooks/register", webhook).await
    }

    /// Changes a webhook. The id, the secret and the log of the webhook stay. The change takes effect within two
    /// seconds.
    pub async fn update(
        &self,
        webhook_id: WebhookId,
        changes: &WebhookChanges,
    ) -> Result<UpdatedWebhook, ClientError> {
        let body = WithWebhook { webhook_id, members: changes };
        self.0.post("/v1/webhooks/update", &body).await
    }

    /// Pauses a webhook. The service keeps the deliveries until the webhook is resumed, but not longer than the
    /// retention period (the time for which the service stores envelopes).
    pub async fn pause(&self, webhook_id: WebhookId) -> Result<UpdatedWebhook, ClientError> {
        let changes = WebhookChanges { paused: Some(true), ..WebhookChanges::default() };
        self.update(webhook_id, &changes).await
    }

    /// Resumes a paused webhook. The service sends the waiting deliveries at once.
    pub async fn resume(&self, webhook_id: WebhookId) -> Result<UpdatedWebhook, ClientError> {
        let changes = WebhookChanges { paused: Some(false), ..WebhookChanges::default() };
        self.update(webhook_id, &changes).await
    }

    /// Returns all webhooks, oldest first.
    pub async fn list(&self) -> Result<Vec<WebhookView>, ClientError> {
        let list: WebhookList = self.0.post("/v1/webhooks/list", &json!({})).await?;
        Ok(list.webhooks)
    }

    /// Deletes a webhook and its deliveries.
    pub async fn delete(&self, webhook_id: WebhookId) -> Result<(), ClientError> {
        let body = json!({"webhook_id": webhook_id});
        self.0.post::<Value>("/v1/webhooks/delete", &body).await.map(drop)
    }

    /// Enables a disabled webhook. The service sends its pending deliveries at once.
    pub async fn enable(&self, webhook_id: WebhookId) -> Result<EnabledWebhook, ClientError> {
        self.0.post("/v1/webhooks/enable", &json!({"webhook_id": webhook_id})).await
    }

    /// Replaces the signing secret. For a day, events carry signatures by both the old and the new secret.
    pub async fn rotate_secret(
        &self,
        webhook_id: WebhookId,
    ) -> Result<RotatedWebhookSecret, ClientError> {
        self.0.post("/v1/webhooks/rotate-secret", &json!({"webhook_id": webhook_id})).await
    }
}

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
    /// A problem with the URL, such as a host name that does not resolve yet. `None` if there is none.
    pub warning: Option<String>,
    /// Number of waiting envelopes whose events the new webhook gets. The service counts them up to a maximum.
    pub waiting: u64,
    /// True if more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("webhook_id", &self.webhook_id).finish_non_exhaustive()
    }
}

/// The changes of a webhook. A field that is `None` changes nothing.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WebhookChanges {
    /// The new URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The kinds of events that replace the present ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventKind>>,
    /// The new note. `Some(None)` removes the note, and `None` keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    /// True to pause the webhook, false to resume it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// The body of a request about one webhook.
#[derive(Serialize)]
pub(super) struct WithWebhook<T> {
    pub(super) webhook_id: WebhookId,
    #[serde(flatten)]
    pub(super) members: T,
}

/// The response to a change of a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdatedWebhook {
    /// The webhook after the change.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// A problem with the URL, such as a host name that does not resolve yet. `None` if there is none.
    pub warning: Option<String>,
}

/// The response to [`Webhooks::enable`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnabledWebhook {
    /// The webhook after it was enabled.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// Number of pending deliveries that this request made due now.
    pub due_now: u64,
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
    /// Time of the first failed attempt since the last success. `None` if no attempt has failed since the last success.
    pub failing_since: Option<Timestamp>,
    /// Time at which the webhook was registered.
    pub created_at: Timestamp,
    /// Time of the newest successful delivery. `None` if no delivery has succeeded.
    pub last_success_at: Option<Timestamp>,
    /// The last failed attempt. `None` if no attempt has failed.
    pub last_failure: Option<LastFailure>,
    /// Number of connections of receivers if the URL is `relay:`. `None` for other URLs.
    pub connected: Option<u64>,
}

#[derive(Deserialize)]
struct WebhookList {
    webhooks: Vec<WebhookView>,
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
