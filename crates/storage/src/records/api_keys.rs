//! Stores API keys: inserts, finds and locks keys, and changes their status, plan, sealing version and displayed
//! handle.

use diesel::prelude::*;
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Did, Handle, KeyStatus, Label, Plan, Timestamp, Usage, Wrapped,
    ports::{JournaledAct, KeyFilter, KeySnapshot, StoreError},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{any_of::any_of, row_types::columns_of},
    rows::{columns, plan::PlanRow, usage::UsageRow},
    schema::{api_keys as k, usage, webhooks},
    send::usage_rows,
};

pub(crate) fn find_key(
    conn: &mut AnyConnection,
    id: &ApiKeyId,
) -> Result<Option<ApiKey>, QueryError> {
    let row = k::table
        .find(id.to_string())
        .select(columns_of::<KeyRow>())
        .first::<KeyRow>(conn)
        .optional()?;
    row.map(KeyRow::read).transpose()
}

impl Reader {
    /// Finds an API key, even if the key is revoked. `None` if no key has this id.
    pub fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.run(|conn| find_key(conn, id))
    }

    /// Finds API keys by id, in any order, even if they are revoked. Omits missing keys.
    pub fn find_keys(&mut self, ids: &[ApiKeyId]) -> Result<Vec<ApiKey>, StoreError> {
        self.run(|conn| {
            let keys =
                k::table.filter(any_of(k::id, columns::texts(ids))).select(columns_of::<KeyRow>());
            let rows = on_backend!(conn, c => keys.load::<KeyRow>(c))?;
            rows.into_iter().map(KeyRow::read).collect()
        })
    }

    /// Reads snapshots of the given keys: the fields that decide whether cached secrets of a key are still valid.
    /// Returns the snapshots in any order. Omits missing keys.
    pub fn find_key_snapshots(&mut self, ids: &[ApiKeyId]) -> Result<Vec<KeySnapshot>, StoreError> {
        self.run(|conn| {
            let snapshots = k::table.filter(any_of(k::id, columns::texts(ids))).select((
                k::id,
                k::status,
                k::sealing_version,
            ));
            let rows = on_backend!(conn, c => snapshots.load::<(String, String, i32)>(c))?;
            let snapshot = |(id, status, version): (String, String, i32)| {
                Ok(KeySnapshot {
                    id: columns::id(&id, "key")?,
                    status: columns::key_status(&status)?,
                    sealing_version: columns::number(version, "sealing version")?,
                })
            };
            rows.into_iter().map(snapshot).collect()
        })
    }

    /// Lists up to `limit` keys that meet all conditions of the filter, newest first. If `below` is given, lists only
    /// keys with smaller ids.
    pub fn keys(
        &mut self,
        filter: &KeyFilter,
        below: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let KeyFilter { account, handle, label, status, plan } = filter;
        let mut keys = k::table
            .order(k::id.desc())
            .limit(limit.into())
            .select(columns_of::<KeyRow>())
            .into_boxed();
        if let Some(account) = account {
            keys = keys.filter(k::account_id.eq(account.to_string()));
        }
        if let Some(handle) = handle {
            keys = keys.filter(k::handle.eq(handle.to_string()));
        }
        if let Some(label) = label {
            keys = keys.filter(k::label.eq(label.to_string()));
        }
        if let Some(status) = status {
            keys = keys.filter(k::status.eq(status.as_str()));
        }
        if let Some(plan) = plan {
            keys = keys.filter(k::plan.eq(plan));
        }
        if let Some(below) = below {
            keys = keys.filter(k::id.lt(below.to_string()));
        }
        self.load(keys, KeyRow::read)
    }
}

/// Returns up to `limit` keys of an account, newest first, with revoked keys after all others.
pub(crate) fn keys_of_account(
    conn: &mut AnyConnection,
    account: &AccountId,
    limit: u32,
) -> Result<Vec<ApiKey>, QueryError> {
    let keys = k::table
        .filter(k::account_id.eq(account.to_string()))
        .order((k::status.eq(KeyStatus::Revoked.as_str()), k::id.desc()))
        .limit(limit.into())
        .select(columns_of::<KeyRow>());
    keys.load::<KeyRow>(conn)?.into_iter().map(KeyRow::read).collect()
}

impl Transaction {
    /// Inserts a new key and its usage counters, which start at zero.
    pub fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(k::table).values(KeyRow::new(key)?).execute(conn)?;
            diesel::insert_into(usage::table)
                .values(&UsageRow::new(&key.id, &Usage::UNUSED))
                .execute(conn)?;
            Ok(())
        })
    }

    /// Counts the keys of the account that are not revoked.
    pub fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError> {
        let live = k::table
            .filter(k::account_id.eq(account.to_string()))
            .filter(k::status.ne(KeyStatus::Revoked.as_str()));
        self.number(live.count(), "number of keys")
    }

    /// Sets the handle that is displayed for a key that this transaction has locked; `None` displays no handle. Does
    /// not assign the handle: see [`assign_handle`](crate::Transaction::assign_handle).
    pub fn set_shown_handle(
        &mut self,
        id: &ApiKeyId,
        handle: Option<&Handle>,
    ) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        let handle = handle.map(Handle::as_str);
        self.change_one(update.set(k::handle.eq(handle)), "key")
    }

    /// Counts the webhooks of a key.
    pub fn count_webhooks(&mut self, key: &ApiKeyId) -> Result<u64, StoreError> {
        let of_key = webhooks::table.filter(webhooks::api_key_id.eq(key.to_string()));
        self.number(of_key.count(), "number of webhooks")
    }

    /// Locks the usage row of the key until the transaction ends, then reads the key. `None` if the key does not exist.
    ///
    /// All changes and all sends of a key lock this row first. Two such transactions therefore never run concurrently
    /// for the same key.
    pub fn lock_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        // The usage row is locked first, because requests and batches of sends also lock this row first. The same order
        // prevents deadlocks.
        self.run(|conn| {
            usage_rows::lock(conn, id)?;
            // The key is read by a second statement, which sees the changes of the transaction that held the lock
            // before.
            find_key(conn, id)
        })
    }

    /// Sets the status of a key that this transaction has locked. The caller has checked that the state machine allows
    /// the change.
    pub fn set_status(&mut self, id: &ApiKeyId, status: KeyStatus) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        self.change_one(update.set(k::status.eq(status.as_str())), "key")?;
        match status {
            KeyStatus::Active => self.journaled_acts.add(JournaledAct::KeyActivated(*id)),
            KeyStatus::Deactivated => self.journaled_acts.add(JournaledAct::KeyDeactivated(*id)),
            KeyStatus::Revoked => self.journaled_acts.add(JournaledAct::KeyRevoked(*id)),
            KeyStatus::Rotating => {}
        }
        Ok(())
    }

    /// Sets the newest version of the sealing key of an API key that this transaction has locked.
    pub fn set_sealing_version(&mut self, id: &ApiKeyId, version: u32) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        let version: i32 = columns::number(version, "sealing version")?;
        self.change_one(update.set(k::sealing_version.eq(version)), "key")
    }

    /// Sets the plan of a key that this transaction has locked. The usage counters do not change.
    pub fn set_plan(&mut self, id: &ApiKeyId, plan: &Plan) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        self.change_one(update.set(PlanRow::from(*plan)), "key")
    }
}

/// A row of the table `api_keys`.
#[derive(Debug, Insertable, Queryable, Selectable)]
#[diesel(table_name = k, treat_none_as_default_value = false)]
struct KeyRow {
    id: String,
    account_id: String,
    label: String,
    handle: Option<String>,
    did: String,
    status: String,
    #[diesel(embed)]
    plan: PlanRow,
    root: Option<Vec<u8>>,
    sealing_version: i32,
    created_at: i64,
}

impl KeyRow {
    fn new(key: &ApiKey) -> Result<Self, QueryError> {
        Ok(Self {
            id: key.id.to_string(),
            account_id: key.account_id.to_string(),
            label: key.label.to_string(),
            handle: key.handle.as_ref().map(Handle::to_string),
            did: key.did.as_str().to_owned(),
            status: key.status.to_string(),
            plan: key.plan.into(),
            root: key.root.as_ref().map(|root| root.0.clone()),
            sealing_version: columns::number(key.sealing_version, "sealing version")?,
            created_at: key.created_at.as_millis(),
        })
    }

    fn read(self) -> Result<ApiKey, QueryError> {
        Ok(ApiKey {
            id: columns::id(&self.id, "key")?,
            account_id: columns::id(&self.account_id, "key")?,
            label: Label::parse(&self.label).ok().ok_or(QueryError::Corrupt("label"))?,
            handle: self.handle.as_deref().map(columns::handle).transpose()?,
            did: Did::new(self.did),
            status: columns::key_status(&self.status)?,
            plan: self.plan.read()?,
            root: self.root.map(Wrapped),
            sealing_version: columns::number(self.sealing_version, "sealing version")?,
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
