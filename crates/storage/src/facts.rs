//! What admission depends on: a statement for each kind of fact, and none where nothing of the kind is asked. Keys are
//! locked first and usage second, each in the order of ids, so that nobody waits in a circle; everything else is read
//! when the locks are held.
//!
//! Batches of sends lock no keys. They share a lock on all facts at once, which who changes one takes alone, and remember
//! what they have read for as long as nothing changes.

mod memory;

use std::{collections::HashMap, hash::Hash, sync::Arc};

pub(crate) use self::memory::Memory;

use diesel::{
    prelude::*,
    sql_types::{Bool, Text},
};
use sealpost_domain::{
    ApiKeyId, Session, TokenHash, Usage, WebhookStatus,
    ports::{AdmissionFacts, FactsQuery, KeyFacts, RecipientWebhooks},
};

use crate::{
    account,
    any_of::any_of,
    batch, columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    governance::Decisions,
    idempotency, key,
    locking::{Locked, RowLock},
    plan::{self, PlanRow},
    schema::{accounts, api_keys, handles, usage, webhooks},
    usage::UsageRow,
    webhook::{self, TargetRow},
};

pub(crate) fn lock(conn: &mut AnyConnection, wanted: &FactsQuery) -> Result<AdmissionFacts, Fault> {
    let keys = read_keys(conn, &wanted.keys(), Hold::Rows)?;
    let usage = lock_usage(conn, &columns::texts(&wanted.callers))?;
    Ok(AdmissionFacts {
        sessions: read_sessions(conn, &wanted.sessions)?,
        webhooks: read_webhooks(conn, &wanted.recipients)?,
        keys: with_standing(conn, keys)?,
        idempotency: idempotency::recall(conn, &wanted.idempotency)?,
        usage,
    })
}

/// The same for a transaction that changes none of it but usage.
pub(crate) fn lock_of_batch(
    conn: &mut AnyConnection,
    wanted: &FactsQuery,
    memory: &Memory,
) -> Result<AdmissionFacts, Fault> {
    let (usage, stamp) = batch::lock_usage_and_facts(conn, &columns::texts(&wanted.callers))?;
    let keys = wanted.keys();
    let mut facts = memory.recall(&stamp, wanted, &keys);
    let keys = read_keys(conn, &absent(&keys, &facts.keys), Hold::Stamp)?;
    let read = AdmissionFacts {
        sessions: read_sessions(conn, &absent(&wanted.sessions, &facts.sessions))?,
        webhooks: read_webhooks(conn, &absent(&wanted.recipients, &facts.webhooks))?,
        keys: with_standing(conn, keys)?,
        ..AdmissionFacts::default()
    };
    memory.keep(&stamp, &read);
    facts.sessions.extend(read.sessions);
    facts.webhooks.extend(read.webhooks);
    facts.keys.extend(read.keys);
    facts.idempotency = idempotency::recall(conn, &wanted.idempotency)?;
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

/// What keeps keys as they are until the transaction ends.
#[derive(Debug, Clone, Copy)]
enum Hold {
    /// Their rows, shared, so that those who rely on the same keys do not wait for each other; whoever changes a key
    /// waits for all of them.
    Rows,
    /// The lock on all facts, which is held already.
    Stamp,
}

fn read_keys(conn: &mut AnyConnection, ids: &[ApiKeyId], hold: Hold) -> Result<Vec<KeyRow>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys = api_keys::table
        .inner_join(accounts::table)
        .left_join(handles::table.on(handles::api_key_id.eq(api_keys::id)))
        .filter(any_of(api_keys::id, columns::texts(ids)))
        .order(api_keys::id)
        .select((
            api_keys::id,
            api_keys::account_id,
            accounts::partner_id,
            api_keys::status,
            plan::COLUMNS,
            handles::handle.nullable(),
            api_keys::sealing_version,
        ));
    let rows = on_backend!(conn, c => match hold {
        Hold::Rows => Locked::new(keys, RowLock::SharedKeys).load(c),
        Hold::Stamp => keys.load(c),
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
    let found = account::find_sessions(conn, tokens)?;
    Ok(found.into_iter().map(|session| (session.token, session)).collect())
}

/// Of each of these keys, also where it has none.
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
        .select((webhooks::api_key_id, webhooks::status, webhook::TARGET));
    let mut found: HashMap<ApiKeyId, RecipientWebhooks> =
        keys.iter().map(|key| (*key, RecipientWebhooks::default())).collect();
    for (key, status, row) in on_backend!(conn, c => rows.load::<(String, String, TargetRow)>(c))? {
        let (key, target) = (columns::id(&key, "webhook")?, webhook::target(row)?);
        let of_key = found.entry(key).or_default();
        if status == WebhookStatus::Enabled.as_str() {
            of_key.enabled.push(Arc::new(target));
        } else {
            of_key.disabled.push(target.webhook_id);
        }
    }
    Ok(found.into_iter().map(|(key, of_key)| (key, Arc::new(of_key))).collect())
}

/// Joins what governance decided about each key, its account and its account's partner.
fn with_standing(
    conn: &mut AnyConnection,
    rows: Vec<KeyRow>,
) -> Result<HashMap<ApiKeyId, Arc<KeyFacts>>, Fault> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let decisions = Decisions::on(conn, &rows.iter().flat_map(KeyRow::subjects).collect())?;
    rows.into_iter()
        .map(|row| {
            let standing = decisions.standing(&row.subjects().collect::<Vec<_>>());
            let facts = KeyFacts {
                account_id: columns::id(&row.account_id, "key")?,
                status: key::status(&row.status)?,
                plan: row.plan.read()?,
                handle: row.handle.as_deref().map(key::handle).transpose()?,
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
    /// PostgreSQL's own; where it is local, the transaction's end takes the setting back.
    fn set_config(name: Text, value: Text, is_local: Bool) -> Nullable<Text>;
}

/// Sends of these keys wait, on every node, so a node that stands still is given up as soon as in a batch. Set by the
/// statement that locks, for each row before it is locked: a round trip would cost more than all it does.
const IDLE_MAX: (&str, &str) = ("idle_in_transaction_session_timeout", "2000");
