//! Register a webhook.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, EventKind, KeyStatus, Refusal, Registration, RegistrationStatus, Timestamp,
    WebhookId,
    ports::{Durability, StoreError, Tx, Wanted},
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

/// A new registration.
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
    pub status: RegistrationStatus,
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
        let registrations = self.core.store.lookup()?.list_registrations(&caller.key)?;
        self.check_cap(u64::try_from(registrations.len()).unwrap_or(u64::MAX))?;
        let url = self
            .core
            .guard
            .vet(&asked.url)
            .map_err(|problem| Refusal::InvalidField { field: "url", problem })?;
        let secret = WebhookSecret::generate()?;
        let now = self.core.clock.now();
        let id = WebhookId::new(now, random()?);
        let registration = Registration {
            id,
            api_key_id: caller.key,
            url,
            events: asked.events,
            secret: secret.wrap(&self.core.keyring, &id)?,
            retiring: Vec::new(),
            status: RegistrationStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            created_at: now,
            last_success_at: None,
            last_failure: None,
        };
        self.core.store.write(Durability::Durable, |tx| self.add(tx, &registration))??;
        Ok(Registered {
            webhook_id: id,
            api_key_id: caller.key,
            url: registration.url,
            events: registration.events,
            secret: secret.expose().to_string(),
            status: registration.status,
            created_at: now,
        })
    }

    /// The lock on the caller's facts makes registrations of one key wait for each other, so that the cap holds,
    /// and a revocation wait or win.
    fn add(
        &self,
        tx: &mut dyn Tx,
        registration: &Registration,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let key = registration.api_key_id;
        let facts = tx.lock_facts(&Wanted { callers: vec![key], ..Wanted::default() })?;
        let status = facts.keys.get(&key).map_or(KeyStatus::Revoked, |key| key.status);
        if status != KeyStatus::Active {
            return Ok(Err(Refusal::KeyInactive { status, field: None }));
        }
        if let Err(full) = self.check_cap(tx.count_registrations(&key)?) {
            return Ok(Err(full));
        }
        tx.insert_registration(registration).map(Ok)
    }

    fn check_cap(&self, registrations: u64) -> Result<(), Refusal> {
        let limit = self.core.settings.registrations_per_key_max;
        if registrations < u64::from(limit) {
            return Ok(());
        }
        Err(Refusal::QuotaExceeded {
            limit,
            what: "webhook registrations of this API key",
            way_out: "delete one that is no longer used",
        })
    }
}
