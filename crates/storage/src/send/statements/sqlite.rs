//! The send statements for SQLite: one prepared statement for each row.

use std::{collections::BTreeSet, sync::LazyLock};

use diesel::{
    SqliteConnection,
    dsl::{exists, not},
    prelude::*,
    sql_types::{BigInt, Binary, Bool, Text},
    upsert::excluded,
};
use sealpost_domain::{ApiKeyId, GovernanceStatus, IdempotencyKey, TokenHash, ports::FactsQuery};

use super::{BatchRows, FactRows};
use crate::{
    connection::query_error::QueryError,
    query::{
        any_of::{any_of, any_token},
        row_types::{self, SelectedRow, StoredRow, columns_of},
        statement::Statement,
    },
    rows::{
        columns,
        envelope::{self, HashedMetaRow, MetaRow},
        idempotency::{IdempotencyRow, IdempotentSendRow},
        policy::{ContactRow, ReasonRow},
        session::SessionRow,
        usage::{OverageRow, UsageRow},
    },
    schema::{
        accounts, api_keys, api_tokens as t, contacts as c, deliveries, envelopes as e,
        facts_versions as v, governance as g, idempotency_keys as k, overages as o, sessions as s,
        usage as u,
    },
};

/// Reads the facts without locks, because this transaction is the only writer.
pub(super) fn lock_facts(
    conn: &mut SqliteConnection,
    query: &FactsQuery,
    keys: &[ApiKeyId],
) -> Result<FactRows, QueryError> {
    let callers = columns::texts(&query.callers);
    let texts = columns::texts(keys);
    Ok(FactRows {
        usage: u::table.filter(any_of(u::api_key_id, callers)).load(conn)?,
        addresses: Vec::new(),
        versions: v::table.filter(any_of(v::api_key_id, &texts)).load(conn)?,
        sessions: read_sessions(conn, &query.sessions)?,
        decisions: read_decisions(conn, &texts)?,
    })
}

/// Reads sessions and API tokens.
fn read_sessions(
    conn: &mut SqliteConnection,
    tokens: &[TokenHash],
) -> QueryResult<Vec<SessionRow>> {
    let sessions = s::table.filter(any_token(s::token, tokens));
    let mut found: Vec<SessionRow> =
        sessions.select((s::token, s::account_id, s::expires_at)).load(conn)?;
    if found.len() < tokens.len() {
        let tokens = t::table.filter(any_token(t::token, tokens)).select((
            t::token,
            t::account_id,
            t::expires_at,
        ));
        found.extend(tokens.load::<SessionRow>(conn)?);
    }
    Ok(found)
}

fn read_decisions(
    conn: &mut SqliteConnection,
    keys: &[String],
) -> QueryResult<Vec<(String, ReasonRow)>> {
    if !Statement::<_, Bool>::query(IS_GOVERNED).get_result::<bool>(conn)? {
        return Ok(Vec::new());
    }
    let subjects: Vec<(String, String, Option<String>)> = api_keys::table
        .inner_join(accounts::table)
        .filter(any_of(api_keys::id, keys))
        .select((api_keys::id, api_keys::account_id, accounts::partner_id))
        .load(conn)?;
    let all: BTreeSet<_> = subjects
        .iter()
        .flat_map(|(key, account, partner)| [Some(key), Some(account), partner.as_ref()])
        .flatten()
        .collect();
    let decisions: Vec<(String, ReasonRow)> = g::table
        .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
        .filter(any_of(g::subject, all))
        .order((g::since, g::id))
        .select((g::subject, columns_of::<ReasonRow>()))
        .load(conn)?;
    let of_key = |(key, account, partner): &(String, String, Option<String>)| {
        let subjects = [Some(key), Some(account), partner.as_ref()].into_iter().flatten();
        let on = |subject| decisions.iter().filter(move |(on, _)| on == subject);
        subjects.flat_map(on).map(|(_, reason)| (key.clone(), reason.clone())).collect::<Vec<_>>()
    };
    Ok(subjects.iter().flat_map(of_key).collect())
}

/// Selects whether any governance decision is open (not lifted). The status is a literal in the SQL text. With a bound
/// parameter, SQLite would prepare the statement again for each batch, to decide if it can use a partial index.
const IS_GOVERNED: &str =
    "/* send.is_governed */ SELECT EXISTS (SELECT 1 FROM governance WHERE status <> 'lifted')";

pub(super) fn store_batch(
    conn: &mut SqliteConnection,
    rows: &BatchRows<'_>,
) -> Result<(), QueryError> {
    for row in &rows.envelopes {
        diesel::insert_into(e::table).values(row).execute(conn)?;
    }
    for row in &rows.deliveries {
        diesel::insert_into(deliveries::table).values(row).execute(conn)?;
    }
    if !rows.leaves.is_empty() {
        Statement::command(INSERT_LEAVES).bind::<Binary, _>(rows.leaves).execute(conn)?;
    }
    for (row, added_bytes) in rows.usage.iter().zip(&rows.added_bytes) {
        update_usage(conn, row, *added_bytes)?;
    }
    Ok(())
}

const INSERT_LEAVES: &str =
    "/* send.insert_leaves */ INSERT INTO log_statements (kind, subject, text, leaves)
    VALUES ('envelopes', '', '', ?)";

fn update_usage(
    conn: &mut SqliteConnection,
    row: &UsageRow,
    added_bytes: i64,
) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| row_types::update_one_and_add::<UsageRow>("stored_bytes"));
    let statement = Statement::command(&TEXT).bind::<BigInt, _>(added_bytes);
    let updated = row.bind_key_last(statement).execute(conn)?;
    if updated == 1 { Ok(()) } else { Err(QueryError::Corrupt("usage")) }
}

pub(super) fn find_idempotent_sends(
    conn: &mut SqliteConnection,
    keys: &[(ApiKeyId, IdempotencyKey)],
) -> Result<Vec<IdempotentSendRow>, QueryError> {
    type Record = (String, String, Vec<u8>, String, i64, Option<String>, Option<String>);
    let mut found = Vec::new();
    for (caller, key) in keys {
        let record = k::table.find((caller.to_string(), key.as_str())).first::<Record>(conn);
        let Some(record) = record.optional()? else { continue };
        let (caller, key, fingerprint, envelope, at, state, results) = record;
        // A statement of its own, because the compiler takes seconds to check a join with these columns.
        let envelope = e::table
            .filter(e::id.eq(envelope))
            .select((MetaRow::SELECTION, e::sealed))
            .first::<HashedMetaRow>(conn)
            .optional()?
            .map(|(meta, sealed)| (meta, envelope::hash(&sealed)));
        if results.is_some() || envelope.is_some() {
            found.push((caller, key, fingerprint, at, state, results, envelope));
        }
    }
    Ok(found)
}

pub(super) fn delete_stale_idempotency_keys(
    conn: &mut SqliteConnection,
    rows: &[IdempotencyRow<'_>],
    expiries: &[i64],
) -> Result<(), QueryError> {
    for (row, expired_before) in rows.iter().zip(expiries) {
        let envelope = e::table.filter(e::id.eq(k::envelope_id));
        let stale = k::table.find((&row.api_key_id, row.idempotency_key)).filter(
            k::created_at.lt(expired_before).or(k::results.is_null().and(not(exists(envelope)))),
        );
        diesel::delete(stale).execute(conn)?;
    }
    Ok(())
}

pub(super) fn insert_contacts(
    conn: &mut SqliteConnection,
    rows: &[ContactRow],
) -> Result<(), QueryError> {
    for row in rows {
        Statement::command(
            "/* send.insert_contacts */ INSERT INTO contacts (api_key_id, contact, sent_at) VALUES (?, ?, ?)
             ON CONFLICT (api_key_id, contact) DO UPDATE SET sent_at = excluded.sent_at
             WHERE sent_at <= excluded.sent_at - 10000",
        )
        .bind::<Text, _>(&row.api_key_id)
        .bind::<Text, _>(&row.contact)
        .bind::<BigInt, _>(row.sent_at)
        .execute(conn)?;
    }
    Ok(())
}

pub(super) fn find_contacts(
    conn: &mut SqliteConnection,
    pairs: &[(ApiKeyId, ApiKeyId)],
    since: i64,
) -> Result<Vec<(String, String)>, QueryError> {
    let mut found = Vec::new();
    for (key, contact) in pairs {
        let contact = c::table.find((key.to_string(), contact.to_string()));
        let contact = contact.filter(c::sent_at.ge(since));
        found.extend(contact.select((c::api_key_id, c::contact)).first(conn).optional()?);
    }
    Ok(found)
}

pub(super) fn add_overages(
    conn: &mut SqliteConnection,
    rows: &[OverageRow],
) -> Result<(), QueryError> {
    for row in rows {
        diesel::insert_into(o::table)
            .values(row)
            .on_conflict((o::api_key_id, o::month))
            .do_update()
            .set(o::messages.eq(o::messages + excluded(o::messages)))
            .execute(conn)?;
    }
    Ok(())
}
