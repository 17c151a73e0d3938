//! Changes webhooks: their URL, events, description and signing secret. Also pauses, disables and deletes webhooks.
//!
//! For some time after a signing secret is replaced, the service signs each request with both secrets. The receiver can
//! switch to the new secret at any moment of this time.

use schemars::JsonSchema;
use sealpost_domain::{
    ActivityKind, Description, Refusal, RetiringSecret, Timestamp, Webhook, WebhookId,
    WebhookStatus, Wrapped,
};
use sealpost_wallet::WebhookSecret;
use serde::Serialize;
use serde_json::json;

use crate::{
    acts::{
        actor::{ActRequest, Actor},
        audited::{ActionRecord, Concerned, Operator, OperatorError},
    },
    caller::admission::{Limited, Purpose},
    error::Error,
    webhooks::{
        Webhooks,
        view::{WebhookView, find, parse_id, view},
    },
};

/// The changes of a webhook. A field with the value `None` changes nothing.
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

/// A deleted webhook.
#[derive(JsonSchema, Serialize)]
pub struct Deleted {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub deleted: bool,
}

impl Webhooks {
    /// Changes the URL, the events or the description of a webhook. Also pauses or resumes the webhook. Refuses an
    /// unknown webhook, an unknown event, and a URL that is not allowed.
    pub async fn update(&self, actor: &Actor, update: Update) -> Limited<Updated> {
        let update =
            |webhooks: &Self, request: &ActRequest| webhooks.update_blocking(request, update);
        self.core.act(self, actor, Purpose::Manage, update).await
    }

    /// Creates a new signing secret. For a limited time, the service signs with both the old and the new secret.
    /// Refuses an unknown webhook. Also refuses if the maximum number of replaced secrets still sign.
    pub async fn rotate_secret(
        &self,
        actor: &Actor,
        webhook_id: String,
    ) -> Limited<WebhookSecretRotated> {
        let rotate = move |webhooks: &Self, request: &ActRequest| {
            let id = parse_id(&webhook_id)?;
            let fresh = WebhookSecret::generate()?;
            let wrapped = fresh.wrap(&webhooks.core.keyring, &id)?;
            let retiring = request.write(|tx| {
                let found = tx.lock_webhook(request.key(), &id)?;
                let webhook = found.ok_or(Refusal::WebhookNotFound)?;
                let retiring = webhooks.retire(webhook.secret, webhook.retiring)?;
                tx.set_secrets(&id, &wrapped, &retiring)?;
                let detail = format!("signing secret of {id}");
                request.record(tx, ActivityKind::SecretReplaced, detail)?;
                Ok(retiring)
            })?;
            let expiry = |secret: RetiringSecret| Retiring { expires_at: secret.until };
            Ok(WebhookSecretRotated {
                webhook_id: id,
                secret: fresh.expose().to_string(),
                retiring: retiring.into_iter().map(expiry).collect(),
            })
        };
        self.core.act(self, actor, Purpose::Manage, rotate).await
    }

    /// Deletes a webhook and its deliveries. Refuses an unknown webhook.
    pub async fn delete(&self, actor: &Actor, webhook_id: String) -> Limited<Deleted> {
        let delete = move |Self { core, .. }: &Self, request: &ActRequest| {
            let (key, id) = (request.key(), parse_id(&webhook_id)?);
            let now = core.clock.now();
            request.write(|tx| {
                if !tx.delete_webhook(key, &id, now)? {
                    return Err(Refusal::WebhookNotFound.into());
                }
                Ok(request.record(tx, ActivityKind::WebhookDeleted, format!("{id} of {key}"))?)
            })?;
            Ok(Deleted { webhook_id: id, deleted: true })
        };
        self.core.act(self, actor, Purpose::Inspect, delete).await
    }
}

impl Operator {
    /// Disables a webhook. Its deliveries wait until the owner enables the webhook again. The entry in the audit trail
    /// does not contain the URL, because entries can never be deleted. Fails if the webhook does not exist or is
    /// already disabled.
    pub fn disable_webhook(&self, id: &WebhookId) -> Result<WebhookView, OperatorError> {
        self.perform(|tx| {
            let found = tx.lock_webhook_of_any_key(id)?;
            let mut webhook = found.ok_or(OperatorError::NotFound("such webhook"))?;
            if webhook.status == WebhookStatus::Disabled {
                return Err(OperatorError::Pointless("the webhook is already disabled").into());
            }
            tx.disable_webhook(id, self.clock.now())?;
            webhook.status = WebhookStatus::Disabled;
            let detail = json!({"api_key_id": webhook.api_key_id});
            let concerned = Concerned::Key(webhook.api_key_id);
            let view = view(tx, webhook, self.clock.now())?;
            Ok((view, ActionRecord::new("webhook.disable", id, concerned, detail)))
        })
    }
}

impl Webhooks {
    /// Changes a webhook. Checks the URL before the transaction, because a DNS look-up must not keep a transaction
    /// open.
    ///
    /// If `paused` is false and the webhook is enabled, also makes its pending deliveries due, in further transactions.
    /// This happens even if the webhook was not paused: an earlier request may have resumed it and then failed before
    /// this step.
    fn update_blocking(&self, request: &ActRequest, update: Update) -> Result<Updated, Error> {
        let key = request.key();
        let Update { webhook_id, url, events, description, paused } = update;
        let events = events.map(|names| self.find_events(&names)).transpose()?;
        let id = self.core.store.read(|reader| find(reader, key, &webhook_id))?.id;
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
        let webhook = request.write(|tx| {
            let before = tx.lock_webhook(key, &id)?.ok_or(Refusal::WebhookNotFound)?;
            let mut webhook = before.clone();
            apply(&mut webhook);
            tx.update_webhook(&webhook)?;
            // Failures of the old URL, and the time of the pause without attempts, must not disable the webhook.
            if webhook.url != before.url || (before.paused && !webhook.paused) {
                tx.reset_failures(&id)?;
            }
            request.record(tx, ActivityKind::WebhookUpdated, format!("{id} of {key}"))?;
            self.view(tx, key, &webhook_id)
        })?;
        if paused == Some(false) && webhook.status == WebhookStatus::Enabled {
            self.make_pending_due(&id);
        }
        Ok(Updated { webhook, warning })
    }

    /// Adds `replaced` to the replaced secrets in `before`, and removes expired ones. Returns the replaced secrets with
    /// which the service still signs, newest first. Refuses more than the maximum number of them: the oldest one is not
    /// removed early, because the service has promised to sign with each secret until its expiry.
    fn retire(
        &self,
        replaced: Wrapped,
        mut before: Vec<RetiringSecret>,
    ) -> Result<Vec<RetiringSecret>, Refusal> {
        let now = self.core.clock.now();
        let until = now.plus(self.core.settings.secret_overlap);
        before.insert(0, RetiringSecret { secret: replaced, until });
        before.retain(|secret| secret.until > now);
        let limit = self.core.settings.retiring_secrets_max;
        match before.last() {
            Some(oldest) if before.len() > limit => {
                Err(Refusal::RetiringSecrets { limit, possible_at: oldest.until })
            }
            _ => Ok(before),
        }
    }
}
