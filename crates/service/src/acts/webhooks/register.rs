//! Registers webhooks.

use schemars::JsonSchema;
use sealpost_domain::{
    ActivityKind, ApiKeyId, Description, EventKind, Refusal, Timestamp, Webhook, WebhookId,
    WebhookStatus, ports::VettedUrl,
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::{WebhookSecret, random};
use serde::Serialize;

use crate::{
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
    error::Error,
    webhooks::{
        Webhooks,
        view::{WaitingChoice, WaitingCount, count_waiting},
    },
};

/// A webhook to register.
#[derive(Clone)]
pub struct Register {
    /// An https URL that leads to a public address.
    pub url: String,
    /// The events to deliver.
    pub events: Vec<EventKind>,
    /// The owner's note about the webhook.
    pub description: Option<Description>,
    /// Decides if the envelopes that wait for the key's first webhook are delivered or skipped.
    pub waiting: WaitingChoice,
}

/// A new webhook.
#[derive(JsonSchema, Serialize)]
pub struct Registered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The key whose events are delivered.
    pub api_key_id: ApiKeyId,
    /// The URL that receives the events.
    pub url: String,
    /// The events to deliver.
    pub events: Vec<EventKind>,
    /// The owner's note about the webhook; `null` if there is none.
    pub description: Option<Description>,
    /// The signing secret, shown only in this response.
    pub secret: String,
    /// Always `enabled`.
    pub status: WebhookStatus,
    /// Time of registration.
    pub created_at: Timestamp,
    /// A problem that the owner should know, such as a host name that does not resolve yet; `null` if there is none.
    pub warning: Option<String>,
    /// The number of waiting envelopes that the webhook will receive.
    #[serde(flatten)]
    pub waiting: WaitingCount,
}

impl Webhooks {
    /// Returns the kinds of events that a new webhook can name.
    pub fn event_kinds(&self) -> Vec<EventKind> {
        self.core.settings.events.kinds().collect()
    }

    /// Checks the text of a webhook's URL, without a DNS look-up.
    pub fn check_url(&self, url: &str) -> Result<(), Refusal> {
        self.guard.check(url).map_err(invalid_url)
    }

    /// Registers a webhook for the actor's key. Refuses a URL that is not allowed, and an unknown kind of event. Also
    /// refuses if the key has the maximum number of webhooks.
    pub async fn register(&self, actor: &Actor, register: Register) -> Limited<Registered> {
        let register =
            |webhooks: &Self, request: &ActRequest| webhooks.register_blocking(request, register);
        self.core.act(self, actor, Purpose::Execute, register).await
    }

    /// Returns the kinds of events with these names. A repeated name counts once. Refuses an unknown name.
    pub fn find_events(&self, names: &[String]) -> Result<Vec<EventKind>, Refusal> {
        let mut events = Vec::new();
        for name in names {
            let event = self.core.settings.events.find(name).map_err(invalid_events)?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// Registers a webhook. An earlier transaction has checked the actor. Checks the URL before the next transaction
    /// begins, because a DNS look-up must not keep a transaction open.
    fn register_blocking(
        &self,
        request: &ActRequest,
        register: Register,
    ) -> Result<Registered, Error> {
        let key = request.key();
        for kind in &register.events {
            self.core.settings.events.find(kind.as_str()).map_err(invalid_events)?;
        }
        // The limit is also checked before the DNS look-up, because the look-up can take seconds.
        let webhooks = self.core.store.read(|reader| reader.list_webhooks(key))?;
        self.check_webhook_limit(&webhooks)?;
        let (url, warning) = self.vet_url(&register.url)?;
        let secret = WebhookSecret::generate()?;
        let now = self.core.clock.now();
        let id = WebhookId::new(now, random()?);
        let webhook = Webhook {
            id,
            api_key_id: *key,
            url,
            events: register.events,
            secret: secret.wrap(&self.core.keyring, &id)?,
            retiring: Vec::new(),
            status: WebhookStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            description: register.description,
            paused: false,
            created_at: now,
            last_success_at: None,
            last_failure: None,
        };
        let choice = register.waiting;
        let waiting = request.write(|tx| {
            let waiting = self.insert_webhook(tx, &webhook, choice)?;
            request.record(tx, ActivityKind::WebhookRegistered, format!("{id} of {key}"))?;
            Ok(waiting)
        })?;
        Ok(Registered {
            webhook_id: id,
            api_key_id: *key,
            url: webhook.url,
            events: webhook.events,
            description: webhook.description,
            secret: secret.expose().to_string(),
            status: webhook.status,
            created_at: now,
            warning,
            waiting,
        })
    }

    /// Checks a URL. Returns its canonical form, and a warning if its host name does not resolve yet.
    pub(super) fn vet_url(&self, url: &str) -> Result<(String, Option<String>), Refusal> {
        let VettedUrl { url, unresolved } = self.guard.vet(url).map_err(invalid_url)?;
        let warning = unresolved.map(|name| {
            format!("the host name {name} does not resolve yet; attempts fail until it does")
        });
        Ok((url, warning))
    }

    /// Inserts a webhook, and returns the number of waiting envelopes that it will receive. The transaction must have
    /// locked the key, so that concurrent registrations wait and cannot exceed the maximum number of webhooks. A
    /// concurrent revocation either deletes the webhook or prevents its insertion.
    fn insert_webhook(
        &self,
        tx: &mut Transaction,
        webhook: &Webhook,
        choice: WaitingChoice,
    ) -> Result<WaitingCount, Abort> {
        let key = webhook.api_key_id;
        let others = tx.list_webhooks(&key)?;
        self.check_webhook_limit(&others)?;
        tx.insert_webhook(webhook)?;
        if !is_received_by(webhook) || others.iter().any(is_received_by) {
            return Ok(WaitingCount::default());
        }
        if choice == WaitingChoice::Skip {
            tx.skip_waiting(&key, webhook.created_at)?;
        }
        Ok(count_waiting(&self.core, tx, &key)?)
    }

    fn check_webhook_limit(&self, webhooks: &[Webhook]) -> Result<(), Refusal> {
        let limit = self.core.settings.webhooks_per_key_max;
        if u32::try_from(webhooks.len()).is_ok_and(|count| count < limit) {
            return Ok(());
        }
        Err(Refusal::QuotaExceeded {
            limit,
            what: "webhooks of this API key",
            way_out: "delete one that is no longer used",
        })
    }
}

fn invalid_events(problem: String) -> Refusal {
    Refusal::InvalidField { field: "events", problem }
}

fn invalid_url(problem: String) -> Refusal {
    Refusal::InvalidField { field: "url", problem }
}

/// Returns whether the webhook subscribes to the event `envelope.received`.
fn is_received_by(webhook: &Webhook) -> bool {
    webhook.events.contains(&EventKind::EnvelopeReceived)
}
