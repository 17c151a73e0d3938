//! Reads data of an account for its owner: API keys with their usage, and the numbers of waiting envelopes and pending
//! deliveries.

use std::collections::{BTreeSet, HashMap};

use diesel::{
    dsl::count_star,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, AttemptNumber, Timestamp, Usage,
    ports::{KeyOverview, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Reader},
    housekeeping::partitions::first_id,
    queue::{delivery_log, waiting},
    records::{api_keys, governance::OpenDecisions},
    rows::{
        columns::{self, NumberRow},
        usage::UsageRow,
    },
    schema::{accounts, current_usage as u, webhooks as w},
};

impl Reader {
    /// Lists up to `limit` keys of the account, newest first, with revoked keys after all others. For each key, counts
    /// the [waiting envelopes](sealpost_domain::ports::WaitingEnvelope) that were sealed at `oldest` or later, at most
    /// `waiting_max`.
    pub fn keys_of(
        &mut self,
        account: &AccountId,
        limit: u32,
        oldest: Timestamp,
        waiting_max: u32,
    ) -> Result<Vec<KeyOverview>, StoreError> {
        self.run(|conn| {
            let keys = api_keys::keys_of_account(conn, account, limit)?;
            overviews(conn, account, keys, oldest, waiting_max)
        })
    }

    /// Finds one key of the account; `None` if the account has no such key. Counts the [waiting
    /// envelopes](sealpost_domain::ports::WaitingEnvelope) of the key that were sealed at `oldest` or later, at most
    /// `waiting_max`.
    pub fn key_of(
        &mut self,
        account: &AccountId,
        id: &ApiKeyId,
        oldest: Timestamp,
        waiting_max: u32,
    ) -> Result<Option<KeyOverview>, StoreError> {
        self.run(|conn| {
            let key = api_keys::find_key(conn, id)?.filter(|key| key.account_id == *account);
            let keys = key.into_iter().collect();
            Ok(overviews(conn, account, keys, oldest, waiting_max)?.pop())
        })
    }

    /// Returns the number of the first attempt in the log that ended at `at` or later. The number is approximate if the
    /// clocks of nodes differ.
    pub fn first_attempt_at(&mut self, at: Timestamp) -> Result<AttemptNumber, StoreError> {
        self.run(|conn| delivery_log::first_attempt_at(conn, at).map(AttemptNumber))
    }

    /// Counts the deliveries to the key's webhooks that wait for an attempt, up to `limit`. Omits events before
    /// `oldest`.
    pub fn count_pending(
        &mut self,
        key: &ApiKeyId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            // The query reads about `limit` rows, so that a long backlog does not slow the query. The query compares
            // ids without the prefixes `env_` and `evt_`, because the rest of an id begins with the time.
            let waiting = sql_query(COUNT_WAITING)
                .bind::<Text, _>(key.to_string())
                .bind::<Text, _>(first_id(oldest))
                .bind::<BigInt, _>(i64::from(limit));
            let NumberRow { number } = waiting.get_result(conn)?;
            columns::number(number, "number of deliveries")
        })
    }
}

const COUNT_WAITING: &str = "/* overview.count_waiting */ SELECT count(*) AS number FROM (SELECT 1 FROM deliveries \
    JOIN webhooks ON substr(webhooks.id, 24) = substr(deliveries.webhook_id, 24) \
    AND webhooks.id = deliveries.webhook_id \
    WHERE webhooks.api_key_id = $1 AND deliveries.due_at IS NOT NULL \
    AND substr(deliveries.envelope_id, 5) >= substr($2, 5) LIMIT $3) AS waiting";

fn overviews(
    conn: &mut AnyConnection,
    account: &AccountId,
    keys: Vec<ApiKey>,
    oldest: Timestamp,
    waiting_max: u32,
) -> Result<Vec<KeyOverview>, QueryError> {
    let ids: Vec<_> = keys.iter().map(|key| key.id.to_string()).collect();
    let mut usage = usage_of(conn, &ids)?;
    let mut webhooks = webhooks_of(conn, &ids)?;
    let mut waiting = waiting::count(conn, &ids, oldest, waiting_max)?;
    let account = account.to_string();
    let partner = accounts::table
        .find(&account)
        .select(accounts::partner_id)
        .first::<Option<String>>(conn)
        .optional()?
        .flatten();
    let above: Vec<&str> = [&*account].into_iter().chain(partner.as_deref()).collect();
    let subjects: BTreeSet<_> =
        ids.iter().map(String::as_str).chain(above.iter().copied()).collect();
    let decisions = OpenDecisions::on(conn, &subjects)?;
    let overview = |(id, key): (&String, ApiKey)| {
        let subjects: Vec<_> = [&**id].into_iter().chain(above.iter().copied()).collect();
        Ok(KeyOverview {
            usage: usage.remove(id).ok_or(QueryError::Corrupt("usage of a key"))?,
            standing: decisions.standing(&subjects),
            webhooks: webhooks.remove(id).unwrap_or_default(),
            waiting: waiting.remove(id).unwrap_or_default(),
            key,
        })
    };
    ids.iter().zip(keys).map(overview).collect()
}

fn usage_of(
    conn: &mut AnyConnection,
    ids: &[String],
) -> Result<HashMap<String, Usage>, QueryError> {
    let rows = u::table.filter(u::api_key_id.eq_any(ids));
    on_backend!(conn, c => rows.load::<UsageRow>(c))?
        .into_iter()
        .map(|row| Ok((row.api_key_id.clone(), row.read()?)))
        .collect()
}

fn webhooks_of(
    conn: &mut AnyConnection,
    ids: &[String],
) -> Result<HashMap<String, u64>, QueryError> {
    let counts = w::table
        .filter(w::api_key_id.eq_any(ids))
        .group_by(w::api_key_id)
        .select((w::api_key_id, count_star()));
    on_backend!(conn, c => counts.load::<(String, i64)>(c))?
        .into_iter()
        .map(|(id, count)| Ok((id, columns::number(count, "number of webhooks")?)))
        .collect()
}
