//! Stores handles: unique names that senders can use instead of API keys.

use diesel::{
    dsl::exists,
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use sealpost_domain::{
    AccountId, ApiKeyId, Handle, KeyStatus,
    ports::{HandleOwner, StoreError},
};
use sha2::{Digest as _, Sha256};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    rows::columns,
    schema::{api_keys as k, erased_handles, handles},
};

impl Reader {
    /// Finds the key and the account that own a handle, even if the key is revoked. `None` if the handle is free.
    pub fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError> {
        let owner =
            handles::table.find(handle.as_str()).select((handles::account_id, handles::api_key_id));
        let owner = self.first(owner, |(account_id, api_key_id): (String, String)| {
            Ok(HandleOwner {
                account_id: columns::id(&account_id, "handle")?,
                api_key_id: columns::id(&api_key_id, "handle")?,
            })
        })?;
        self.handles_seen.insert(handle.clone(), owner.map(|owner| owner.api_key_id));
        Ok(owner)
    }
}

/// Assigns a free handle to its first owner. Returns [`QueryError::Contended`] if the handle is already taken.
pub(crate) fn take(
    conn: &mut AnyConnection,
    handle: &Handle,
    owner: &HandleOwner,
) -> Result<(), QueryError> {
    let row = (
        handles::handle.eq(handle.as_str()),
        handles::account_id.eq(owner.account_id.to_string()),
        handles::api_key_id.eq(owner.api_key_id.to_string()),
    );
    match diesel::insert_into(handles::table).values(row).execute(conn) {
        Err(taken @ Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            Err(QueryError::Contended(taken))
        }
        done => Ok(done.map(drop)?),
    }
}

/// Moves a handle from the API key `before` to another key of the same account. Returns [`QueryError::Contended`] if
/// the handle no longer belongs to `before`.
pub(crate) fn take_over(
    conn: &mut AnyConnection,
    handle: &Handle,
    before: &ApiKeyId,
    owner: &HandleOwner,
) -> Result<(), QueryError> {
    let seen = handles::table
        .find(handle.as_str())
        .filter(handles::account_id.eq(owner.account_id.to_string()))
        .filter(handles::api_key_id.eq(before.to_string()));
    let moved = diesel::update(seen)
        .set(handles::api_key_id.eq(owner.api_key_id.to_string()))
        .execute(conn)?;
    if moved == 1 { Ok(()) } else { Err(QueryError::Contended(Error::NotFound)) }
}

/// Finds the handle of an API key; `None` if the key has no handle.
pub(crate) fn find_of_key(
    conn: &mut AnyConnection,
    id: &ApiKeyId,
) -> Result<Option<Handle>, QueryError> {
    let handle = handles::table
        .filter(handles::api_key_id.eq(id.to_string()))
        .select(handles::handle)
        .first::<String>(conn)
        .optional()?;
    handle.as_deref().map(columns::handle).transpose()
}

impl Transaction {
    /// Assigns a handle to the key in `owner`. The caller has checked that the handle is free or belongs to the same
    /// account. Returns [`StoreError::Contended`] if a concurrent transaction took the handle.
    pub fn assign_handle(
        &mut self,
        handle: &Handle,
        owner: &HandleOwner,
    ) -> Result<(), StoreError> {
        // The caller decided by an earlier lookup of the handle's owner. The owner may have changed since then. The
        // write therefore requires the owner that the lookup returned.
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

    /// Releases a handle that belongs to `owner`. Returns [`StoreError::Contended`] if a concurrent transaction gave
    /// the handle to another key.
    pub fn release_handle(
        &mut self,
        handle: &Handle,
        owner: &HandleOwner,
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let seen = handles::table
                .find(handle.as_str())
                .filter(handles::api_key_id.eq(owner.api_key_id.to_string()));
            let released = diesel::delete(seen).execute(conn)?;
            if released == 1 { Ok(()) } else { Err(QueryError::Contended(Error::NotFound)) }
        })?;
        self.handles_seen.insert(handle.clone(), None);
        Ok(())
    }

    /// Finds the handle by which senders can address the key. `None` if the key has no handle.
    pub fn find_handle_of(&mut self, id: &ApiKeyId) -> Result<Option<Handle>, StoreError> {
        self.run(|conn| find_of_key(conn, id))
    }

    /// Returns whether the handle belonged to an erased account. No other account may take such a handle.
    pub fn is_handle_erased(&mut self, handle: &Handle) -> Result<bool, StoreError> {
        let erased = erased_handles::table.find(hash(handle.as_str()));
        self.run(|conn| Ok(diesel::select(exists(erased)).get_result(conn)?))
    }

    /// Counts the handles of the account's revoked keys. These handles stay reserved for the account.
    pub fn count_revoked_handles(&mut self, account: &AccountId) -> Result<u64, StoreError> {
        let revoked = handles::table
            .inner_join(k::table)
            .filter(handles::account_id.eq(account.to_string()))
            .filter(k::status.eq(KeyStatus::Revoked.as_str()));
        self.number(revoked.count(), "number of handles")
    }
}

/// Stores the hash of a handle of an erased account, so that no other account can take the handle. A reader of the
/// database can find the handle only by guessing.
pub(crate) fn insert_erased(conn: &mut AnyConnection, handle: &str) -> Result<(), QueryError> {
    let row = erased_handles::hash.eq(hash(handle));
    let insert = diesel::insert_into(erased_handles::table).values(row);
    on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))?;
    Ok(())
}

fn hash(handle: &str) -> Vec<u8> {
    Sha256::new().chain_update(PREFIX).chain_update(handle).finalize().to_vec()
}

const PREFIX: &[u8] = b"sealpost/v1/erased-handle/";
