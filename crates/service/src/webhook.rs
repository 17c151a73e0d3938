//! Register and manage webhooks.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, EventKind, KeyStatus, LastFailure, Refusal, Registration, RegistrationStatus,
    Timestamp, WebhookId,
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

/// What to do with the key's registrations.
#[derive(Clone, JsonSchema)]
#[schemars(tag = "action", rename_all = "snake_case")]
pub enum Manage {
    /// Delete the one with this id.
    Delete {
        /// Which one.
        #[schemars(length(min = 1))]
        webhook_id: String,
    },
    /// Show all.
    List,
}

/// What was done.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Managed {
    /// A registration is gone, and so are its deliveries.
    Deleted(Deleted),
    /// All registrations, oldest first.
    Listed {
        /// Without their secrets.
        webhooks: Vec<RegistrationView>,
    },
}

/// A registration that is gone.
#[derive(JsonSchema, Serialize)]
pub struct Deleted {
    /// Which one.
    pub webhook_id: WebhookId,
    /// Always `true`.
    #[schemars(extend("const" = true))]
    pub deleted: bool,
}

/// A registration as its owner sees it.
#[derive(JsonSchema, Serialize)]
pub struct RegistrationView {
    /// Its id.
    pub webhook_id: WebhookId,
    /// Whose notices it gets.
    pub api_key_id: ApiKeyId,
    /// Where they go.
    pub url: String,
    /// The events asked for.
    pub events: Vec<EventKind>,
    /// Whether notices are sent to it.
    pub status: RegistrationStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the newest successful attempt ended.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
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
        self.admitted(&caller, Act::Execute, |_, _| Ok(body.clone()))
            .and_then(|asked| self.vet_and_add(&caller, asked))
    }

    fn vet_and_add(&self, caller: &Caller, asked: Register) -> Result<Registered, Error> {
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
            status: RegistrationStatus::Enabled,
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

    /// Lists or deletes the key's registrations.
    pub fn manage(&self, credentials: &Credentials, body: &Body<Manage>) -> Limited<Managed> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Manage, |tx, _| match body {
            Err(fault) => Ok(Err(fault.clone())),
            Ok(Manage::List) => {
                let webhooks = tx.list_registrations(&caller.key)?;
                let webhooks = webhooks.into_iter().map(RegistrationView::from).collect();
                Ok(Ok(Managed::Listed { webhooks }))
            }
            Ok(Manage::Delete { webhook_id }) => delete(tx, &caller.key, webhook_id),
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
        let limit = self.core.settings.registrations_per_key_max;
        if tx.count_registrations(&key)? >= u64::from(limit) {
            return Ok(Err(too_many_registrations(limit)));
        }
        tx.insert_registration(registration).map(Ok)
    }
}

fn delete(
    tx: &mut dyn Tx,
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Result<Managed, Refusal>, StoreError> {
    let Ok(id) = webhook_id.parse() else { return Ok(Err(Refusal::WebhookNotFound)) };
    if !tx.delete_registration(key, &id)? {
        return Ok(Err(Refusal::WebhookNotFound));
    }
    Ok(Ok(Managed::Deleted(Deleted { webhook_id: id, deleted: true })))
}

fn too_many_registrations(limit: u32) -> Refusal {
    Refusal::QuotaExceeded {
        limit,
        what: "webhook registrations of this API key",
        way_out: "delete one that is no longer used",
    }
}

impl From<Registration> for RegistrationView {
    fn from(registration: Registration) -> Self {
        Self {
            webhook_id: registration.id,
            api_key_id: registration.api_key_id,
            url: registration.url,
            events: registration.events,
            status: registration.status,
            created_at: registration.created_at,
            last_success_at: registration.last_success_at,
            last_failure: registration.last_failure,
        }
    }
}
