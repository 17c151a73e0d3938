//! The send statements for PostgreSQL: one statement for each batch, with an array for each column.

use std::sync::LazyLock;

use diesel::{
    PgConnection,
    dsl::SqlTypeOf,
    pg::Pg,
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Binary, Nullable, Record, Text},
};
use sealpost_domain::{ApiKeyId, IdempotencyKey, ports::FactsQuery};

use super::{BatchRows, FactRows};
use crate::{
    connection::query_error::QueryError,
    query::{
        row_address::{RowAddress, Tid},
        row_types::{self, SelectedRow, StoredRow},
        statement::Statement,
    },
    rows::{
        columns,
        delivery::DeliveryRow,
        envelope::{EnvelopeRow, MetaRow},
        idempotency::{IdempotencyRow, IdempotentSendRow},
        policy::{ContactRow, ReasonRow},
        session::SessionRow,
        usage::{OverageRow, UsageRow},
    },
    schema::{facts_versions, usage},
    send::usage_rows,
};

/// Calls the SQL function `lock_facts`, which the migrations define. The function returns one row, with an array of
/// records for usage, facts versions, sessions and governance decisions.
pub(super) fn lock_facts(
    conn: &mut PgConnection,
    query: &FactsQuery,
    keys: &[ApiKeyId],
) -> Result<FactRows, QueryError> {
    type Records<R> = Array<Record<R>>;
    type Row = (
        Records<(Record<usage::SqlType>, Tid)>,
        Records<facts_versions::SqlType>,
        Records<(Binary, Text, BigInt)>,
        Records<(Text, Text, Text, Text, BigInt)>,
    );
    type UsageRecord = <UsageRow as Queryable<usage::SqlType, Pg>>::Row;
    type DecisionRecord = (String, String, String, String, i64);
    type Found =
        (Vec<(UsageRecord, RowAddress)>, Vec<(String, i64)>, Vec<SessionRow>, Vec<DecisionRecord>);

    let statement =
        Statement::<_, Row>::query("/* send.lock_facts */ SELECT * FROM lock_facts(?, ?, ?)")
            .bind_array::<Text, _>(columns::texts(&query.callers).into_iter())
            .bind_array::<Text, _>(columns::texts(keys).into_iter())
            .bind_array::<Binary, _>(query.sessions.iter().map(|token| &token.0[..]));
    let (usage, versions, sessions, decisions): Found = statement.get_result(conn)?;
    let (usage, addresses): (Vec<_>, Vec<_>) = usage.into_iter().unzip();
    let usage = usage.into_iter().map(<UsageRow as Queryable<usage::SqlType, Pg>>::build);
    let decision =
        |(key, kind, status, reason, since)| (key, ReasonRow { kind, status, reason, since });
    Ok(FactRows {
        usage: usage.collect::<Result<_, _>>().map_err(Error::DeserializationError)?,
        addresses,
        versions,
        sessions,
        decisions: decisions.into_iter().map(decision).collect(),
    })
}

/// Stores envelopes and deliveries, and updates usage, in one statement.
pub(super) fn store_batch(conn: &mut PgConnection, rows: &BatchRows<'_>) -> Result<(), QueryError> {
    let BatchRows { envelopes, deliveries, usage, addresses, added_bytes, leaves } = rows;
    let statement = if envelopes.is_empty() && deliveries.is_empty() {
        Statement::command(&SET_USAGE)
    } else {
        let statement = EnvelopeRow::bind_arrays(envelopes, Statement::command(&STORE_BATCH));
        DeliveryRow::bind_arrays(deliveries, statement).bind::<Binary, _>(*leaves)
    };
    let statement = UsageRow::bind_arrays(usage, statement.bind_array::<Tid, _>(addresses.iter()));
    let updated = statement.bind_array::<BigInt, _>(added_bytes.iter()).execute(conn)?;
    if updated == usage.len() { Ok(()) } else { Err(QueryError::Corrupt("usage")) }
}

static SET_USAGE: LazyLock<String> = LazyLock::new(|| {
    let Some((_, counters)) = UsageRow::COLUMNS.split_first() else { return String::new() };
    let values = counters.iter().map(|column| format!("{column} = n.{column}, "));
    let values = values.collect::<String>() + "stored_bytes = u.stored_bytes + n.stored_bytes";
    let columns = [UsageRow::COLUMNS, &["stored_bytes"]].concat();
    usage_rows::update(&columns, &values)
});

static STORE_BATCH: LazyLock<String> = LazyLock::new(|| {
    let envelopes = row_types::insert_all::<EnvelopeRow<'_>>();
    let deliveries = row_types::insert_all::<DeliveryRow>();
    format!(
        "/* send.store_batch */ WITH stored AS ({envelopes}), queued AS ({deliveries}), listed AS (
             INSERT INTO log_statements (kind, subject, text, leaves)
             SELECT 'envelopes', '', '', leaves FROM (SELECT ?::BYTEA AS leaves) AS n WHERE leaves <> ''
         ) {}",
        *SET_USAGE
    )
});

pub(super) fn find_idempotent_sends(
    conn: &mut PgConnection,
    keys: &[(ApiKeyId, IdempotencyKey)],
) -> Result<Vec<IdempotentSendRow>, QueryError> {
    type Row = (
        Text,
        Text,
        Binary,
        BigInt,
        Nullable<Text>,
        Nullable<Text>,
        Nullable<(SqlTypeOf<<MetaRow as SelectedRow>::Selection>, Binary)>,
    );
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "/* send.find_idempotent_sends */ SELECT k.api_key_id, k.idempotency_key, k.fingerprint, k.created_at, k.state, k.results, {}
             FROM unnest(?, ?) AS n (api_key_id, idempotency_key)
             JOIN idempotency_keys AS k
                 ON k.api_key_id = ANY (ARRAY[n.api_key_id])
                 AND k.idempotency_key = n.idempotency_key
             LEFT JOIN envelopes AS e ON e.id = ANY (ARRAY[k.envelope_id])
             WHERE k.results IS NOT NULL OR e.id IS NOT NULL",
            MetaRow::list_with_hash("e")
        )
    });
    Ok(Statement::<_, Row>::query(&TEXT)
        .bind_array::<Text, _>(keys.iter().map(|(caller, _)| caller.to_string()))
        .bind_array::<Text, _>(keys.iter().map(|(_, key)| key.as_str()))
        .load(conn)?)
}

pub(super) fn delete_stale_idempotency_keys(
    conn: &mut PgConnection,
    rows: &[IdempotencyRow<'_>],
    expiries: &[i64],
) -> Result<(), QueryError> {
    Statement::command(
        "/* send.delete_stale_idempotency_keys */ DELETE FROM idempotency_keys AS k
         USING unnest(?, ?, ?) AS n (api_key_id, idempotency_key, expired_before)
         WHERE k.api_key_id = ANY (ARRAY[n.api_key_id])
             AND k.idempotency_key = n.idempotency_key
             AND (k.created_at < n.expired_before
                 OR (k.results IS NULL AND NOT EXISTS (
                     SELECT FROM envelopes AS e WHERE e.id = ANY (ARRAY[k.envelope_id])
                 )))",
    )
    .bind_array::<Text, _>(rows.iter().map(|row| &row.api_key_id))
    .bind_array::<Text, _>(rows.iter().map(|row| row.idempotency_key))
    .bind_array::<BigInt, _>(expiries.iter())
    .execute(conn)?;
    Ok(())
}

pub(super) fn insert_contacts(
    conn: &mut PgConnection,
    rows: &[ContactRow],
) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        row_types::insert_all::<ContactRow>()
            + " ON CONFLICT (api_key_id, contact) DO UPDATE SET sent_at = excluded.sent_at
               WHERE contacts.sent_at <= excluded.sent_at - 10000"
    });
    ContactRow::bind_arrays(rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}

pub(super) fn find_contacts(
    conn: &mut PgConnection,
    pairs: &[(ApiKeyId, ApiKeyId)],
    since: i64,
) -> Result<Vec<(String, String)>, QueryError> {
    Ok(Statement::<_, (Text, Text)>::query(
        "/* send.find_contacts */ SELECT c.api_key_id, c.contact FROM unnest(?, ?) AS n (api_key_id, contact)
         JOIN contacts AS c ON c.api_key_id = ANY (ARRAY[n.api_key_id]) AND c.contact = n.contact
         WHERE c.sent_at >= ?",
    )
    .bind_array::<Text, _>(pairs.iter().map(|(key, _)| key.to_string()))
    .bind_array::<Text, _>(pairs.iter().map(|(_, contact)| contact.to_string()))
    .bind::<BigInt, _>(since)
    .load(conn)?)
}

/// Adds messages above the monthly allowance to the stored counts. First sums up the messages of each key and month,
/// because one statement can update each row only once. The usage rows of the keys must be locked.
pub(super) fn add_overages(conn: &mut PgConnection, rows: &[OverageRow]) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let next = usage_rows::NEXT_GENERATION;
        format!(
            "/* send.add_overages */ WITH n AS MATERIALIZED (
                 SELECT n.*, (
                     SELECT o.generation FROM overages AS o
                     WHERE o.api_key_id = n.api_key_id AND o.month = n.month
                     ORDER BY o.generation DESC LIMIT 1
                 ) AS newest
                 FROM (
                     SELECT api_key_id, month, sum(messages)::BIGINT AS messages
                     FROM unnest(?, ?, ?) AS n (api_key_id, month, messages)
                     GROUP BY api_key_id, month
                 ) AS n
             ), updated AS (
                 UPDATE overages AS u SET messages = u.messages + n.messages, {next}
                 FROM n
                 WHERE u.api_key_id = ANY (ARRAY[n.api_key_id]) AND u.month = n.month
                     AND u.generation = n.newest
             )
             INSERT INTO overages (api_key_id, month, messages)
             SELECT api_key_id, month, messages FROM n WHERE newest IS NULL"
        )
    });
    OverageRow::bind_arrays(rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}
