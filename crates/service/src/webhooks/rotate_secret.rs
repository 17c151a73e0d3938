//! Replaces the signing secret of a webhook. For a time, the service signs requests with the replaced secrets too, so
//! that the receiver can switch to the new secret at any moment.

use schemars::JsonSchema;
use sealpost_domain::{
    ActivityKind, ApiKeyId, Refusal, RetiringSecret, Timestamp, WebhookId, Wrapped,
    ports::Durability,
};
use sealpost_wallet::WebhookSecret;
use serde::Serialize;

use super::find::parse_id;
use crate::{account::activity::ActOrigin, error::Error, sealpost::core::Core};

/// A webhook with a new secret.
#[derive(JsonSchema, Serialize)]
pub struct WebhookSecretRotated {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The new signing secret, shown only in this response.
    pub secret: String,
    /// Replaced secrets with which the service still signs, newest first.
    pub retiring: Vec<Retiring>,
}

/// A replaced secret with which the service still signs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Retiring {
    /// Time from which the service no longer signs with the secret.
    pub expires_at: Timestamp,
}

impl Core {
    pub(super) fn rotate_webhook_secret(
        &self,
        key: &ApiKeyId,
        webhook_id: &str,
        origin: &ActOrigin,
    ) -> Result<WebhookSecretRotated, Error> {
        let id = parse_id(webhook_id)?;
        let fresh = WebhookSecret::generate()?;
        let wrapped = fresh.wrap(&self.keyring, &id)?;
        let retiring = self.store.write_or_refuse(Durability::Durable, |tx| {
            let Some(webhook) = tx.lock_webhook(key, &id)? else {
                return Err(Refusal::WebhookNotFound.into());
            };
            let retiring = self.retire(webhook.secret, webhook.retiring)?;
            tx.set_secrets(&id, &wrapped, &retiring)?;
            let detail = Some(format!("signing secret of {id}"));
            self.record(tx, origin, ActivityKind::SecretReplaced, detail)?;
            Ok(retiring)
        })?;
        let expiry = |secret: RetiringSecret| Retiring { expires_at: secret.until };
        Ok(WebhookSecretRotated {
            webhook_id: id,
            secret: fresh.expose().to_string(),
            retiring: retiring.into_iter().map(expiry).collect(),
        })
    }

    /// Returns the replaced secrets with which the service still signs, newest first. Drops expired secrets. Refuses more
    /// secrets than the maximum number, because each secret was promised to sign until its expiry.
    fn retire(
        &self,
        replaced: Wrapped,
        mut before: Vec<RetiringSecret>,
    ) -> Result<Vec<RetiringSecret>, Refusal> {
        let now = self.clock.now();
        let until = now.plus(self.settings.secret_overlap);
        before.insert(0, RetiringSecret { secret: replaced, until });
        before.retain(|secret| secret.until > now);
        let limit = self.settings.retiring_secrets_max;
        match before.last() {
            Some(oldest) if before.len() > limit => {
                Err(Refusal::RetiringSecrets { limit, possible_at: oldest.until })
            }
            _ => Ok(before),
        }
    }
}
