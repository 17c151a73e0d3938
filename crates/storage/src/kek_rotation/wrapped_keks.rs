//! Stores the key-encryption keys that a key provider has wrapped (encrypted). Key files need no such rows.

use diesel::prelude::*;
use sealpost_domain::{
    Wrapped,
    ports::{Durability, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend},
    database::Database,
    migrations,
    rows::columns,
    schema::kek_versions as v,
};

/// A key-encryption key, wrapped by a provider.
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
    /// Reads all wrapped key-encryption keys, ordered by version. A database without the table has none.
    pub fn wrapped_keks(&self) -> Result<Vec<WrappedKek>, StoreError> {
        self.look_up(|conn| {
            let has_table = migrations::has_table(conn, "kek_versions")?;
            if has_table { all(conn) } else { Ok(Vec::new()) }
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

/// Reads all wrapped key-encryption keys, ordered by version.
pub(crate) fn all(conn: &mut AnyConnection) -> Result<Vec<WrappedKek>, Fault> {
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
