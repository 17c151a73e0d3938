//! Stores webhooks: their URL, signing secrets, subscribed events and health.

use diesel::prelude::*;
use sealpost_domain::{
    AccountId, ApiKeyId, Attempt, AttemptNumber, AttemptOutcome, Description, DisablingCause,
    EventId, IncidentKind, PendingDelivery, RetiringSecret, Timestamp, Webhook, WebhookId,
    WebhookStatus, Wrapped,
    ports::{StoreError, WebhookLookup, WebhookOwner, WebhookRepo},
};

use crate::{
    connection::{
        AnyConnection, fault::Fault, on_backend, reader::Reader, transaction::Transaction,
    },
    housekeeping::deleted_webhooks,
    query::row_lock::{Locked, RowLock},
    queue::{delivery_log, incidents},
    rows::{
        columns, retiring_secrets,
        webhook_record::{WebhookRow, event_names},
    },
    schema::{api_keys, webhooks},
};

impl WebhookRepo for Transaction {
    fn insert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(webhooks::table).values(WebhookRow::of(webhook)?).execute(conn)?;
            Ok(())
        })
    }

    fn lock_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError> {
        let of_key =
            webhooks::table.find(id.to_string()).filter(webhooks::api_key_id.eq(key.to_string()));
        self.run(|conn| {
            let row = on_backend!(conn, c => {
                Locked::new(of_key, RowLock::Alone).get_result::<WebhookRow>(c).optional()
            })?;
            row.map(WebhookRow::read).transpose()
        })
    }

    fn lock_webhook_of_any_key(&mut self, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        let webhook = webhooks::table.find(id.to_string());
        self.run(|conn| {
            let row = on_backend!(conn, c => {
                Locked::new(webhook, RowLock::Alone).get_result::<WebhookRow>(c).optional()
            })?;
            row.map(WebhookRow::read).transpose()
        })
    }

    fn disable_webhook(&mut self, id: &WebhookId, now: Timestamp) -> Result<(), StoreError> {
        let id = id.to_string();
        let disabled = webhooks::status.eq(WebhookStatus::Disabled.as_str());
        self.run(|conn| {
            let update = diesel::update(webhooks::table.find(&id)).set(disabled);
            columns::one(update.execute(conn)?, "webhook")?;
            let kind = IncidentKind::Disabled(DisablingCause::Operator);
            incidents::announce(conn, &id, &[kind], now)
        })
    }

    fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError> {
        let enabled = (
            webhooks::status.eq(WebhookStatus::Enabled.as_str()),
            webhooks::disabled_reason.eq(None::<String>),
            webhooks::failing_since.eq(None::<i64>),
            webhooks::failed_attempts.eq(0),
        );
        let update = diesel::update(webhooks::table.find(id.to_string())).set(enabled);
        self.run(|conn| columns::one(update.execute(conn)?, "webhook"))
    }

    fn update_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let changes = (
            webhooks::url.eq(&webhook.url),
            webhooks::events.eq(event_names(webhook)),
            webhooks::description.eq(webhook.description.as_ref().map(Description::as_str)),
            webhooks::paused.eq(webhook.paused),
        );
        let update = diesel::update(webhooks::table.find(webhook.id.to_string())).set(changes);
        self.run(|conn| columns::one(update.execute(conn)?, "webhook"))
    }

    fn set_secrets(
        &mut self,
        id: &WebhookId,
        secret: &Wrapped,
        retiring: &[RetiringSecret],
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let (list, until) = retiring_secrets::write(retiring)?;
            let secrets = (
                webhooks::secret.eq(&secret.0),
                webhooks::retiring.eq(list),
                webhooks::retiring_until.eq(until),
            );
            let update = diesel::update(webhooks::table.find(id.to_string())).set(secrets);
            columns::one(update.execute(conn)?, "webhook")
        })
    }

    /// Deletes a webhook and a limited number of its deliveries. Deletes deliveries before the webhook, because a
    /// transaction that records outcomes locks rows in the same order. If a concurrent batch of sends adds a delivery,
    /// a claim later finds this delivery without a webhook and deletes it.
    fn delete_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (key, id) = (key.to_string(), id.to_string());
        self.run(|conn| {
            let of_key = webhooks::table.find(&id).filter(webhooks::api_key_id.eq(&key));
            let ids = of_key.select(webhooks::id).load(conn)?;
            deleted_webhooks::delete_with_backlog(conn, &ids, now)?;
            Ok(diesel::delete(of_key).execute(conn)? == 1)
        })
    }
}

macro_rules! look_up_on {
    ($runner:ty) => {
        impl WebhookLookup for $runner {
            fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError> {
                self.run(|conn| list(conn, key))
            }

            fn pending_deliveries(
                &mut self,
                id: &WebhookId,
                oldest: Timestamp,
                below: Option<&EventId>,
                limit: u32,
            ) -> Result<Vec<PendingDelivery>, StoreError> {
                self.run(|conn| delivery_log::pending(conn, id, oldest, below, limit))
            }

            fn attempts(
                &mut self,
                id: &WebhookId,
                outcome: Option<AttemptOutcome>,
                below: Option<AttemptNumber>,
                limit: u32,
            ) -> Result<Vec<Attempt>, StoreError> {
                self.run(|conn| delivery_log::attempts(conn, id, outcome, below, limit))
            }
        }
    };
}

look_up_on!(Reader<'_>);
look_up_on!(Transaction);

fn list(conn: &mut AnyConnection, key: &ApiKeyId) -> Result<Vec<Webhook>, Fault> {
    let of_key = webhooks::table
        .filter(webhooks::api_key_id.eq(key.to_string()))
        .order((webhooks::created_at, webhooks::id));
    of_key.load::<WebhookRow>(conn)?.into_iter().map(WebhookRow::read).collect()
}

/// Returns up to `limit` webhooks of an account or an API key, newest first. With `below`, returns only webhooks with
/// lower ids.
pub(crate) fn of_owner(
    conn: &mut AnyConnection,
    owner: &WebhookOwner,
    below: Option<&WebhookId>,
    limit: u32,
) -> Result<Vec<Webhook>, Fault> {
    let mut page = webhooks::table.order(webhooks::id.desc()).limit(limit.into()).into_boxed();
    page = match owner {
        WebhookOwner::Account(account) => {
            let keys = api_keys::table
                .filter(api_keys::account_id.eq(account.to_string()))
                .select(api_keys::id);
            page.filter(webhooks::api_key_id.eq_any(keys))
        }
        WebhookOwner::Key(key) => page.filter(webhooks::api_key_id.eq(key.to_string())),
    };
    if let Some(below) = below {
        page = page.filter(webhooks::id.lt(below.to_string()));
    }
    page.load::<WebhookRow>(conn)?.into_iter().map(WebhookRow::read).collect()
}

/// Returns up to `limit` webhooks of an account that are disabled or failing. The longest failing come first, then those
/// that were disabled without a failure.
pub(crate) fn unhealthy(
    conn: &mut AnyConnection,
    account: &AccountId,
    limit: u32,
) -> Result<Vec<Webhook>, Fault> {
    let keys =
        api_keys::table.filter(api_keys::account_id.eq(account.to_string())).select(api_keys::id);
    let is_disabled = webhooks::status.eq(WebhookStatus::Disabled.as_str());
    let unhealthy = webhooks::table
        .filter(webhooks::api_key_id.eq_any(keys))
        .filter(webhooks::failing_since.is_not_null().or(is_disabled))
        .order((webhooks::failing_since.is_null(), webhooks::failing_since, webhooks::id))
        .limit(limit.into());
    unhealthy.load::<WebhookRow>(conn)?.into_iter().map(WebhookRow::read).collect()
}

/// Returns up to `limit` enabled webhooks with failing deliveries (`failing_since` is set), the longest failing ones
/// first.
pub(crate) fn failing(conn: &mut AnyConnection, limit: u32) -> Result<Vec<Webhook>, Fault> {
    let failing = webhooks::table
        .filter(webhooks::failing_since.is_not_null())
        .filter(webhooks::status.eq(WebhookStatus::Enabled.as_str()))
        .order((webhooks::failing_since, webhooks::id))
        .limit(limit.into());
    failing.load::<WebhookRow>(conn)?.into_iter().map(WebhookRow::read).collect()
}
