//! Stores for each version of the key-encryption key a mark, and the copies that key providers, such as a cloud
//! service, have wrapped (encrypted). A key file needs no copies in the database. A mark is a known text encrypted
//! under one version, and shows whether a key file matches the database.

use diesel::prelude::*;
use sealpost_domain::{
    Wrapped,
    ports::{Durability, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError},
    database::Database,
    migrations,
    rows::columns,
    schema::{kek_marks as m, kek_versions as v},
};

/// A version of the key-encryption key, wrapped (encrypted) by a key provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedKek {
    /// The version of the key.
    pub version: u32,
    /// The name of the provider that has wrapped the key.
    pub provider: String,
    /// The wrapped key.
    pub wrapped: Wrapped,
}

impl Database {
    /// Returns whether a key-encryption key has been used with this database: a mark of any version is stored, even of
    /// a retired version. Returns false for a new database, which has no table of marks.
    pub fn has_kek_mark(&self) -> Result<bool, StoreError> {
        self.look_up(|conn| {
            let has_table = migrations::has_table(conn, "kek_marks")?;
            Ok(has_table && m::table.count().get_result::<i64>(conn)? > 0)
        })
    }

    /// Reads each key version that is not retired, and its mark: a known text encrypted under this version.
    pub fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError> {
        self.look_up(active_marks)
    }

    /// Inserts the mark of a key version: a known text encrypted under this version. Changes nothing if a mark of this
    /// version is stored, even a retired one. Read the marks again afterwards, because another node with a different
    /// key may have inserted its mark first.
    pub fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError> {
        let row = (m::version.eq(i64::from(version)), m::mark.eq(&mark.0));
        self.transact(Durability::Durable, |conn| {
            let insert = diesel::insert_into(m::table).values(row);
            on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))?;
            Ok(())
        })
    }

    /// Reads all wrapped key-encryption keys, ordered by version. Returns an empty list if the table does not exist
    /// yet.
    pub fn wrapped_keks(&self) -> Result<Vec<WrappedKek>, StoreError> {
        self.look_up(|conn| {
            let has_table = migrations::has_table(conn, "kek_versions")?;
            if has_table { wrapped_keks(conn) } else { Ok(Vec::new()) }
        })
    }

    /// Inserts a wrapped key-encryption key. Returns `false` if the provider already has a key of this version.
    pub fn insert_wrapped_kek(&self, kek: &WrappedKek) -> Result<bool, StoreError> {
        let row = (
            v::version.eq(i64::from(kek.version)),
            v::provider.eq(&kek.provider),
            v::wrapped.eq(&kek.wrapped.0),
        );
        self.transact(Durability::Durable, |conn| {
            let insert = diesel::insert_into(v::table).values(row);
            Ok(on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))? == 1)
        })
    }

    /// Deletes the wrapped keys of all providers except one, and returns the number of deleted keys. `None` deletes
    /// all.
    pub fn delete_other_wrapped_keks(&self, kept: Option<&str>) -> Result<usize, StoreError> {
        // For `None`, compares with the empty name, which no provider has. All keys are then deleted.
        let others = v::table.filter(v::provider.ne(kept.unwrap_or_default()));
        self.transact(Durability::Durable, |conn| Ok(diesel::delete(others).execute(conn)?))
    }
}

/// Returns the marks of the versions that are not retired.
pub(crate) fn active_marks(conn: &mut AnyConnection) -> Result<Vec<(u32, Wrapped)>, QueryError> {
    let rows = m::table
        .filter(m::retired_at.is_null())
        .order(m::version)
        .select((m::version, m::mark))
        .load::<(i64, Vec<u8>)>(conn)?;
    rows.into_iter()
        .map(|(version, mark)| Ok((columns::number(version, "KEK mark")?, Wrapped(mark))))
        .collect()
}

/// Reads all wrapped key-encryption keys, ordered by version.
pub(crate) fn wrapped_keks(conn: &mut AnyConnection) -> Result<Vec<WrappedKek>, QueryError> {
    let rows = v::table
        .order((v::version, v::provider))
        .select((v::version, v::provider, v::wrapped))
        .load::<(i64, String, Vec<u8>)>(conn)?;
    rows.into_iter()
        .map(|(version, provider, wrapped)| {
            let version = columns::number(version, "KEK version")?;
            Ok(WrappedKek { version, provider, wrapped: Wrapped(wrapped) })
        })
        .collect()
}
