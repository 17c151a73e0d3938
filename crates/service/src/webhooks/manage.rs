//! Lists and changes the webhooks of a key and their deliveries.
//!
//! The first transaction admits and counts the request. This transaction locks rows that sends of the key need, so it
//! must be short. A second transaction makes the change, because some changes take long.

use schemars::JsonSchema;
use sealpost_domain::{
    ActivityKind, ApiKeyId, Refusal, RequestSource, WebhookId, ports::Durability,
};
use serde::Serialize;

use super::{
    deliveries::{Deliveries, DeliveriesPage},
    find::parse_id,
    redeliver::{Enabled, Recover, Recovered, Redelivered},
    rotate_secret::WebhookSecretRotated,
    update::{Update, Updated},
    view::WebhookView,
};
use crate::{
    account::activity::ActOrigin,
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// An action on the webhooks of a key.
#[derive(Debug, Clone)]
pub enum Manage {
    /// Deletes a webhook and its deliveries.
    Delete {
        /// Id of the webhook.
        webhook_id: String,
    },
    /// Lists the deliveries of a webhook.
    Deliveries(Deliveries),
    /// Enables a disabled webhook, and makes its pending deliveries due.
    Enable {
        /// Id of the webhook.
        webhook_id: String,
    },
    /// Lists all webhooks.
    List,
    /// Sends all events again that were not delivered in a time range.
    Recover(Recover),
    /// Sends one event now, even if the event was delivered before.
    Redeliver {
        /// Id of the webhook.
        webhook_id: String,
        /// Id of the event: the id of the envelope, or `evt_…` for other events.
        envelope_id: String,
    },
    /// Creates a new signing secret. For a limited time, the service signs with both the old and the new secret.
    RotateSecret {
        /// Id of the webhook.
        webhook_id: String,
    },
    /// Changes the URL, the events or the description of a webhook, or pauses or resumes it.
    Update(Update),
}

/// The result of an action on webhooks.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Managed {
    /// The webhook is deleted, with its deliveries.
    Deleted(Deleted),
    /// A page of deliveries.
    Deliveries(DeliveriesPage),
    /// The webhook is enabled.
    Enabled(Enabled),
    /// All webhooks, oldest first.
    Listed(WebhookList),
    /// The failed deliveries are due now.
    Recovered(Recovered),
    /// The delivery is due now.
    Redelivered(Redelivered),
    /// The webhook has a new secret.
    SecretRotated(WebhookSecretRotated),
    /// The webhook is changed.
    Updated(Updated),
}

/// All webhooks of a key.
#[derive(JsonSchema, Serialize)]
pub struct WebhookList {
    /// The webhooks, oldest first.
    pub webhooks: Vec<WebhookView>,
}

/// A deleted webhook.
#[derive(JsonSchema, Serialize)]
pub struct Deleted {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub deleted: bool,
}

impl Sealpost {
    /// Performs an action on the webhooks of the caller's key.
    pub async fn manage(
        &self,
        caller: &Caller,
        action: Manage,
        source: RequestSource,
    ) -> Limited<Managed> {
        self.run_as(caller, move |core, caller| {
            let origin = caller.act_from(&source);
            core.admitted(caller, Purpose::Manage, Durability::Relaxed, |_, _| Ok(()))
                .and_then(|()| core.manage_admitted(&caller.id.key, action, &origin))
        })
        .await
    }
}

impl Core {
    /// Performs an action for an admitted caller, or for the owner of the account.
    pub(crate) fn manage_admitted(
        &self,
        key: &ApiKeyId,
        action: Manage,
        origin: &ActOrigin,
    ) -> Result<Managed, Error> {
        match action {
            Manage::Delete { webhook_id } => {
                self.delete_webhook(key, &webhook_id, origin).map(Managed::Deleted)
            }
            Manage::Deliveries(query) => self.deliveries(key, &query).map(Managed::Deliveries),
            Manage::Enable { webhook_id } => {
                self.enable_webhook(key, &webhook_id).map(Managed::Enabled)
            }
            Manage::List => self.list_webhooks(key).map(Managed::Listed),
            Manage::Recover(query) => self.recover(key, &query).map(Managed::Recovered),
            Manage::Redeliver { webhook_id, envelope_id } => {
                self.redeliver(key, &webhook_id, &envelope_id).map(Managed::Redelivered)
            }
            Manage::RotateSecret { webhook_id } => {
                self.rotate_webhook_secret(key, &webhook_id, origin).map(Managed::SecretRotated)
            }
            Manage::Update(update) => {
                self.update_webhook(key, update, origin).map(Managed::Updated)
            }
        }
    }

    fn list_webhooks(&self, key: &ApiKeyId) -> Result<WebhookList, Error> {
        let webhooks = self.store.read(|reader| reader.list_webhooks(key))?;
        Ok(WebhookList { webhooks: self.webhook_views(webhooks)? })
    }

    fn delete_webhook(
        &self,
        key: &ApiKeyId,
        webhook_id: &str,
        origin: &ActOrigin,
    ) -> Result<Deleted, Error> {
        let id = parse_id(webhook_id)?;
        let now = self.clock.now();
        let is_deleted = self.store.write(Durability::Durable, |tx| {
            if !tx.delete_webhook(key, &id, now)? {
                return Ok(false);
            }
            let detail = Some(format!("{id} of {key}"));
            self.record(tx, origin, ActivityKind::WebhookDeleted, detail)?;
            Ok(true)
        })?;
        if !is_deleted {
            return Err(Refusal::WebhookNotFound.into());
        }
        Ok(Deleted { webhook_id: id, deleted: true })
    }
}
