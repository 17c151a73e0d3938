//! Keys and handles.

use diesel::{
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Did, Handle, KeyStatus, Label, Plan, Timestamp, Usage, Wrapped,
    ports::{HandleOwner, KeyRepo, KeySnapshot, Lookup, RevocationSummary, StoreError},
};

use crate::{
    any_of::any_of,
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    locking::{Locked, RowLock},
    plan::{self, PlanRow},
    revocation,
    schema::{api_keys as k, handles, usage, webhooks},
    unit::Unit,
    usage::UsageRow,
};

pub(crate) fn find_key(conn: &mut AnyConnection, id: &ApiKeyId) -> Result<Option<ApiKey>, Fault> {
    let row = k::table.find(id.to_string()).select(COLUMNS).first::<KeyRow>(conn).optional()?;
    row.map(KeyRow::read).transpose()
}

pub(crate) fn find_states(
    conn: &mut AnyConnection,
    ids: &[ApiKeyId],
) -> Result<Vec<KeySnapshot>, Fault> {
    let states = k::table.filter(any_of(k::id, columns::texts(ids))).select((
        k::id,
        k::status,
        k::sealing_version,
    ));
    let rows = on_backend!(conn, c => states.load::<(String, String, i32)>(c))?;
    let state = |(id, status, version): (String, String, i32)| {
        Ok(KeySnapshot {
            id: columns::id(&id, "key")?,
            status: self::status(&status)?,
            sealing_version: columns::number(version, "sealing version")?,
        })
    };
    rows.into_iter().map(state).collect()
}

/// The account's keys: those that are not revoked first, the newest first among each.
pub(crate) fn of_account(
    conn: &mut AnyConnection,
    account: &AccountId,
    limit: u32,
) -> Result<Vec<ApiKey>, Fault> {
    let keys = k::table
        .filter(k::account_id.eq(account.to_string()))
        .order((k::status.eq(KeyStatus::Revoked.as_str()), k::id.desc()))
        .limit(limit.into())
        .select(COLUMNS);
    keys.load::<KeyRow>(conn)?.into_iter().map(KeyRow::read).collect()
}

pub(crate) fn find_handle(
    conn: &mut AnyConnection,
    handle: &Handle,
) -> Result<Option<HandleOwner>, Fault> {
    let row = handles::table
        .find(handle.as_str())
        .select((handles::account_id, handles::api_key_id))
        .first::<(String, String)>(conn)
        .optional()?;
    row.map(|(account_id, api_key_id)| {
        Ok(HandleOwner {
            account_id: columns::id(&account_id, "handle")?,
            api_key_id: columns::id(&api_key_id, "handle")?,
        })
    })
    .transpose()
}

/// A handle as it was stored.
pub(crate) fn handle(text: &str) -> Result<Handle, Fault> {
    Handle::parse(text).ok().ok_or(Fault::Corrupt("handle"))
}

/// A status as it was stored.
pub(crate) fn status(name: &str) -> Result<KeyStatus, Fault> {
    KeyStatus::from_name(name).ok_or(Fault::Corrupt("key status"))
}

impl KeyRepo for Unit {
    fn insert_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::insert_into(k::table).values(KeyRow::of(key)?).execute(conn)?;
            diesel::insert_into(usage::table)
                .values(UsageRow::of(&key.id, &Usage::UNUSED))
                .execute(conn)?;
            Ok(())
        })
    }

    fn count_live_keys(&mut self, account: &AccountId) -> Result<u64, StoreError> {
        let live = k::table
            .filter(k::account_id.eq(account.to_string()))
            .filter(k::status.ne(KeyStatus::Revoked.as_str()));
        self.run(|conn| columns::number(live.count().get_result::<i64>(conn)?, "number of keys"))
    }

    /// Never from another account, since the caller has seen that it may be: who had it by then has been quicker.
    fn assign_handle(&mut self, handle: &Handle, owner: &HandleOwner) -> Result<(), StoreError> {
        // Every statement sees what was committed before it, so that the owner may be another one by now than the
        // one that the caller saw and decided on.
        let seen = match self.handles_seen.get(handle) {
            Some(seen) => *seen,
            None => self.find_handle(handle)?.map(|owner| owner.api_key_id),
        };
        self.run(|conn| match seen {
            Some(before) => take_over(conn, handle, &before, owner),
            None => take(conn, handle, owner),
        })?;
        self.handles_seen.insert(handle.clone(), Some(owner.api_key_id));
        Ok(())
    }

    fn count_webhooks(&mut self, key: &ApiKeyId) -> Result<u64, StoreError> {
        let of_key = webhooks::table.filter(webhooks::api_key_id.eq(key.to_string()));
        self.run(|conn| {
            columns::number(of_key.count().get_result::<i64>(conn)?, "number of webhooks")
        })
    }

    fn lock_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let key = k::table.find(id.to_string()).select(k::id);
        self.run(|conn| {
            let locked = Locked::new(key, RowLock::Alone);
            on_backend!(conn, c => locked.load::<String>(c))?;
            // Read when it is locked: as the one who was waited for has left it.
            find_key(conn, id)
        })
    }

    fn set_status(&mut self, id: &ApiKeyId, status: KeyStatus) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        self.run(|conn| {
            columns::one(update.set(k::status.eq(status.as_str())).execute(conn)?, "key")
        })
    }

    fn set_sealing_version(&mut self, id: &ApiKeyId, version: u32) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        self.run(|conn| {
            let version: i32 = columns::number(version, "sealing version")?;
            columns::one(update.set(k::sealing_version.eq(version)).execute(conn)?, "key")
        })
    }

    fn set_plan(&mut self, id: &ApiKeyId, plan: &Plan) -> Result<(), StoreError> {
        let update = diesel::update(k::table.find(id.to_string()));
        self.run(|conn| columns::one(update.set(PlanRow::from(*plan)).execute(conn)?, "key"))
    }

    fn revoke_key(&mut self, id: &ApiKeyId) -> Result<RevocationSummary, StoreError> {
        self.run(|conn| revocation::revoke(conn, id))
    }
}

/// Only while nobody has it.
fn take(conn: &mut AnyConnection, handle: &Handle, owner: &HandleOwner) -> Result<(), Fault> {
    let row = (
        handles::handle.eq(handle.as_str()),
        handles::account_id.eq(owner.account_id.to_string()),
        handles::api_key_id.eq(owner.api_key_id.to_string()),
    );
    match diesel::insert_into(handles::table).values(row).execute(conn) {
        Err(taken @ Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            Err(Fault::Contended(taken))
        }
        done => Ok(done.map(drop)?),
    }
}

/// Only from the owner that was seen, and within the account: who took it meanwhile has won.
fn take_over(
    conn: &mut AnyConnection,
    handle: &Handle,
    before: &ApiKeyId,
    owner: &HandleOwner,
) -> Result<(), Fault> {
    let seen = handles::table
        .find(handle.as_str())
        .filter(handles::account_id.eq(owner.account_id.to_string()))
        .filter(handles::api_key_id.eq(before.to_string()));
    let moved = diesel::update(seen)
        .set(handles::api_key_id.eq(owner.api_key_id.to_string()))
        .execute(conn)?;
    if moved == 1 { Ok(()) } else { Err(Fault::Contended(Error::NotFound)) }
}

type Columns = (
    k::id,
    k::account_id,
    k::label,
    k::handle,
    k::did,
    k::status,
    plan::Columns,
    k::root,
    k::sealing_version,
    k::created_at,
);

const COLUMNS: Columns = (
    k::id,
    k::account_id,
    k::label,
    k::handle,
    k::did,
    k::status,
    plan::COLUMNS,
    k::root,
    k::sealing_version,
    k::created_at,
);

/// As in the table.
#[derive(Debug, Insertable, Queryable)]
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
    fn of(key: &ApiKey) -> Result<Self, Fault> {
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

    fn read(self) -> Result<ApiKey, Fault> {
        Ok(ApiKey {
            id: columns::id(&self.id, "key")?,
            account_id: columns::id(&self.account_id, "key")?,
            label: Label::parse(&self.label).ok().ok_or(Fault::Corrupt("label"))?,
            handle: self.handle.as_deref().map(handle).transpose()?,
            did: Did::new(self.did),
            status: status(&self.status)?,
            plan: self.plan.read()?,
            root: self.root.map(Wrapped),
            sealing_version: columns::number(self.sealing_version, "sealing version")?,
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
