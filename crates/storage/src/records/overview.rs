//! Reads the data that the owner of an account sees: keys, sessions, daily counts and waiting deliveries.

use std::collections::{BTreeSet, HashMap};

use diesel::{
    dsl::count_star,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    AccountId, Activity, ActivityId, ActivityKind, ApiKey, ApiKeyId, SessionDetails, Timestamp,
    Usage,
    ports::{DailyCount, KeyOverview, OwnerLookup, StoreError},
};

use crate::{
    account::{activity, session_details},
    connection::{AnyConnection, fault::Fault, on_backend, reader::Reader},
    queue::waiting,
    records::{api_keys, governance::OpenDecisions},
    rows::{columns, usage::UsageRow},
    schema::{accounts, daily_counts as c, usage, webhooks as w},
};

impl OwnerLookup for Reader<'_> {
    fn keys_of(
        &mut self,
        account: &AccountId,
        limit: u32,
        waiting_max: u32,
    ) -> Result<Vec<KeyOverview>, StoreError> {
        self.run(|conn| {
            let keys = api_keys::of_account(conn, account, limit)?;
            overviews(conn, account, keys, waiting_max)
        })
    }

    fn key_of(
        &mut self,
        account: &AccountId,
        id: &ApiKeyId,
        waiting_max: u32,
    ) -> Result<Option<KeyOverview>, StoreError> {
        self.run(|conn| {
            let key = api_keys::find_key(conn, id)?.filter(|key| key.account_id == *account);
            Ok(overviews(conn, account, key.into_iter().collect(), waiting_max)?.pop())
        })
    }

    fn sessions_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionDetails>, StoreError> {
        self.run(|conn| session_details::of_account(conn, account, now, limit))
    }

    fn activity_of(
        &mut self,
        account: &AccountId,
        below: Option<&ActivityId>,
        limit: u32,
    ) -> Result<Vec<Activity>, StoreError> {
        self.run(|conn| activity::of_account(conn, account, below, limit))
    }

    fn count_activity(
        &mut self,
        account: &AccountId,
        kind: ActivityKind,
        since: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| activity::count(conn, account, kind, since, limit))
    }

    fn daily_counts(
        &mut self,
        key: &ApiKeyId,
        since: Timestamp,
    ) -> Result<Vec<DailyCount>, StoreError> {
        self.run(|conn| {
            let days = c::table
                .filter(c::api_key_id.eq(key.to_string()))
                .filter(c::day.ge(since.as_millis()))
                .order(c::day)
                .select((c::day, c::sent, c::received, c::delivered));
            days.load::<(i64, i64, i64, i64)>(conn)?.into_iter().map(daily_count).collect()
        })
    }

    fn count_pending(&mut self, key: &ApiKeyId, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            // The query reads at most `limit` rows, so that a long backlog does not make it slow.
            let waiting = sql_query(COUNT_WAITING)
                .bind::<Text, _>(key.to_string())
                .bind::<BigInt, _>(i64::from(limit));
            let WaitingCount { counted } = waiting.get_result(conn)?;
            columns::number(counted, "number of deliveries")
        })
    }
}

#[derive(QueryableByName)]
struct WaitingCount {
    #[diesel(sql_type = BigInt)]
    counted: i64,
}

const COUNT_WAITING: &str = "SELECT count(*) AS counted FROM (SELECT 1 FROM deliveries \
    JOIN webhooks ON webhooks.id = deliveries.webhook_id \
    WHERE webhooks.api_key_id = $1 AND deliveries.due_at IS NOT NULL LIMIT $2) AS waiting";

fn overviews(
    conn: &mut AnyConnection,
    account: &AccountId,
    keys: Vec<ApiKey>,
    waiting_max: u32,
) -> Result<Vec<KeyOverview>, Fault> {
    let ids: Vec<_> = keys.iter().map(|key| key.id.to_string()).collect();
    let mut usage = usage_of(conn, &ids)?;
    let mut webhooks = webhooks_of(conn, &ids)?;
    let mut waiting = waiting::count(conn, &ids, waiting_max)?;
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
            usage: usage.remove(id).ok_or(Fault::Corrupt("usage of a key"))?,
            standing: decisions.standing(&subjects),
            webhooks: webhooks.remove(id).unwrap_or_default(),
            waiting: waiting.remove(id).unwrap_or_default(),
            key,
        })
    };
    ids.iter().zip(keys).map(overview).collect()
}

fn usage_of(conn: &mut AnyConnection, ids: &[String]) -> Result<HashMap<String, Usage>, Fault> {
    let rows = usage::table.filter(usage::api_key_id.eq_any(ids));
    on_backend!(conn, c => rows.load::<UsageRow>(c))?
        .into_iter()
        .map(|row| Ok((row.api_key_id.clone(), row.read()?)))
        .collect()
}

fn webhooks_of(conn: &mut AnyConnection, ids: &[String]) -> Result<HashMap<String, u64>, Fault> {
    let counts = w::table
        .filter(w::api_key_id.eq_any(ids))
        .group_by(w::api_key_id)
        .select((w::api_key_id, count_star()));
    on_backend!(conn, c => counts.load::<(String, i64)>(c))?
        .into_iter()
        .map(|(id, count)| Ok((id, columns::number(count, "number of webhooks")?)))
        .collect()
}

fn daily_count(
    (day, sent, received, delivered): (i64, i64, i64, i64),
) -> Result<DailyCount, Fault> {
    let number = |count| columns::number(count, "daily count");
    Ok(DailyCount {
        day: Timestamp::from_millis(day),
        sent: number(sent)?,
        received: number(received)?,
        delivered: number(delivered)?,
    })
}
