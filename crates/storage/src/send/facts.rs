//! Locks and reads the facts for a request or a batch of sends. Facts are the rows that admission (the decision to
//! accept a send) depends on: sessions, keys, usage, webhooks, idempotency records and governance decisions.
//!
//! The usage row of a key is the lock of the key. A transaction locks the usage rows of the callers first, then reads
//! all other facts without locking them. A change of these facts therefore waits only for sends of the same key.
//!
//! Keys, handles, policies and webhooks are cached by API key, together with the facts version of the key: a number
//! that changes with every change of these rows. A transaction reads the rows again only if the version has changed. It
//! always reads the versions, the sessions and the open decisions (decisions that are not lifted).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, GovernanceReason, GovernanceStanding, Session, TokenHash, Usage, WebhookId,
    WebhookStatus,
    ports::{
        AdmissionFacts, FactsQuery, KeyFacts, RecipientWebhook, RecipientWebhooks, StoreError,
    },
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
        row_types::{SelectedRow, columns_of},
    },
    rows::{
        columns,
        plan::PlanRow,
        policy::{PolicyRow, ReasonRow},
        session::{self, SessionRow},
        usage::UsageRow,
        webhook::{TargetRow, is_inactive},
    },
    schema::{api_keys, handles, policies, webhooks},
    send::{
        facts_cache::FactsCache,
        idempotency,
        statements::{self, FactRows},
    },
};

impl Transaction {
    /// Locks the usage rows of the callers until the transaction ends, then reads all [facts](AdmissionFacts) that
    /// admission depends on. Sees every change committed before the call. Locks rows in the order of ids to prevent
    /// deadlocks.
    ///
    /// A change of a caller's key waits for this transaction, because [`lock_key`](Self::lock_key) locks the same usage
    /// row. A change of a recipient's key does not wait.
    pub fn lock_facts(&mut self, query: &FactsQuery) -> Result<AdmissionFacts, StoreError> {
        let cache = Arc::clone(&self.facts_cache);
        let (facts, addresses) = self.run(|conn| {
            let ids = query.keys();
            let FactRows { usage, addresses, versions, sessions, decisions } =
                statements::lock_facts(conn, query, &ids)?;
            let versions = read_versions(&ids, &versions)?;
            let (keys, webhooks) = read_keys_and_webhooks(conn, query, &ids, &versions, &cache)?;
            let usage = by_key(&usage)?;
            let addresses: Vec<_> = usage.iter().map(|(key, _)| *key).zip(addresses).collect();
            let facts = AdmissionFacts {
                sessions: read_sessions(sessions)?,
                keys: with_standing(keys, read_decisions(decisions)?),
                usage: usage.into_iter().collect(),
                webhooks,
                idempotency: idempotency::find(conn, &query.idempotency)?,
                contacts: HashSet::new(),
            };
            Ok((facts, addresses))
        })?;
        self.usage_addresses.extend(addresses);
        Ok(facts)
    }
}

/// Returns the facts version of each key, a number that changes with the key and its webhooks; 0 if none is stored.
fn read_versions(
    ids: &[ApiKeyId],
    stored: &[(String, i64)],
) -> Result<HashMap<ApiKeyId, i64>, QueryError> {
    let mut versions: HashMap<_, _> = ids.iter().map(|id| (*id, 0)).collect();
    for (id, version) in stored {
        versions.insert(columns::id(id, "facts version")?, *version);
    }
    Ok(versions)
}

fn read_sessions(rows: Vec<SessionRow>) -> Result<HashMap<TokenHash, Session>, QueryError> {
    let read = |row| session::read(row).map(|session| (session.token, session));
    rows.into_iter().map(read).collect()
}

fn read_decisions(
    rows: Vec<(String, ReasonRow)>,
) -> Result<HashMap<ApiKeyId, Vec<GovernanceReason>>, QueryError> {
    let mut decisions = HashMap::<ApiKeyId, Vec<GovernanceReason>>::new();
    for (key, reason) in rows {
        decisions.entry(columns::id(&key, "key")?).or_default().push(reason.read()?);
    }
    Ok(decisions)
}

type Keys = HashMap<ApiKeyId, Arc<KeyFacts>>;
type Webhooks = HashMap<ApiKeyId, Arc<RecipientWebhooks>>;

/// Takes keys and webhooks from the cache if their facts versions are still current. Reads all others from the
/// database.
fn read_keys_and_webhooks(
    conn: &mut AnyConnection,
    query: &FactsQuery,
    ids: &[ApiKeyId],
    versions: &HashMap<ApiKeyId, i64>,
    cache: &FactsCache,
) -> Result<(Keys, Webhooks), QueryError> {
    let (mut keys, mut webhooks) = cache.get(ids, &query.recipients, versions);
    let missing_keys = missing(ids, &keys);
    let missing_webhooks = missing(&query.recipients, &webhooks);
    if !missing_keys.is_empty() || !missing_webhooks.is_empty() {
        let read_keys = read_keys(conn, &missing_keys)?;
        let read_webhooks = read_webhooks(conn, &missing_webhooks)?;
        cache.insert(&read_keys, &read_webhooks, versions);
        keys.extend(read_keys);
        webhooks.extend(read_webhooks);
    }
    let changed = lock_inactive(conn, &webhooks)?;
    webhooks.extend(read_webhooks(conn, &changed)?);
    Ok((keys, webhooks))
}

fn missing<V>(wanted: &[ApiKeyId], found: &HashMap<ApiKeyId, V>) -> Vec<ApiKeyId> {
    wanted.iter().filter(|key| !found.contains_key(key)).copied().collect()
}

fn by_key(rows: &[UsageRow]) -> Result<Vec<(ApiKeyId, Usage)>, QueryError> {
    rows.iter().map(|row| Ok((columns::id(&row.api_key_id, "usage")?, row.read()?))).collect()
}

#[derive(Debug, Queryable)]
struct KeyRow {
    id: String,
    account_id: String,
    status: String,
    plan: PlanRow,
    handle: Option<String>,
    sealing_version: i32,
    policy: Option<PolicyRow>,
}

/// Reads API keys without their governance decisions, which are not cached with the key.
fn read_keys(conn: &mut AnyConnection, ids: &[ApiKeyId]) -> Result<Keys, QueryError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let keys = api_keys::table
        .left_join(handles::table.on(handles::api_key_id.eq(api_keys::id)))
        .left_join(policies::table.on(policies::api_key_id.eq(api_keys::id)))
        .filter(any_of(api_keys::id, columns::texts(ids)))
        .select((
            api_keys::id,
            api_keys::account_id,
            api_keys::status,
            columns_of::<PlanRow>(),
            handles::handle.nullable(),
            api_keys::sealing_version,
            policies::all_columns.nullable(),
        ));
    let rows = on_backend!(conn, c => keys.load::<KeyRow>(c))?;
    rows.into_iter()
        .map(|row| {
            let facts = KeyFacts {
                account_id: columns::id(&row.account_id, "key")?,
                status: columns::key_status(&row.status)?,
                plan: row.plan.read()?,
                handle: row.handle.as_deref().map(columns::handle).transpose()?,
                sealing_version: columns::number(row.sealing_version, "sealing version")?,
                standing: GovernanceStanding::default(),
                policy: row.policy.map(|policy| policy.read().map(Arc::new)).transpose()?,
            };
            Ok((columns::id(&row.id, "key")?, Arc::new(facts)))
        })
        .collect()
}

/// Reads the webhooks of each key. A key without webhooks gets an empty entry.
fn read_webhooks(conn: &mut AnyConnection, keys: &[ApiKeyId]) -> Result<Webhooks, QueryError> {
    type Row = (String, String, String, String, TargetRow);
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = webhooks::table
        .inner_join(api_keys::table.on(api_keys::id.eq(webhooks::api_key_id)))
        .filter(any_of(webhooks::api_key_id, columns::texts(keys)))
        .order(webhooks::id)
        .select((
            webhooks::api_key_id,
            api_keys::account_id,
            webhooks::status,
            webhooks::events,
            TargetRow::SELECTION,
        ));
    let mut found: HashMap<ApiKeyId, RecipientWebhooks> =
        keys.iter().map(|key| (*key, RecipientWebhooks::default())).collect();
    for (key, account_id, status, events, target) in on_backend!(conn, c => rows.load::<Row>(c))? {
        let of_key = found.entry(columns::id(&key, "webhook")?).or_default();
        of_key.0.push(RecipientWebhook {
            events: columns::known_events(&events),
            is_active: status == WebhookStatus::Enabled.as_str() && !target.paused,
            target: Arc::new(target.read(&account_id)?),
        });
    }
    Ok(found.into_iter().map(|(key, of_key)| (key, Arc::new(of_key))).collect())
}

/// Locks the webhooks that were read as disabled or paused, so that they stay inactive until the transaction ends.
/// Returns the API keys with a webhook that is active again; the caller must read their webhooks again. Does nothing on
/// SQLite.
///
/// This batch postpones deliveries to inactive webhooks. A transaction that enables or resumes such a webhook waits for
/// the lock. It therefore finds the deliveries of this batch, and makes them due.
fn lock_inactive(conn: &mut AnyConnection, found: &Webhooks) -> Result<Vec<ApiKeyId>, QueryError> {
    let AnyConnection::Postgres(conn) = conn else { return Ok(Vec::new()) };
    let inactive: Vec<_> = found.values().flat_map(|of_key| inactive_ids(of_key)).collect();
    if inactive.is_empty() {
        return Ok(Vec::new());
    }
    let rows = webhooks::table
        .filter(any_of(webhooks::id, columns::texts(&inactive)))
        .filter(is_inactive())
        .order(webhooks::id)
        .select(webhooks::id);
    let locked: Vec<String> = Locked::new(rows, RowLock::Shared).load(conn)?;
    let locked: HashSet<WebhookId> =
        locked.iter().map(|id| columns::id(id, "webhook")).collect::<Result<_, _>>()?;
    let is_changed = |of_key: &RecipientWebhooks| {
        inactive_ids(of_key).any(|webhook_id| !locked.contains(&webhook_id))
    };
    Ok(found.iter().filter(|(_, of_key)| is_changed(of_key)).map(|(key, _)| *key).collect())
}

fn inactive_ids(of_key: &RecipientWebhooks) -> impl Iterator<Item = WebhookId> {
    of_key.0.iter().filter(|webhook| !webhook.is_active).map(|webhook| webhook.target.webhook_id)
}

/// Adds the open governance decisions (those that are not lifted) to the API keys that they affect.
fn with_standing(mut keys: Keys, decisions: HashMap<ApiKeyId, Vec<GovernanceReason>>) -> Keys {
    for (id, reasons) in decisions {
        if let Some(key) = keys.get_mut(&id) {
            let standing = GovernanceStanding(reasons);
            *key = Arc::new(KeyFacts { standing, ..KeyFacts::clone(key) });
        }
    }
    keys
}
