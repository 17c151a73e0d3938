//! Counts accounts, keys, webhooks, envelopes and deliveries for the statistics that operators see.

use diesel::{
    dsl::count_star,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable},
};
use sealpost_domain::{
    KeyStatus, Timestamp, WebhookStatus,
    ports::{ServiceStats, StoreError},
};

use crate::{
    connection::{AnyConnection, query_error::QueryError, transaction::Reader},
    rows::columns::{self, NumberRow},
    schema::{accounts as a, api_keys as k, webhooks as w},
};

impl Reader {
    /// Counts the accounts, keys, webhooks, envelopes and deliveries of the whole service. Stops counting envelopes and
    /// deliveries at `counted_max`. Adds up the daily counts of days that begin at `since` or later.
    pub fn stats(
        &mut self,
        since: Timestamp,
        counted_max: u32,
    ) -> Result<ServiceStats, StoreError> {
        self.run(|conn| {
            let by_status =
                k::table.group_by(k::status).order(k::status).select((k::status, count_star()));
            let by_plan = k::table
                .filter(k::status.ne(KeyStatus::Revoked.as_str()))
                .group_by(k::plan)
                .order(k::plan)
                .select((k::plan, count_star()));
            let webhooks =
                w::table.group_by(w::status).order(w::status).select((w::status, count_star()));
            let webhook_status = |name: &str| {
                WebhookStatus::from_name(name).ok_or(QueryError::Corrupt("webhook status"))
            };
            let DayTotals { sent, delivered } =
                sql_query(DAY_TOTALS).bind::<BigInt, _>(since.as_millis()).get_result(conn)?;
            Ok(ServiceStats {
                accounts: count(a::table.count().get_result(conn)?)?,
                keys_by_status: counts(by_status.load(conn)?, columns::key_status)?,
                keys_by_plan: counts(by_plan.load(conn)?, |plan| Ok(plan.to_owned()))?,
                webhooks: counts(webhooks.load(conn)?, webhook_status)?,
                envelopes: count_up_to(conn, ENVELOPES, counted_max)?,
                waiting_deliveries: count_up_to(conn, WAITING_DELIVERIES, counted_max)?,
                sent: count(sent.unwrap_or(0))?,
                delivered: count(delivered.unwrap_or(0))?,
                database_bytes: database_bytes(conn)?,
            })
        })
    }
}

fn counts<T>(
    rows: Vec<(String, i64)>,
    group: impl Fn(&str) -> Result<T, QueryError>,
) -> Result<Vec<(T, u64)>, QueryError> {
    rows.into_iter().map(|(name, number)| Ok((group(&name)?, count(number)?))).collect()
}

fn count_up_to(
    conn: &mut AnyConnection,
    query: &'static str,
    counted_max: u32,
) -> Result<u64, QueryError> {
    let NumberRow { number } =
        sql_query(query).bind::<BigInt, _>(i64::from(counted_max)).get_result(conn)?;
    count(number)
}

fn database_bytes(conn: &mut AnyConnection) -> Result<u64, QueryError> {
    let query = match conn {
        AnyConnection::Postgres(_) => BYTES_POSTGRES,
        AnyConnection::Sqlite(_) => BYTES_SQLITE,
    };
    let NumberRow { number } = sql_query(query).get_result(conn)?;
    count(number)
}

fn count(number: i64) -> Result<u64, QueryError> {
    columns::number(number, "number of rows")
}

#[derive(QueryableByName)]
struct DayTotals {
    #[diesel(sql_type = Nullable<BigInt>)]
    sent: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    delivered: Option<i64>,
}

const ENVELOPES: &str = "/* stats.envelopes */ SELECT count(*) AS number FROM (SELECT id FROM envelopes LIMIT $1) AS counted";
const WAITING_DELIVERIES: &str = "/* stats.waiting_deliveries */ SELECT count(*) AS number FROM \
    (SELECT due_at FROM deliveries WHERE due_at IS NOT NULL LIMIT $1) AS counted";
const DAY_TOTALS: &str = "/* stats.day_totals */ SELECT CAST(sum(sent) AS BIGINT) AS sent, \
    CAST(sum(delivered) AS BIGINT) AS delivered FROM daily_counts WHERE day >= $1";
const BYTES_POSTGRES: &str =
    "/* stats.bytes_postgres */ SELECT pg_database_size(current_database()) AS number";
const BYTES_SQLITE: &str = "/* stats.bytes_sqlite */ SELECT page_count * page_size AS number \
    FROM pragma_page_count, pragma_page_size";
