//! Rows of webhooks that both the send path and the delivery queue use: target and health.

use diesel::{dsl::auto_type, prelude::*};
use sealpost_domain::{
    Description, DisabledReason, LastFailure, Target, Timestamp, WebhookHealth, WebhookStatus,
    Wrapped,
};

use crate::{
    connection::fault::Fault,
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
    pub(crate) fn read(self, account_id: &str) -> Result<Target, Fault> {
        Ok(Target {
            webhook_id: columns::id(&self.id, "webhook")?,
            account_id: columns::id(account_id, "key")?,
            url: self.url,
            secret: Wrapped(self.secret),
            retiring: retiring_secrets::read(self.retiring.as_deref())?,
        })
    }
}

/// Returns the condition that a webhook is disabled or paused, and therefore gets no events.
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
    pub(crate) fn read(&self) -> Result<WebhookHealth, Fault> {
        let status = WebhookStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(WebhookHealth {
            status: status.ok_or(Fault::Corrupt("webhook status"))?,
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

/// Reads a stored description. `None` stays `None`.
pub(crate) fn description(text: Option<&str>) -> Result<Option<Description>, Fault> {
    let read = |text| Description::parse(text).map_err(|_fault| Fault::Corrupt("description"));
    text.map(read).transpose().map(Option::flatten)
}

/// Parses the stored reason why a webhook was disabled. `None` stays `None`.
pub(crate) fn disabled_reason(name: Option<&str>) -> Result<Option<DisabledReason>, Fault> {
    let read = |name| DisabledReason::from_name(name).ok_or(Fault::Corrupt("disabled reason"));
    name.map(read).transpose()
}
