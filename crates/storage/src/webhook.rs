//! Webhook registrations.

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, EventKind, LastFailure, Registration, RegistrationStatus, Target, Timestamp,
    WebhookId, Wrapped,
    ports::{StoreError, WebhookRepo},
};

use crate::{
    columns,
    fault::Fault,
    schema::{deliveries, webhooks},
    unit::Unit,
};

/// What is needed to send to a registration: id, URL, secret.
pub(crate) type TargetRow = (String, String, Vec<u8>);

pub(crate) fn target((id, url, secret): TargetRow) -> Result<Target, Fault> {
    let webhook_id = columns::id(&id, "registration")?;
    Ok(Target { webhook_id, url, secret: Wrapped(secret), retiring: Vec::new() })
}

impl WebhookRepo for Unit {
    fn insert_registration(&mut self, registration: &Registration) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(webhooks::table).values(row(registration)).execute(conn)?;
            Ok(())
        })
    }

    fn list_registrations(&mut self, key: &ApiKeyId) -> Result<Vec<Registration>, StoreError> {
        let of_key = webhooks::table
            .filter(webhooks::api_key_id.eq(key.to_string()))
            .order((webhooks::created_at, webhooks::id));
        self.run(|conn| {
            of_key.load::<WebhookRow>(conn)?.into_iter().map(WebhookRow::read).collect()
        })
    }

    /// Its deliveries go before it: who writes down what came of an attempt locks them in this order too. What a batch
    /// adds meanwhile is discarded when it is due.
    fn delete_registration(&mut self, key: &ApiKeyId, id: &WebhookId) -> Result<bool, StoreError> {
        let (key, id) = (key.to_string(), id.to_string());
        self.run(|conn| {
            let of_key = webhooks::table.find(&id).filter(webhooks::api_key_id.eq(&key));
            let to_it = deliveries::webhook_id.eq_any(of_key.select(webhooks::id));
            diesel::delete(deliveries::table.filter(to_it)).execute(conn)?;
            Ok(diesel::delete(of_key).execute(conn)? == 1)
        })
    }
}

/// Events are a list of names with commas between them: no name has one, and nobody searches by event.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = webhooks, treat_none_as_default_value = false)]
struct WebhookRow {
    id: String,
    api_key_id: String,
    url: String,
    events: String,
    secret: Vec<u8>,
    status: String,
    created_at: i64,
    last_success_at: Option<i64>,
    last_failure_at: Option<i64>,
    last_failure: Option<String>,
}

fn row(registration: &Registration) -> WebhookRow {
    let events: Vec<_> = registration.events.iter().map(|event| event.as_str()).collect();
    let failure = registration.last_failure.as_ref();
    WebhookRow {
        id: registration.id.to_string(),
        api_key_id: registration.api_key_id.to_string(),
        url: registration.url.clone(),
        events: events.join(","),
        secret: registration.secret.0.clone(),
        status: registration.status.as_str().to_owned(),
        created_at: registration.created_at.as_millis(),
        last_success_at: registration.last_success_at.map(Timestamp::as_millis),
        last_failure_at: failure.map(|failure| failure.at.as_millis()),
        last_failure: failure.map(|failure| failure.error.clone()),
    }
}

impl WebhookRow {
    fn read(self) -> Result<Registration, Fault> {
        let event = |name| EventKind::from_name(name).ok_or(Fault::Corrupt("event"));
        let status = RegistrationStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(Registration {
            id: columns::id(&self.id, "registration")?,
            api_key_id: columns::id(&self.api_key_id, "registration")?,
            url: self.url,
            events: self.events.split(',').map(event).collect::<Result<_, _>>()?,
            secret: Wrapped(self.secret),
            status: status.ok_or(Fault::Corrupt("registration status"))?,
            created_at: Timestamp::from_millis(self.created_at),
            last_success_at: columns::instant(self.last_success_at),
            last_failure: failed_at
                .zip(self.last_failure)
                .map(|(at, error)| LastFailure { at, error }),
        })
    }
}
