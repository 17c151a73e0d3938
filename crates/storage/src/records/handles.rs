//! Stores handles: unique names that senders can use instead of API keys.

use diesel::{
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus,
    ports::{HandleOwner, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, reader::Reader, transaction::Transaction},
    rows::columns,
    schema::{api_keys as k, handles},
};

impl Reader {
    /// Finds the key and the account that own a handle, even if the key is revoked. `None` if the handle is free.
    pub fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError> {
        let owner = self.run(|conn| find(conn, handle))?;
        self.handles_seen.insert(handle.clone(), owner.map(|owner| owner.api_key_id));
        Ok(owner)
    }
}

pub(crate) fn find(
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

/// Assigns a free handle (the unique name of an API key) to its first owner. Returns `Contended` if another transaction
/// assigned the handle first.
pub(crate) fn take(
    conn: &mut AnyConnection,
    handle: &Handle,
    owner: &HandleOwner,
) -> Result<(), Fault> {
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

/// Moves a handle (unique name) from the API key `before` to another key of the same account. Returns `Contended` if
/// another transaction moved the handle first.
pub(crate) fn take_over(
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

/// Frees a handle (the unique name of an API key). Returns `Contended` if another transaction has moved the handle to
/// another key.
pub(crate) fn release(
    conn: &mut AnyConnection,
    handle: &Handle,
    owner: &HandleOwner,
) -> Result<(), Fault> {
    let seen = handles::table
        .find(handle.as_str())
        .filter(handles::api_key_id.eq(owner.api_key_id.to_string()));
    let released = diesel::delete(seen).execute(conn)?;
    if released == 1 { Ok(()) } else { Err(Fault::Contended(Error::NotFound)) }
}

/// Finds the handle (unique name) of an API key; `None` if the key has no handle.
pub(crate) fn find_of_key(
    conn: &mut AnyConnection,
    id: &ApiKeyId,
) -> Result<Option<Handle>, Fault> {
    let handle = handles::table
        .filter(handles::api_key_id.eq(id.to_string()))
        .select(handles::handle)
        .first::<String>(conn)
        .optional()?;
    handle.as_deref().map(columns::handle).transpose()
}

impl Transaction {
    /// Counts the handles of the account's revoked keys. Such a handle stays reserved for the account.
    pub fn count_revoked_handles(&mut self, account: &AccountId) -> Result<u64, StoreError> {
        self.run(|conn| {
            let revoked = handles::table
                .inner_join(k::table)
                .filter(handles::account_id.eq(account.to_string()))
                .filter(k::status.eq(KeyStatus::Revoked.as_str()));
            columns::number(revoked.count().get_result::<i64>(conn)?, "number of handles")
        })
    }
}
