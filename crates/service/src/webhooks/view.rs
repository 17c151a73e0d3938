//! A webhook as its owner sees it, the search for one webhook, and the number of waiting envelopes. An envelope waits
//! if its recipient has no webhook for received envelopes.

use std::{collections::HashMap, slice};

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Description, DisabledReason, EventKind, LastFailure, Refusal, Timestamp, Webhook,
    WebhookId, WebhookStatus, ports::StoreError,
};
use sealpost_storage::{Abort, Reader};
use serde::Serialize;

use super::Webhooks;
use crate::{
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
    sealpost::core::Core,
};

/// A webhook without its secrets.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct WebhookView {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The API key whose events the webhook gets.
    pub api_key_id: ApiKeyId,
    /// The URL that gets the events, or `relay:`.
    pub url: String,
    /// The kinds of events that the webhook gets.
    pub events: Vec<EventKind>,
    /// The owner's description of the webhook; null if there is none.
    pub description: Option<Description>,
    /// Whether the webhook gets events.
    pub status: WebhookStatus,
    /// Whether the owner paused the webhook. A paused webhook gets no events, whatever its status is.
    pub paused: bool,
    /// The reason why the service disabled the webhook; null if it is enabled, or if an operator disabled it.
    pub disabled_reason: Option<DisabledReason>,
    /// Time since which all attempts have failed; null if the newest attempt succeeded.
    pub failing_since: Option<Timestamp>,
    /// Time of the registration.
    pub created_at: Timestamp,
    /// Time of the newest successful attempt; null if none has succeeded.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt; null if there was none.
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

    fn new(webhook: Webhook, relays: &HashMap<WebhookId, u64>) -> Self {
        let connected =
            webhook.is_relay().then(|| relays.get(&webhook.id).copied().unwrap_or_default());
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

impl Webhooks {
    /// Lists all webhooks of the actor's key.
    pub async fn list(&self, actor: &Actor) -> Limited<WebhookList> {
        let list = |Self { core, .. }: &Self, request: &ActRequest| {
            let webhooks = core.store.read(|reader| {
                let webhooks = reader.list_webhooks(request.key())?;
                views(reader, webhooks, core.clock.now())
            })?;
            Ok(WebhookList { webhooks })
        };
        self.core.act(self, actor, Purpose::Inspect, list).await
    }

    /// Returns the webhook with this id as its owner sees it. Refuses a malformed or unknown id, and the id of another
    /// key's webhook.
    pub(crate) fn view(
        &self,
        reader: &mut Reader,
        key: &ApiKeyId,
        webhook_id: &str,
    ) -> Result<WebhookView, Abort> {
        let webhook = find(reader, key, webhook_id)?;
        Ok(view(reader, webhook, self.core.clock.now())?)
    }
}

/// Returns webhooks as their owner sees them.
pub(crate) fn views(
    reader: &mut Reader,
    webhooks: Vec<Webhook>,
    now: Timestamp,
) -> Result<Vec<WebhookView>, StoreError> {
    let relays = count_relays(reader, &webhooks, now)?;
    Ok(webhooks.into_iter().map(|webhook| WebhookView::new(webhook, &relays)).collect())
}

/// Returns a webhook as its owner sees it.
pub(crate) fn view(
    reader: &mut Reader,
    webhook: Webhook,
    now: Timestamp,
) -> Result<WebhookView, StoreError> {
    let relays = count_relays(reader, slice::from_ref(&webhook), now)?;
    Ok(WebhookView::new(webhook, &relays))
}

/// Counts the open connections of each relay among the webhooks. The result omits relays without connections.
fn count_relays(
    reader: &mut Reader,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<HashMap<WebhookId, u64>, StoreError> {
    let relays = webhooks.iter().filter(|webhook| webhook.is_relay());
    let relays: Vec<_> = relays.map(|webhook| webhook.id).collect();
    if relays.is_empty() {
        return Ok(HashMap::new());
    }
    let now = reader.shared_time(now)?;
    reader.count_relays(&relays, now)
}

/// Returns the webhook of the key with this id. Refuses a malformed or unknown id, and the id of another key's webhook.
pub(crate) fn find(
    reader: &mut Reader,
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Webhook, Abort> {
    let id = parse_id(webhook_id)?;
    let mut all = reader.list_webhooks(key)?.into_iter();
    let found = all.find(|webhook| webhook.id == id);
    Ok(found.ok_or(Refusal::WebhookNotFound)?)
}

/// Parses the id of a webhook. Refuses a malformed id like an unknown one.
pub(crate) fn parse_id(webhook_id: &str) -> Result<WebhookId, Refusal> {
    webhook_id.parse().map_err(|_malformed| Refusal::for_id(webhook_id, Refusal::WebhookNotFound))
}

/// The number of waiting envelopes of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WaitingCount {
    /// Number of envelopes that wait for a webhook of the key, at most 10,000.
    pub waiting: u64,
    /// Whether more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

/// The choice at the registration of a key's first webhook: deliver or skip the envelopes that the key has received
/// without a webhook for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitingChoice {
    /// The webhook receives the waiting envelopes, oldest first.
    #[default]
    Deliver,
    /// No webhook receives the waiting envelopes.
    Skip,
}

impl WaitingCount {
    /// Creates the count. `counted` is the number of envelopes found; the search stops at `max` plus one.
    pub(crate) fn new(counted: u64, max: u32) -> Self {
        let max = u64::from(max);
        Self { waiting: counted.min(max), waiting_more: counted > max }
    }
}

/// Counts the envelopes that wait for a webhook of a key, at most
/// [`waiting_counted_max`](crate::Settings::waiting_counted_max).
pub(crate) fn count_waiting(
    core: &Core,
    reader: &mut Reader,
    key: &ApiKeyId,
) -> Result<WaitingCount, StoreError> {
    let max = core.settings.waiting_counted_max;
    let oldest = core.kept_since(core.clock.now());
    Ok(WaitingCount::new(reader.count_waiting(key, oldest, max.saturating_add(1))?, max))
}
