//! What admission depends on, for a whole batch: a statement for each kind of fact, and none where nothing of the
//! kind is asked. Keys are locked first and usage second, each in the order of ids, so that batches wait for each
//! other and never in a circle; everything else is read when the locks are held.

use std::{collections::HashMap, sync::Arc};

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, RegistrationStatus, Session, Target, TokenHash, Usage, WebhookId,
    ports::{Facts, KeyFacts, Wanted},
};

use crate::{
    account::{self, SessionRow},
    any_of::any_of,
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    governance::Decisions,
    idempotency, key,
    locking::{Locked, RowLock},
    plan::{self, PlanRow},
    schema::{accounts, api_keys, handles, sessions, usage, webhooks},
    usage::UsageRow,
    webhook::{self, TargetRow},
};

pub(crate) fn lock(conn: &mut AnyConnection, wanted: &Wanted) -> Result<Facts, Fault> {
    let mut ids: Vec<_> = wanted.callers.iter().chain(&wanted.recipients).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let keys = lock_keys(conn, &columns::texts(&ids))?;
    let usage = lock_usage(conn, &columns::texts(&wanted.callers))?;
    let registrations = read_registrations(conn, &columns::texts(&wanted.recipients))?;
    Ok(Facts {
        sessions: read_sessions(conn, &wanted.sessions)?,
        targets: registrations.enabled,
        disabled: registrations.disabled,
        keys: with_standing(conn, keys)?,
        remembered: idempotency::recall(conn, &wanted.idempotency)?,
        usage,
    })
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

/// Shared, so that batches do not wait for each other; whoever changes a key waits for all of them.
fn lock_keys(conn: &mut AnyConnection, ids: &[String]) -> Result<Vec<KeyRow>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys = api_keys::table
        .inner_join(accounts::table)
        .left_join(handles::table.on(handles::api_key_id.eq(api_keys::id)))
        .filter(any_of(api_keys::id, ids))
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
    Ok(on_backend!(conn, c => Locked::new(keys, RowLock::SharedKeys).load(c))?)
}

fn lock_usage(conn: &mut AnyConnection, ids: &[String]) -> Result<HashMap<ApiKeyId, Usage>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = usage::table.filter(any_of(usage::api_key_id, ids)).order(usage::api_key_id);
    let rows = on_backend!(conn, c => Locked::new(rows, RowLock::Alone).load::<UsageRow>(c))?;
    rows.iter().map(|row| Ok((columns::id(&row.api_key_id, "usage")?, row.read()?))).collect()
}

fn read_sessions(
    conn: &mut AnyConnection,
    tokens: &[TokenHash],
) -> Result<HashMap<TokenHash, Session>, Fault> {
    if tokens.is_empty() {
        return Ok(HashMap::new());
    }
    let shown = sessions::token.eq_any(tokens.iter().map(|token| &token.0[..]));
    let rows = sessions::table.filter(shown);
    on_backend!(conn, c => rows.load::<SessionRow>(c))?
        .into_iter()
        .map(|row| account::session(row).map(|session| (session.token, session)))
        .collect()
}

/// The registrations of each key that has any.
#[derive(Default)]
struct Registrations {
    enabled: HashMap<ApiKeyId, Vec<Arc<Target>>>,
    disabled: HashMap<ApiKeyId, Vec<WebhookId>>,
}

fn read_registrations(conn: &mut AnyConnection, keys: &[String]) -> Result<Registrations, Fault> {
    let mut found = Registrations::default();
    if keys.is_empty() {
        return Ok(found);
    }
    let rows = webhooks::table
        .filter(any_of(webhooks::api_key_id, keys))
        .order(webhooks::id)
        .select((webhooks::api_key_id, webhooks::status, webhook::TARGET));
    for (key, status, row) in on_backend!(conn, c => rows.load::<(String, String, TargetRow)>(c))? {
        let (key, target) = (columns::id(&key, "registration")?, webhook::target(row)?);
        if status == RegistrationStatus::Enabled.as_str() {
            found.enabled.entry(key).or_default().push(Arc::new(target));
        } else {
            found.disabled.entry(key).or_default().push(target.webhook_id);
        }
    }
    Ok(found)
}

/// Joins what governance decided about each key, its account and its account's partner.
fn with_standing(
    conn: &mut AnyConnection,
    rows: Vec<KeyRow>,
) -> Result<HashMap<ApiKeyId, KeyFacts>, Fault> {
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
            Ok((columns::id(&row.id, "key")?, facts))
        })
        .collect()
}

impl KeyRow {
    fn subjects(&self) -> impl Iterator<Item = &str> {
        [&*self.id, &*self.account_id].into_iter().chain(self.partner_id.as_deref())
    }
}
