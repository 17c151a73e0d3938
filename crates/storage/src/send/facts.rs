//! Reads the facts that admission depends on.
//!
//! One statement reads each kind of fact, and none if the query does not need the kind. Keys are locked first and usage
//! second, each in the order of ids, so that transactions cannot deadlock. Everything else is read after that.
//!
//! Batches of sends do not lock keys. Batches share a lock on all facts; a transaction that changes a fact takes the
//! lock exclusively. Batches cache facts until the facts version changes.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use diesel::{
    prelude::*,
    sql_types::{Bool, Text},
};
use sealpost_domain::{
    ApiKeyId, Session, TokenHash, Usage, WebhookStatus,
    ports::{AdmissionFacts, FactsQuery, KeyFacts, RecipientWebhooks},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
        row_types::{SelectedRow, columns_of},
    },
    records::{accounts, governance::OpenDecisions},
    rows::{columns, plan::PlanRow, usage::UsageRow, webhook::TargetRow},
    schema::{accounts as a, api_keys, handles, usage, webhooks},
    send::{facts_cache::FactsCache, idempotency, statements},
};

/// Locks and reads the facts for a single request.
pub(crate) fn lock(conn: &mut AnyConnection, wanted: &FactsQuery) -> Result<AdmissionFacts, Fault> {
    let keys = read_keys(conn, &wanted.keys(), KeyProtection::RowLocks)?;
    let usage = lock_usage(conn, &columns::texts(&wanted.callers))?;
    Ok(AdmissionFacts {
        sessions: read_sessions(conn, &wanted.sessions)?,
        webhooks: read_webhooks(conn, &wanted.recipients)?,
        keys: with_standing(conn, keys)?,
        idempotency: idempotency::find(conn, &wanted.idempotency)?,
        usage,
    })
}

/// Locks and reads the facts for a batch, which changes no fact but usage.
pub(crate) fn lock_for_batch(
    conn: &mut AnyConnection,
    wanted: &FactsQuery,
    cache: &FactsCache,
) -> Result<AdmissionFacts, Fault> {
    let (usage, version) =
        statements::lock_usage_and_facts(conn, &columns::texts(&wanted.callers))?;
    let keys = wanted.keys();
    let mut facts = cache.get(&version, wanted, &keys);
    let keys = read_keys(conn, &absent(&keys, &facts.keys), KeyProtection::FactsLock)?;
    let read = AdmissionFacts {
        sessions: read_sessions(conn, &absent(&wanted.sessions, &facts.sessions))?,
        webhooks: read_webhooks(conn, &absent(&wanted.recipients, &facts.webhooks))?,
        keys: with_standing(conn, keys)?,
        ..AdmissionFacts::default()
    };
    cache.insert(&version, &read);
    facts.sessions.extend(read.sessions);
    facts.webhooks.extend(read.webhooks);
    facts.keys.extend(read.keys);
    facts.idempotency = idempotency::find(conn, &wanted.idempotency)?;
    facts.usage = by_key(&usage)?;
    Ok(facts)
}

fn absent<K: Copy + Eq + Hash, V>(wanted: &[K], known: &HashMap<K, V>) -> Vec<K> {
    wanted.iter().filter(|key| !known.contains_key(key)).copied().collect()
}

#[derive(Debug, Queryable)]
struct KeyRow {
    id: String,
    account_id: String,
    partner_id: Option<String>,
    status: String,
    plan: PlanRow,
    handle: Option<String>,
    sealing_version: i32,
}

/// The lock that keeps keys unchanged until the transaction ends.
#[derive(Debug, Clone, Copy)]
enum KeyProtection {
    /// The lock on all facts, which the transaction already holds.
    FactsLock,
    /// Shared row locks. Readers of the same keys do not wait for each other; a transaction that changes a key waits
    /// for all of them.
    RowLocks,
}

fn read_keys(
    conn: &mut AnyConnection,
    ids: &[ApiKeyId],
    protection: KeyProtection,
) -> Result<Vec<KeyRow>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys = api_keys::table
        .inner_join(a::table)
        .left_join(handles::table.on(handles::api_key_id.eq(api_keys::id)))
        .filter(any_of(api_keys::id, columns::texts(ids)))
        .order(api_keys::id)
        .select((
            api_keys::id,
            api_keys::account_id,
            a::partner_id,
            api_keys::status,
            columns_of::<PlanRow>(),
            handles::handle.nullable(),
            api_keys::sealing_version,
        ));
    let rows = on_backend!(conn, c => match protection {
        KeyProtection::FactsLock => keys.load(c),
        KeyProtection::RowLocks => Locked::new(keys, RowLock::SharedKeys).load(c),
    });
    Ok(rows?)
}

fn lock_usage(conn: &mut AnyConnection, ids: &[String]) -> Result<HashMap<ApiKeyId, Usage>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = usage::table.filter(any_of(usage::api_key_id, ids)).order(usage::api_key_id);
    let rows = match conn {
        AnyConnection::Postgres(c) => {
            let briefly = rows.filter(set_config(IDLE_MAX.0, IDLE_MAX.1, true).is_not_null());
            Locked::new(briefly, RowLock::Alone).load::<UsageRow>(c)?
        }
        AnyConnection::Sqlite(c) => rows.load(c)?,
    };
    by_key(&rows)
}

fn by_key(rows: &[UsageRow]) -> Result<HashMap<ApiKeyId, Usage>, Fault> {
    rows.iter().map(|row| Ok((columns::id(&row.api_key_id, "usage")?, row.read()?))).collect()
}

fn read_sessions(
    conn: &mut AnyConnection,
    tokens: &[TokenHash],
) -> Result<HashMap<TokenHash, Session>, Fault> {
    if tokens.is_empty() {
        return Ok(HashMap::new());
    }
    let found = accounts::find_sessions(conn, tokens)?;
    Ok(found.into_iter().map(|session| (session.token, session)).collect())
}

/// Reads the webhooks of each key. A key without webhooks gets an empty entry.
fn read_webhooks(
    conn: &mut AnyConnection,
    keys: &[ApiKeyId],
) -> Result<HashMap<ApiKeyId, Arc<RecipientWebhooks>>, Fault> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = webhooks::table
        .filter(any_of(webhooks::api_key_id, columns::texts(keys)))
        .order(webhooks::id)
        .select((webhooks::api_key_id, webhooks::status, TargetRow::SELECTION));
    let mut found: HashMap<ApiKeyId, RecipientWebhooks> =
        keys.iter().map(|key| (*key, RecipientWebhooks::default())).collect();
    for (key, status, row) in on_backend!(conn, c => rows.load::<(String, String, TargetRow)>(c))? {
        let (key, target) = (columns::id(&key, "webhook")?, row.read()?);
        let of_key = found.entry(key).or_default();
        if status == WebhookStatus::Enabled.as_str() {
            of_key.enabled.push(Arc::new(target));
        } else {
            of_key.disabled.push(target.webhook_id);
        }
    }
    Ok(found.into_iter().map(|(key, of_key)| (key, Arc::new(of_key))).collect())
}

/// Adds the governance decisions on each key, the account and the partner of the account.
fn with_standing(
    conn: &mut AnyConnection,
    rows: Vec<KeyRow>,
) -> Result<HashMap<ApiKeyId, Arc<KeyFacts>>, Fault> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let decisions = OpenDecisions::on(conn, &rows.iter().flat_map(KeyRow::subjects).collect())?;
    rows.into_iter()
        .map(|row| {
            let standing = decisions.standing(&row.subjects().collect::<Vec<_>>());
            let facts = KeyFacts {
                account_id: columns::id(&row.account_id, "key")?,
                status: columns::key_status(&row.status)?,
                plan: row.plan.read()?,
                handle: row.handle.as_deref().map(columns::handle).transpose()?,
                sealing_version: columns::number(row.sealing_version, "sealing version")?,
                standing,
            };
            Ok((columns::id(&row.id, "key")?, Arc::new(facts)))
        })
        .collect()
}

impl KeyRow {
    fn subjects(&self) -> impl Iterator<Item = &str> {
        [&*self.id, &*self.account_id].into_iter().chain(self.partner_id.as_deref())
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// A function of PostgreSQL. With `is_local`, the setting is restored when the transaction ends.
    fn set_config(name: Text, value: Text, is_local: Bool) -> Nullable<Text>;
}

/// The idle timeout of a transaction that holds usage rows, because sends of the same keys wait on every node. The
/// locking statement sets the timeout before the first lock: a separate statement would cost one more round trip.
const IDLE_MAX: (&str, &str) = ("idle_in_transaction_session_timeout", "2000");
