//! The address of a row version in a PostgreSQL table, the system column `ctid`.

use std::io::Write as _;

use diesel::{
    deserialize::{self, FromSql, FromSqlRow},
    expression::AsExpression,
    pg::{Pg, PgValue},
    query_builder::QueryId,
    serialize::{self, IsNull, Output, ToSql},
    sql_types::SqlType,
};

/// The SQL type `TID` of PostgreSQL, the type of `ctid`.
#[derive(Debug, SqlType, QueryId)]
#[diesel(postgres_type(oid = 27, array_oid = 1010))]
pub(crate) struct Tid;

/// The address of a row version: four bytes for the page, two for the position in the page. With the address,
/// PostgreSQL finds the row without an index. The address of a locked row stays valid until the transaction updates the
/// row or ends.
#[derive(Debug, Clone, Copy, FromSqlRow, AsExpression)]
#[diesel(sql_type = Tid)]
pub(crate) struct RowAddress([u8; 6]);

impl FromSql<Tid, Pg> for RowAddress {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(value.as_bytes().try_into()?))
    }
}

impl ToSql<Tid, Pg> for RowAddress {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&self.0)?;
        Ok(IsNull::No)
    }
}
