//! Stores webhooks: their URL, signing secrets, subscribed events and health.

use std::collections::HashMap;

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use sealpost_domain::{
    AccountId, ApiKeyId, Description, DisablingCause, IncidentKind, RetiringSecret, Timestamp,
    Webhook, WebhookId, WebhookStatus, Wrapped,
    ports::{StoreError, WebhookOwner},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    housekeeping::deleted_webhooks,
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
    },
    queue::incidents,
    rows::{
        columns, retiring_secrets,
        webhook::{WebhookRow, event_names},
    },
    schema::{api_keys, webhooks},
    send::usage_rows,
};

impl Transaction {
    /// Inserts a webhook.
    pub fn insert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let row = WebhookRow::new(webhook)?;
        self.execute(diesel::insert_into(webhooks::table).values(row)).map(drop)
    }

    /// Finds a webhook of the given key, and locks the key and the webhook until the transaction ends. `None` if the
    /// key has no such webhook.
    ///
    /// Locks the key first, to prevent a deadlock: a change of the webhook's events and its deletion lock the webhook
    /// and the row of the key in `waiting_transfers` in opposite orders.
    pub fn lock_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError> {
        let of_key =
            webhooks::table.find(id.to_string()).filter(webhooks::api_key_id.eq(key.to_string()));
        self.run(|conn| {
            usage_rows::lock(conn, key)?;
            let row = on_backend!(conn, c => {
                Locked::new(of_key, RowLock::Alone).get_result::<WebhookRow>(c).optional()
            })?;
            row.map(WebhookRow::read).transpose()
        })
    }

    /// Finds a webhook of any key, and locks it until the transaction ends. `None` if the webhook does not exist.
    pub fn lock_webhook_of_any_key(
        &mut self,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError> {
        let webhook = webhooks::table.find(id.to_string());
        self.run(|conn| {
            let row = on_backend!(conn, c => {
                Locked::new(webhook, RowLock::Alone).get_result::<WebhookRow>(c).optional()
            })?;
            row.map(WebhookRow::read).transpose()
        })
    }

    /// Disables a webhook that this transaction has locked, at an operator's request. `disabled_reason` stays empty,
    /// because only the service's own reasons are stored there. Deliveries to the webhook wait until it is enabled.
    /// Stores an event for the account's other webhooks.
    pub fn disable_webhook(&mut self, id: &WebhookId, now: Timestamp) -> Result<(), StoreError> {
        let id = id.to_string();
        let disabled = webhooks::status.eq(WebhookStatus::Disabled.as_str());
        self.run(|conn| {
            let update = diesel::update(webhooks::table.find(&id)).set(disabled);
            columns::one(update.execute(conn)?, "webhook")?;
            let kind = IncidentKind::Disabled(DisablingCause::Operator);
            incidents::announce(conn, &id, &[kind], now)
        })
    }

    /// Enables a webhook that this transaction has locked, and clears its `failing_since`, `failed_attempts` and
    /// `disabled_reason`.
    pub fn enable_webhook(&mut self, id: &WebhookId) -> Result<(), StoreError> {
        let enabled = (
            webhooks::status.eq(WebhookStatus::Enabled.as_str()),
            webhooks::disabled_reason.eq(None::<String>),
            webhooks::failing_since.eq(None::<i64>),
            webhooks::failed_attempts.eq(0),
        );
        let update = diesel::update(webhooks::table.find(id.to_string())).set(enabled);
        self.change_one(update, "webhook")
    }

    /// Stores the URL, the events, the description and the pause of a webhook that this transaction has locked.
    pub fn update_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let changes = (
            webhooks::url.eq(&webhook.url),
            webhooks::events.eq(event_names(webhook)),
            webhooks::description.eq(webhook.description.as_ref().map(Description::as_str)),
            webhooks::paused.eq(webhook.paused),
        );
        let update = diesel::update(webhooks::table.find(webhook.id.to_string())).set(changes);
        self.change_one(update, "webhook")
    }

    /// Ends the series of failures of a webhook that this transaction has locked: clears the time of its beginning and
    /// the number of failed attempts. The last failure stays stored.
    pub fn reset_failures(&mut self, id: &WebhookId) -> Result<(), StoreError> {
        let none = (webhooks::failing_since.eq(None::<i64>), webhooks::failed_attempts.eq(0));
        let update = diesel::update(webhooks::table.find(id.to_string())).set(none);
        self.change_one(update, "webhook")
    }

    /// Replaces the signing secrets of a webhook that this transaction has locked: the current secret, and the list of
    /// replaced secrets that are still in use.
    pub fn set_secrets(
        &mut self,
        id: &WebhookId,
        secret: &Wrapped,
        retiring: &[RetiringSecret],
    ) -> Result<(), StoreError> {
        let (list, until) = retiring_secrets::write(retiring)?;
        let secrets = (
            webhooks::secret.eq(&secret.0),
            webhooks::retiring.eq(list),
            webhooks::retiring_until.eq(until),
        );
        let update = diesel::update(webhooks::table.find(id.to_string())).set(secrets);
        self.change_one(update, "webhook")
    }

    /// Deletes a webhook of this key. Returns `false` if the key has no such webhook. All deliveries and attempts of
    /// the webhook become invisible at once. Deletes a limited number of the deliveries; housekeeping deletes the other
    /// rows later. Locks the key first, like other changes of its webhooks.
    ///
    /// If a deleted delivery belongs to an unopened envelope, the other deliveries of this envelope decide its
    /// [fate](sealpost_domain::UnopenedEnvelope::fate). A bounce has the time `now`.
    pub fn delete_webhook(
        &mut self,
        key: &ApiKeyId,
        id: &WebhookId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = id.to_string();
        self.run(|conn| {
            usage_rows::lock(conn, key)?;
            let key = key.to_string();
            let of_key = webhooks::table.find(&id).filter(webhooks::api_key_id.eq(&key));
            let ids = of_key.select(webhooks::id).load(conn)?;
            // Deletes deliveries before the webhook. A transaction that records outcomes locks rows in the same order.
            // If a concurrent batch of sends adds a delivery, a claim later finds it without a webhook and deletes it.
            deleted_webhooks::delete_with_backlog(conn, &ids, now)?;
            Ok(diesel::delete(of_key).execute(conn)? == 1)
        })
    }
}

impl Reader {
    /// Lists up to `limit` webhooks of a key, or of all keys of an account, newest first. If `below` is given, lists
    /// only webhooks with smaller ids.
    pub fn webhooks(
        &mut self,
        owner: &WebhookOwner,
        below: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<Webhook>, StoreError> {
        self.run(|conn| {
            let mut page =
                webhooks::table.order(webhooks::id.desc()).limit(limit.into()).into_boxed();
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
            let rows = page.load(conn)?;
            read_with_successes(conn, rows)
        })
    }

    /// Finds a webhook of any key of the account. `None` if the account has no such webhook.
    pub fn webhook_of(
        &mut self,
        account: &AccountId,
        id: &WebhookId,
    ) -> Result<Option<Webhook>, StoreError> {
        self.run(|conn| {
            let keys = api_keys::table
                .filter(api_keys::account_id.eq(account.to_string()))
                .select(api_keys::id);
            let found = webhooks::table
                .filter(webhooks::id.eq(id.to_string()))
                .filter(webhooks::api_key_id.eq_any(keys));
            let rows = found.load(conn)?;
            Ok(read_with_successes(conn, rows)?.pop())
        })
    }

    /// Lists up to `limit` webhooks of the account that are disabled or whose newest attempts failed. Begins with the
    /// webhook that has failed for the longest time. Webhooks that an operator disabled come last.
    pub fn unhealthy_webhooks(
        &mut self,
        account: &AccountId,
        limit: u32,
    ) -> Result<Vec<Webhook>, StoreError> {
        self.run(|conn| {
            let page = |conn: &mut _, offset| {
                let keys = api_keys::table
                    .filter(api_keys::account_id.eq(account.to_string()))
                    .select(api_keys::id);
                let is_disabled = webhooks::status.eq(WebhookStatus::Disabled.as_str());
                let order =
                    (webhooks::failing_since.is_null(), webhooks::failing_since, webhooks::id);
                let unhealthy = webhooks::table
                    .filter(webhooks::api_key_id.eq_any(keys))
                    .filter(webhooks::failing_since.is_not_null().or(is_disabled));
                unhealthy.order(order).limit(limit.into()).offset(offset).load(conn)
            };
            let mut unhealthy = first_listed(conn, limit, page, |webhook| {
                webhook.failing_since.is_some() || webhook.status == WebhookStatus::Disabled
            })?;
            // Sorts again, because the rows may lack successes. With a newer success from the attempt log, a disabled
            // webhook no longer counts as failing.
            unhealthy.sort_by_key(|webhook| webhook.failing_since.is_none());
            Ok(unhealthy)
        })
    }

    /// Lists up to `limit` enabled webhooks of all accounts whose newest attempts failed. Begins with the webhook that
    /// has failed for the longest time.
    pub fn failing_webhooks(&mut self, limit: u32) -> Result<Vec<Webhook>, StoreError> {
        self.run(|conn| {
            let page = |conn: &mut _, offset| {
                let failing = webhooks::table
                    .filter(webhooks::failing_since.is_not_null())
                    .filter(webhooks::status.eq(WebhookStatus::Enabled.as_str()))
                    .order((webhooks::failing_since, webhooks::id));
                failing.limit(limit.into()).offset(offset).load(conn)
            };
            first_listed(conn, limit, page, |webhook| webhook.failing_since.is_some())
        })
    }

    /// Lists the webhooks of a key, oldest first.
    pub fn list_webhooks(&mut self, key: &ApiKeyId) -> Result<Vec<Webhook>, StoreError> {
        self.run(|conn| {
            let of_key = webhooks::table
                .filter(webhooks::api_key_id.eq(key.to_string()))
                .order((webhooks::created_at, webhooks::id));
            let rows = of_key.load(conn)?;
            read_with_successes(conn, rows)
        })
    }
}

/// Returns the first `limit` webhooks that satisfy `is_listed`. `page` reads up to `limit` rows from an offset. Checks
/// each webhook with its newest success from the attempt log: its row may lack the success that ended the failures.
fn first_listed(
    conn: &mut AnyConnection,
    limit: u32,
    page: impl Fn(&mut AnyConnection, i64) -> QueryResult<Vec<WebhookRow>>,
    is_listed: impl Fn(&Webhook) -> bool,
) -> Result<Vec<Webhook>, QueryError> {
    let length = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut listed, mut offset) = (Vec::new(), 0);
    loop {
        let rows = page(conn, offset)?;
        let is_last = rows.len() < length;
        listed.extend(read_with_successes(conn, rows)?.into_iter().filter(&is_listed));
        if is_last || listed.len() >= length {
            listed.truncate(length);
            return Ok(listed);
        }
        offset += i64::from(limit);
    }
}

/// Converts rows of webhooks, and adds the newest success of each webhook from the attempt log. A row may lack the
/// newest success, because most successes do not change the row of their webhook.
fn read_with_successes(
    conn: &mut AnyConnection,
    rows: Vec<WebhookRow>,
) -> Result<Vec<Webhook>, QueryError> {
    let mut all = rows.into_iter().map(WebhookRow::read).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        return Ok(all);
    }
    let ids = all.iter().map(|webhook| webhook.id.to_string());
    let newest = webhooks::table
        .filter(any_of(webhooks::id, ids))
        .select((webhooks::id, sql::<Nullable<BigInt>>(NEWEST_SUCCESS)));
    let newest: HashMap<String, Option<i64>> =
        on_backend!(conn, c => newest.load::<(String, Option<i64>)>(c))?.into_iter().collect();
    for webhook in &mut all {
        if let Some(Some(at)) = newest.get(&webhook.id.to_string()) {
            webhook.note_success(Timestamp::from_millis(*at));
        }
    }
    Ok(all)
}

/// SQL expression for the time of the newest success of a webhook. diesel keeps no query with SQL text prepared, so
/// PostgreSQL plans this query at each call. A kept plan from when the table was empty would read the whole log.
const NEWEST_SUCCESS: &str = "(SELECT a.at FROM attempts AS a
    WHERE substr(a.webhook_id, 24) = substr(webhooks.id, 24) AND a.webhook_id = webhooks.id
        AND a.outcome = 'succeeded' ORDER BY a.number DESC LIMIT 1)";
