//! Manage a key's webhooks and their deliveries. It is done after the request was admitted and counted, in a
//! transaction of its own: some of it takes a while, and nobody else's requests wait for it.

mod cursor;
mod deliveries;
mod revive;
mod rotate;

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, DisabledReason, EventKind, LastFailure, Refusal, Timestamp, Webhook, WebhookId,
    WebhookStatus,
    ports::{Durability, StoreError, WebhookLookup},
};
use serde::Serialize;

use crate::{Body, Credentials, Error, Limited, Sealpost, admission::Act};

pub use self::{
    cursor::{Cursor, CursorFault},
    deliveries::{Deliveries, DeliveriesPage, DeliveryState, DeliveryView},
    revive::{Enabled, Recover, Recovered, Redelivered},
    rotate::{Retiring, WebhookSecretRotated},
};

/// What to do with the key's webhooks.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(tag = "action", rename_all = "snake_case")]
pub enum Manage {
    /// Delete the one with this id.
    Delete {
        /// Which one.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
    /// Show what became of its deliveries.
    Deliveries(Deliveries),
    /// Send to it again, beginning with what waits.
    Enable {
        /// Which one.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
    /// Show all.
    List,
    /// Send again what failed since a time.
    Recover(Recover),
    /// Send one notice now, or once more.
    Redeliver {
        /// To which webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
        /// Of which envelope.
        #[schemars(length(min = 1))]
        envelope_id: String,
    },
    /// Give it a new secret; the old one signs along for a while.
    RotateSecret {
        /// Which one.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
}

/// What was done.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Managed {
    /// A webhook is gone, and so are its deliveries.
    Deleted(Deleted),
    /// A page of deliveries.
    Deliveries(DeliveriesPage),
    /// A webhook is enabled.
    Enabled(Enabled),
    /// All webhooks, oldest first.
    Listed {
        /// Without their secrets.
        webhooks: Vec<WebhookView>,
    },
    /// What failed is due now.
    Recovered(Recovered),
    /// A notice is due now.
    Redelivered(Redelivered),
    /// A webhook has a new secret.
    SecretRotated(WebhookSecretRotated),
}

/// A webhook that is gone.
#[derive(JsonSchema, Serialize)]
pub struct Deleted {
    /// Which one.
    pub webhook_id: WebhookId,
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub deleted: bool,
}

/// A webhook as its owner sees it.
#[derive(JsonSchema, Serialize)]
#[expect(missing_docs, reason = "the fields of a webhook")]
pub struct WebhookView {
    pub webhook_id: WebhookId,
    pub api_key_id: ApiKeyId,
    pub url: String,
    pub events: Vec<EventKind>,
    pub status: WebhookStatus,
    pub disabled_reason: Option<DisabledReason>,
    pub failing_since: Option<Timestamp>,
    pub created_at: Timestamp,
    pub last_success_at: Option<Timestamp>,
    pub last_failure: Option<LastFailure>,
}

impl Sealpost {
    /// Lists or changes the key's webhooks, and what waits for them.
    pub fn manage(&self, credentials: &Credentials, body: &Body<Manage>) -> Limited<Managed> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Manage, Durability::Relaxed, |_, _| Ok(body.clone()))
            .and_then(|asked| self.go_on(&caller.key, asked))
    }

    pub(crate) fn go_on(&self, key: &ApiKeyId, asked: Manage) -> Result<Managed, Error> {
        match asked {
            Manage::Delete { webhook_id } => self.delete(key, &webhook_id).map(Managed::Deleted),
            Manage::Deliveries(asked) => self.deliveries(key, &asked).map(Managed::Deliveries),
            Manage::Enable { webhook_id } => self.enable(key, &webhook_id).map(Managed::Enabled),
            Manage::List => self.list(key),
            Manage::Recover(asked) => self.recover(key, &asked).map(Managed::Recovered),
            Manage::Redeliver { webhook_id, envelope_id } => {
                self.redeliver(key, &webhook_id, &envelope_id).map(Managed::Redelivered)
            }
            Manage::RotateSecret { webhook_id } => {
                self.rotate_webhook_secret(key, &webhook_id).map(Managed::SecretRotated)
            }
        }
    }

    fn list(&self, key: &ApiKeyId) -> Result<Managed, Error> {
        let webhooks = self.core.store.lookup()?.list_webhooks(key)?;
        let webhooks = webhooks.into_iter().map(WebhookView::from).collect();
        Ok(Managed::Listed { webhooks })
    }

    fn delete(&self, key: &ApiKeyId, webhook_id: &str) -> Result<Deleted, Error> {
        let id = webhook_id.parse().map_err(|_malformed| Refusal::WebhookNotFound)?;
        let store = &self.core.store;
        if !store.write(Durability::Durable, |tx| tx.delete_webhook(key, &id))? {
            return Err(Refusal::WebhookNotFound.into());
        }
        Ok(Deleted { webhook_id: id, deleted: true })
    }
}

/// The key's webhook of this id, as it stands.
fn find(
    among: &mut (impl WebhookLookup + ?Sized),
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Result<Webhook, Refusal>, StoreError> {
    let Ok(id) = webhook_id.parse::<WebhookId>() else { return Ok(Err(Refusal::WebhookNotFound)) };
    let mut all = among.list_webhooks(key)?.into_iter();
    let found = all.find(|webhook| webhook.id == id);
    Ok(found.ok_or(Refusal::WebhookNotFound))
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        Self {
            webhook_id: webhook.id,
            api_key_id: webhook.api_key_id,
            url: webhook.url,
            events: webhook.events,
            status: webhook.status,
            disabled_reason: webhook.disabled_reason,
            failing_since: webhook.failing_since,
            created_at: webhook.created_at,
            last_success_at: webhook.last_success_at,
            last_failure: webhook.last_failure,
        }
    }
}
