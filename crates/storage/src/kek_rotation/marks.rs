//! Stores the marks of key-encryption keys. A mark is a known text encrypted under one key version, and shows whether a
//! key file matches the database.

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
    schema::kek_marks,
};

impl Database {
    /// Returns whether a key-encryption key has been used with this database. Such a database has at least one mark, a
    /// known text encrypted under a key version. The version may be retired: the key file no longer needs to contain
    /// it. A database without the table of marks is new.
    pub fn has_kek_mark(&self) -> Result<bool, StoreError> {
        self.look_up(|conn| {
            let has_table = migrations::has_table(conn, "kek_marks")?;
            Ok(has_table && kek_marks::table.count().get_result::<i64>(conn)? > 0)
        })
    }

    /// Reads each key version that is not retired, and its mark: a known text encrypted under this version.
    pub fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError> {
        self.look_up(active)
    }

    /// Inserts the mark of a key version: a known text encrypted under this version. If a mark of this version is
    /// already stored, changes nothing, even if that mark is retired or was encrypted under a different key. Therefore
    /// read the marks again afterwards: another node with a different key may have inserted its mark first.
    pub fn insert_kek_mark(&self, version: u32, mark: &Wrapped) -> Result<(), StoreError> {
        let row = (kek_marks::version.eq(i64::from(version)), kek_marks::mark.eq(&mark.0));
        self.transact(Durability::Durable, |conn| {
            let insert = diesel::insert_into(kek_marks::table).values(row);
            on_backend!(conn, c => insert.on_conflict_do_nothing().execute(c))?;
            Ok(())
        })
    }
}

/// Returns the marks of the versions that are not retired.
pub(crate) fn active(conn: &mut AnyConnection) -> Result<Vec<(u32, Wrapped)>, Fault> {
    let rows = kek_marks::table
        .filter(kek_marks::retired_at.is_null())
        .order(kek_marks::version)
        .select((kek_marks::version, kek_marks::mark))
        .load::<(i64, Vec<u8>)>(conn)?;
    rows.into_iter()
        .map(|(version, mark)| Ok((columns::number(version, "KEK mark")?, Wrapped(mark))))
        .collect()
}
