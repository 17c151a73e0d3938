//! Complete rows of the table `webhooks`.

use diesel::prelude::*;
use sealpost_domain::{Description, LastFailure, Timestamp, Webhook, WebhookStatus, Wrapped};

use crate::{
    connection::fault::Fault,
    rows::{columns, retiring_secrets, webhook},
    schema::webhooks,
};

/// A row of the table `webhooks`. The column `events` is a list of names separated by commas, because no query filters
/// by event.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = webhooks, treat_none_as_default_value = false)]
pub(crate) struct WebhookRow {
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
    disabled_reason: Option<String>,
    failing_since: Option<i64>,
    retiring: Option<Vec<u8>>,
    retiring_until: Option<i64>,
    last_failure_detail: Option<String>,
    description: Option<String>,
    paused: bool,
    failed_attempts: i64,
    failing_announced_at: Option<i64>,
}

/// Returns the column `events` of a webhook.
pub(crate) fn event_names(webhook: &Webhook) -> String {
    let names: Vec<_> = webhook.events.iter().map(|event| event.as_str()).collect();
    names.join(columns::EVENTS_SEPARATOR)
}

impl WebhookRow {
    /// Returns the row of a new webhook.
    pub(crate) fn new(webhook: &Webhook) -> Result<Self, Fault> {
        let failure = webhook.last_failure.as_ref();
        let (retiring, retiring_until) = retiring_secrets::write(&webhook.retiring)?;
        Ok(Self {
            id: webhook.id.to_string(),
            api_key_id: webhook.api_key_id.to_string(),
            url: webhook.url.clone(),
            events: event_names(webhook),
            secret: webhook.secret.0.clone(),
            status: webhook.status.as_str().to_owned(),
            created_at: webhook.created_at.as_millis(),
            last_success_at: webhook.last_success_at.map(Timestamp::as_millis),
            last_failure_at: failure.map(|failure| failure.at.as_millis()),
            last_failure: failure.map(|failure| failure.error.clone()),
            disabled_reason: webhook.disabled_reason.map(|reason| reason.as_str().to_owned()),
            failing_since: webhook.failing_since.map(Timestamp::as_millis),
            retiring,
            retiring_until,
            last_failure_detail: failure.and_then(|failure| failure.error_detail.clone()),
            description: webhook.description.as_ref().map(Description::to_string),
            paused: webhook.paused,
            failed_attempts: 0,
            failing_announced_at: None,
        })
    }

    pub(crate) fn read(self) -> Result<Webhook, Fault> {
        let status = WebhookStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(Webhook {
            id: columns::id(&self.id, "webhook")?,
            api_key_id: columns::id(&self.api_key_id, "webhook")?,
            url: self.url,
            events: columns::known_events(&self.events),
            description: webhook::description(self.description.as_deref())?,
            paused: self.paused,
            secret: Wrapped(self.secret),
            retiring: retiring_secrets::read(self.retiring.as_deref())?,
            status: status.ok_or(Fault::Corrupt("webhook status"))?,
            disabled_reason: webhook::disabled_reason(self.disabled_reason.as_deref())?,
            failing_since: columns::instant(self.failing_since),
            created_at: Timestamp::from_millis(self.created_at),
            last_success_at: columns::instant(self.last_success_at),
            last_failure: failed_at.zip(self.last_failure).map(|(at, error)| LastFailure {
                at,
                error,
                error_detail: self.last_failure_detail,
            }),
        })
    }
}
