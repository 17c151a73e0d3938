//! Reads rows of any table: the cells of a row of SQLite, and the hash of a row of PostgreSQL.

use diesel::{
    QueryableByName,
    deserialize::{FromSql, Result},
    pg::{Pg, PgValue},
    row::{Field as _, NamedRow, Row},
    sql_types::{BigInt, Binary, Text},
    sqlite::{Sqlite, SqliteType},
};

use super::checksum::RowHasher;

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Bytes(Vec<u8>),
    Integer(i64),
    Null,
    Text(String),
}

/// A row of the source, an SQLite database.
#[derive(Debug)]
pub(super) struct SourceRow(pub(super) Vec<Cell>);

/// The hash of a row of the target, a PostgreSQL database.
#[derive(Debug)]
pub(super) struct TargetRowHash(pub(super) [u64; 4]);

impl Cell {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Integer(_) | Self::Null => 8,
            Self::Text(text) => text.len(),
        }
    }
}

impl SourceRow {
    pub(super) fn hash(&self) -> [u64; 4] {
        let mut hasher = RowHasher::default();
        for cell in &self.0 {
            match cell {
                Cell::Bytes(bytes) => hasher.bytes(bytes),
                Cell::Integer(number) => hasher.integer(*number),
                Cell::Null => hasher.null(),
                Cell::Text(text) => hasher.bytes(text.as_bytes()),
            }
        }
        hasher.finish()
    }
}

impl QueryableByName<Sqlite> for SourceRow {
    #[expect(single_use_lifetimes, reason = "`impl Trait` cannot have an anonymous lifetime yet")]
    fn build<'a>(row: &impl NamedRow<'a, Sqlite>) -> Result<Self> {
        let cell = |index| {
            let field = Row::get(row, index).ok_or("a column is missing")?;
            let Some(value) = field.value() else { return Ok(Cell::Null) };
            match value.value_type() {
                None => Ok(Cell::Null),
                Some(SqliteType::Binary) => {
                    <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value).map(Cell::Bytes)
                }
                Some(SqliteType::Text) => {
                    let text = <String as FromSql<Text, Sqlite>>::from_sql(value)?;
                    // PostgreSQL stores no text with this character.
                    Ok(Cell::Text(text.replace('\0', " ")))
                }
                Some(SqliteType::Integer | SqliteType::Long | SqliteType::SmallInt) => {
                    <i64 as FromSql<BigInt, Sqlite>>::from_sql(value).map(Cell::Integer)
                }
                Some(_) => Err("a value is a floating-point number".into()),
            }
        };
        (0..row.field_count()).map(cell).collect::<Result<_>>().map(Self)
    }
}

impl QueryableByName<Pg> for TargetRowHash {
    #[expect(single_use_lifetimes, reason = "`impl Trait` cannot have an anonymous lifetime yet")]
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> Result<Self> {
        let mut hasher = RowHasher::default();
        for index in 0..row.field_count() {
            let field = Row::get(row, index).ok_or("a column is missing")?;
            match field.value() {
                None => hasher.null(),
                Some(value) => hash_value(&mut hasher, &value)?,
            }
        }
        Ok(Self(hasher.finish()))
    }
}

/// Hashes a value in the binary format of PostgreSQL.
fn hash_value(hasher: &mut RowHasher, value: &PgValue<'_>) -> Result<()> {
    let bytes = value.as_bytes();
    match value.get_oid().get() {
        oid::BYTEA | oid::TEXT => hasher.bytes(bytes),
        oid::BOOL => hasher.integer(i64::from(u8::from_be_bytes(bytes.try_into()?))),
        oid::INT2 => hasher.integer(i16::from_be_bytes(bytes.try_into()?).into()),
        oid::INT4 => hasher.integer(i32::from_be_bytes(bytes.try_into()?).into()),
        oid::INT8 => hasher.integer(i64::from_be_bytes(bytes.try_into()?)),
        other => return Err(format!("a value has the unknown type {other}").into()),
    }
    Ok(())
}

/// The numbers of the types of PostgreSQL (`pg_type.dat`), which never change.
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT2: u32 = 21;
    pub(super) const INT4: u32 = 23;
    pub(super) const TEXT: u32 = 25;
}
