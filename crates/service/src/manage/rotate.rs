//! Give a webhook a new signing secret. The ones before sign along for a while, so that its receiver can change
//! over whenever it likes.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Refusal, RetiringSecret, Timestamp, WebhookId, Wrapped,
    ports::{Durability, StoreError},
};
use sealpost_wallet::WebhookSecret;
use serde::Serialize;

use crate::{Error, Sealpost};

/// A webhook that has a new secret.
#[derive(JsonSchema, Serialize)]
pub struct WebhookSecretRotated {
    /// Which one.
    pub webhook_id: WebhookId,
    /// What notices are signed with from now on; shown this once.
    pub secret: String,
    /// The secrets that sign along, newest first.
    pub retiring: Vec<Retiring>,
}

/// A secret that signs along.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Retiring {
    /// From when on it signs no more.
    pub expires_at: Timestamp,
}

impl Sealpost {
    pub(super) fn rotate_webhook_secret(
        &self,
        key: &ApiKeyId,
        webhook_id: &str,
    ) -> Result<WebhookSecretRotated, Error> {
        let id = webhook_id.parse().map_err(|_malformed| Refusal::WebhookNotFound)?;
        let fresh = WebhookSecret::generate()?;
        let wrapped = fresh.wrap(&self.core.keyring, &id)?;
        let retiring = self.core.store.write(Durability::Durable, |tx| {
            let Some(webhook) = tx.lock_webhook(key, &id)? else {
                return Ok(Err(Refusal::WebhookNotFound));
            };
            let retiring = self.retire(webhook.secret, webhook.retiring);
            tx.set_secrets(&id, &wrapped, &retiring)?;
            Ok::<_, StoreError>(Ok(retiring))
        });
        let expiry = |secret: RetiringSecret| Retiring { expires_at: secret.until };
        Ok(WebhookSecretRotated {
            webhook_id: id,
            secret: fresh.expose().to_string(),
            retiring: retiring??.into_iter().map(expiry).collect(),
        })
    }

    /// The newest few, without those whose time is over. Each is encrypted for its webhook and stays as it is.
    fn retire(&self, replaced: Wrapped, mut before: Vec<RetiringSecret>) -> Vec<RetiringSecret> {
        let now = self.core.clock.now();
        let until = now.plus(self.core.settings.secret_overlap);
        before.insert(0, RetiringSecret { secret: replaced, until });
        before.retain(|secret| secret.until > now);
        before.truncate(self.core.settings.retiring_secrets_max);
        before
    }
}
