//! Changes webhooks: their URL, events and description, and whether they are paused.

use schemars::JsonSchema;
use sealpost_domain::{ActivityKind, ApiKeyId, Description, Refusal, Webhook, ports::Durability};
use serde::Serialize;

use super::{find::find, view::WebhookView};
use crate::{account::activity::ActOrigin, error::Error, sealpost::core::Core};

/// The changes of a webhook. `None` leaves a value as it is.
#[derive(Debug, Clone)]
pub struct Update {
    /// Id of the webhook.
    pub webhook_id: String,
    /// The new URL.
    pub url: Option<String>,
    /// The names of the events that replace the present ones.
    pub events: Option<Vec<String>>,
    /// The new description; the inner `None` removes the description.
    pub description: Option<Option<Description>>,
    /// True to pause the webhook, false to resume it.
    pub paused: Option<bool>,
}

/// A changed webhook.
#[derive(JsonSchema, Serialize)]
pub struct Updated {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// A problem that the owner should know, such as a host name that does not resolve yet; `null` if there is none.
    pub warning: Option<String>,
}

impl Core {
    /// Changes a webhook. The URL is checked before the transaction, because a DNS look-up must not keep a transaction
    /// open. Resuming makes the pending deliveries due in further transactions, as enabling does.
    pub(super) fn update_webhook(
        &self,
        key: &ApiKeyId,
        update: Update,
        origin: &ActOrigin,
    ) -> Result<Updated, Error> {
        let Update { webhook_id, url, events, description, paused } = update;
        let events = events.map(|names| self.find_events(&names)).transpose()?;
        let id = self.store.read(|reader| find(reader, key, &webhook_id))?.id;
        let (url, warning) = match url.map(|url| self.vet_url(&url)).transpose()? {
            Some((url, warning)) => (Some(url), warning),
            None => (None, None),
        };
        let apply = |webhook: &mut Webhook| {
            webhook.url = url.clone().unwrap_or_else(|| webhook.url.clone());
            webhook.events = events.clone().unwrap_or_else(|| webhook.events.clone());
            webhook.description =
                description.clone().unwrap_or_else(|| webhook.description.clone());
            webhook.paused = paused.unwrap_or(webhook.paused);
        };
        let (webhook, is_resumed) = self.store.write_or_refuse(Durability::Durable, |tx| {
            let Some(mut webhook) = tx.lock_webhook(key, &id)? else {
                return Err(Refusal::WebhookNotFound.into());
            };
            let was_active = webhook.is_active();
            apply(&mut webhook);
            tx.update_webhook(&webhook)?;
            let detail = Some(format!("{id} of {key}"));
            self.record(tx, origin, ActivityKind::WebhookUpdated, detail)?;
            let is_resumed = !was_active && webhook.is_active();
            Ok((webhook, is_resumed))
        })?;
        if is_resumed {
            self.make_pending_due(&id)?;
        }
        let views = self.webhook_views(vec![webhook])?;
        let webhook = views.into_iter().next().ok_or(Refusal::WebhookNotFound)?;
        Ok(Updated { webhook, warning })
    }
}
