//! Rows of webhooks: complete rows, the target of the requests, and the health (successes and failures).

use diesel::{dsl::auto_type, prelude::*};
use sealpost_domain::{
    Description, DisabledReason, LastFailure, Target, Timestamp, Webhook, WebhookHealth,
    WebhookStatus, Wrapped,
};

use crate::{
    connection::query_error::QueryError,
    query::row_types::{selected_row, stored_row},
    rows::{columns, retiring_secrets},
    schema::webhooks,
};

selected_row! {
    /// The columns of a webhook that a delivery attempt needs.
    pub(crate) struct TargetRow from webhooks {
        id: String,
        url: String,
        secret: Vec<u8>,
        retiring: Option<Vec<u8>>,
        paused: bool,
    }
}

impl TargetRow {
    /// Converts the row to a target. `account_id` is the account that owns the API key of the webhook.
    pub(crate) fn read(self, account_id: &str) -> Result<Target, QueryError> {
        Ok(Target {
            webhook_id: columns::id(&self.id, "webhook")?,
            account_id: columns::id(account_id, "key")?,
            url: self.url,
            secret: Wrapped(self.secret),
            retiring: retiring_secrets::read(self.retiring.as_deref())?,
        })
    }
}

/// Returns the condition that a webhook is disabled or paused, and therefore gets no requests.
#[auto_type]
pub(crate) fn is_inactive() -> _ {
    let disabled: &'static str = DISABLED;
    webhooks::status.eq(disabled).or(webhooks::paused)
}

const DISABLED: &str = WebhookStatus::Disabled.as_str();

stored_row! {
    /// The columns of a webhook that describe its health: status, last success and failures.
    #[derive(Clone, Queryable, Selectable)]
    #[diesel(table_name = webhooks)]
    pub(crate) struct HealthRow in webhooks {
        id: String,
        status: String,
        disabled_reason: Option<String>,
        failing_since: Option<i64>,
        last_success_at: Option<i64>,
        last_failure_at: Option<i64>,
        last_failure: Option<String>,
        last_failure_detail: Option<String>,
        failed_attempts: i64,
        failing_announced_at: Option<i64>,
    }
}

impl HealthRow {
    pub(crate) fn read(&self) -> Result<WebhookHealth, QueryError> {
        let status = WebhookStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(WebhookHealth {
            status: status.ok_or(QueryError::Corrupt("webhook status"))?,
            disabled_reason: disabled_reason(self.disabled_reason.as_deref())?,
            failing_since: columns::instant(self.failing_since),
            last_success_at: columns::instant(self.last_success_at),
            last_failure: failed_at.zip(self.last_failure.clone()).map(|(at, error)| LastFailure {
                at,
                error,
                error_detail: self.last_failure_detail.clone(),
            }),
            failed_attempts: columns::number(self.failed_attempts, "number of attempts")?,
            failing_announced_at: columns::instant(self.failing_announced_at),
        })
    }

    pub(crate) fn write(&mut self, health: WebhookHealth) {
        health.status.as_str().clone_into(&mut self.status);
        self.disabled_reason = health.disabled_reason.map(|reason| reason.as_str().to_owned());
        self.failing_since = health.failing_since.map(Timestamp::as_millis);
        self.failed_attempts = i64::try_from(health.failed_attempts).unwrap_or(i64::MAX);
        self.failing_announced_at = health.failing_announced_at.map(Timestamp::as_millis);
        self.last_success_at = health.last_success_at.map(Timestamp::as_millis);
        self.last_failure_at = health.last_failure.as_ref().map(|last| last.at.as_millis());
        (self.last_failure, self.last_failure_detail) = match health.last_failure {
            Some(last) => (Some(last.error), last.error_detail),
            None => (None, None),
        };
    }
}

/// A row of the table `webhooks`. `events` contains the names of the subscribed events, separated by commas.
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

/// Returns the value of the column `events` for a webhook.
pub(crate) fn event_names(webhook: &Webhook) -> String {
    let names: Vec<_> = webhook.events.iter().map(|event| event.as_str()).collect();
    names.join(columns::EVENTS_SEPARATOR)
}

impl WebhookRow {
    /// Returns the row of a new webhook.
    pub(crate) fn new(webhook: &Webhook) -> Result<Self, QueryError> {
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

    pub(crate) fn read(self) -> Result<Webhook, QueryError> {
        let status = WebhookStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(Webhook {
            id: columns::id(&self.id, "webhook")?,
            api_key_id: columns::id(&self.api_key_id, "webhook")?,
            url: self.url,
            events: columns::known_events(&self.events),
            description: description(self.description.as_deref())?,
            paused: self.paused,
            secret: Wrapped(self.secret),
            retiring: retiring_secrets::read(self.retiring.as_deref())?,
            status: status.ok_or(QueryError::Corrupt("webhook status"))?,
            disabled_reason: disabled_reason(self.disabled_reason.as_deref())?,
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

/// Reads a stored description. `None` stays `None`.
fn description(text: Option<&str>) -> Result<Option<Description>, QueryError> {
    let read = |text| Description::parse(text).map_err(|_fault| QueryError::Corrupt("description"));
    text.map(read).transpose().map(Option::flatten)
}

/// Parses the stored reason why a webhook was disabled. `None` stays `None`.
fn disabled_reason(name: Option<&str>) -> Result<Option<DisabledReason>, QueryError> {
    let read = |name| DisabledReason::from_name(name).ok_or(QueryError::Corrupt("disabled reason"));
    name.map(read).transpose()
}
