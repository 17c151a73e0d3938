//! Register a webhook.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, EventKind, KeyStatus, Refusal, Timestamp, Webhook, WebhookId, WebhookStatus,
    ports::{Durability, FactsQuery, StoreError, Tx},
};
use sealpost_wallet::{WebhookSecret, random};
use serde::Serialize;

use crate::{Body, Credentials, Error, Limited, Sealpost, admission::Act, credentials::Caller};

/// Where notices shall go.
#[derive(Clone, JsonSchema)]
pub struct Register {
    /// An https URL that leads to a public address.
    #[schemars(length(min = 1))]
    pub url: String,
    /// The events asked for.
    #[schemars(length(min = 1))]
    pub events: Vec<EventKind>,
}

/// A new webhook.
#[derive(JsonSchema, Serialize)]
pub struct Registered {
    /// Its id.
    pub webhook_id: WebhookId,
    /// Whose notices it gets.
    pub api_key_id: ApiKeyId,
    /// Where they go.
    pub url: String,
    /// The events asked for.
    pub events: Vec<EventKind>,
    /// What notices are signed with; shown this once.
    pub secret: String,
    /// Always `enabled`.
    pub status: WebhookStatus,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Sealpost {
    /// Registers a webhook. Its address is judged between two transactions: none is held over a look-up of names.
    pub fn register(
        &self,
        credentials: &Credentials,
        body: &Body<Register>,
    ) -> Limited<Registered> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Execute, Durability::Relaxed, |_, _| Ok(body.clone()))
            .and_then(|asked| self.vet_and_add(&caller, asked))
    }

    pub(crate) fn vet_and_add(
        &self,
        caller: &Caller,
        asked: Register,
    ) -> Result<Registered, Error> {
        // A look-up takes seconds where a name server is slow: none for what the cap refuses anyway.
        let webhooks = self.core.store.lookup()?.list_webhooks(&caller.key)?;
        self.check_cap(u64::try_from(webhooks.len()).unwrap_or(u64::MAX))?;
        let url = self
            .core
            .guard
            .vet(&asked.url)
            .map_err(|problem| Refusal::InvalidField { field: "url", problem })?;
        let secret = WebhookSecret::generate()?;
        let now = self.core.clock.now();
        let id = WebhookId::new(now, random()?);
        let webhook = Webhook {
            id,
            api_key_id: caller.key,
            url,
            events: asked.events,
            secret: secret.wrap(&self.core.keyring, &id)?,
            retiring: Vec::new(),
            status: WebhookStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            created_at: now,
            last_success_at: None,
            last_failure: None,
        };
        self.core.store.write(Durability::Durable, |tx| self.add(tx, &webhook))??;
        Ok(Registered {
            webhook_id: id,
            api_key_id: caller.key,
            url: webhook.url,
            events: webhook.events,
            secret: secret.expose().to_string(),
            status: webhook.status,
            created_at: now,
        })
    }

    /// The lock on the caller's facts makes webhooks of one key wait for each other, so that the cap holds,
    /// and a revocation wait or win.
    fn add(&self, tx: &mut dyn Tx, webhook: &Webhook) -> Result<Result<(), Refusal>, StoreError> {
        let key = webhook.api_key_id;
        let facts = tx.lock_facts(&FactsQuery { callers: vec![key], ..FactsQuery::default() })?;
        let status = facts.keys.get(&key).map_or(KeyStatus::Revoked, |key| key.status);
        if status != KeyStatus::Active {
            return Ok(Err(Refusal::KeyInactive { status, field: None }));
        }
        if let Err(full) = self.check_cap(tx.count_webhooks(&key)?) {
            return Ok(Err(full));
        }
        tx.insert_webhook(webhook).map(Ok)
    }

    fn check_cap(&self, webhooks: u64) -> Result<(), Refusal> {
        let limit = self.core.settings.webhooks_per_key_max;
        if webhooks < u64::from(limit) {
            return Ok(());
        }
        Err(Refusal::QuotaExceeded {
            limit,
            what: "webhooks of this API key",
            way_out: "delete one that is no longer used",
        })
    }
}
