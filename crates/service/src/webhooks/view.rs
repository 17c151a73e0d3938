//! A webhook, as its owner sees it.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Description, DisabledReason, EventKind, LastFailure, Timestamp, Webhook, WebhookId,
    WebhookStatus, ports::StoreError,
};
use serde::Serialize;

use crate::{
    acts::actor::Actor,
    caller::{admission::Purpose, limited::Limited},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

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
    /// Number of connections of a relay, over all nodes; `null` for a webhook with another URL.
    pub connected: Option<u64>,
}

/// All webhooks of a key.
#[derive(JsonSchema, Serialize)]
pub struct WebhookList {
    /// The webhooks, oldest first.
    pub webhooks: Vec<WebhookView>,
}

impl WebhookView {
    /// Returns the description as text. Empty if there is none.
    pub fn description_text(&self) -> &str {
        self.description.as_ref().map_or("", Description::as_str)
    }
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        let connected = webhook.is_relay().then_some(0);
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
            connected,
            last_failure: webhook.last_failure,
        }
    }
}

impl Sealpost {
    /// Lists all webhooks of the actor's key.
    pub async fn list_webhooks(&self, actor: &Actor) -> Limited<WebhookList> {
        self.act(actor, Purpose::Inspect, |core, actor| core.list_webhooks(actor.key())).await
    }
}

impl Core {
    fn list_webhooks(&self, key: &ApiKeyId) -> Result<WebhookList, Error> {
        let webhooks = self.store.read(|reader| reader.list_webhooks(key))?;
        Ok(WebhookList { webhooks: self.webhook_views(webhooks)? })
    }

    /// Returns the webhooks as their owner sees them, with the number of connections of each relay.
    pub(crate) fn webhook_views(
        &self,
        webhooks: Vec<Webhook>,
    ) -> Result<Vec<WebhookView>, StoreError> {
        let relays = webhooks.iter().filter(|webhook| webhook.is_relay());
        let relays: Vec<_> = relays.map(|webhook| webhook.id).collect();
        let mut views: Vec<_> = webhooks.into_iter().map(WebhookView::from).collect();
        if !relays.is_empty() {
            let counts =
                self.store.read(|reader| reader.count_relays(&relays, self.clock.now()))?;
            for view in views.iter_mut().filter(|view| view.connected.is_some()) {
                view.connected = counts.get(&view.webhook_id).copied().or(Some(0));
            }
        }
        Ok(views)
    }
}
