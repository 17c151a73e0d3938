//! Finds the tables and columns to move, from the schemas of the two databases. A list in the code could lack a new
//! table; this module moves a new table or refuses the move.

use diesel::{PgConnection, SqliteConnection, prelude::*, sql_types::Text};

use super::error::MoveError;
use crate::{connection::query_error::QueryError, query::statement::Statement};

/// A table whose rows are moved from SQLite to PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovedTable {
    pub(crate) name: String,
    /// The columns of the source. Further columns of the target get their defaults.
    pub(crate) columns: Vec<MovedColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovedColumn {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// The type of a column in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Boolean,
    Bytes,
    Integer,
    Text,
}

impl MovedTable {
    /// Returns the names of the columns as an SQL list. Both databases quote names alike.
    pub(super) fn column_list(&self) -> String {
        let names = self.columns.iter().map(|column| format!("\"{}\"", column.name));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the tables of the source to move, in an order in which a row follows the rows that it references.
pub(crate) fn moved_tables(
    source: &mut SqliteConnection,
    target: &mut PgConnection,
) -> Result<Vec<MovedTable>, QueryError> {
    let mut names: Vec<String> = Statement::<_, Text>::query(SOURCE_TABLES).load(source)?;
    names.retain(|name| !LEFT.iter().any(|(left, _)| left == name));
    let position = |name: &String| FIRST.iter().position(|first| first == name);
    names.sort_by_key(|name| (position(name).unwrap_or(FIRST.len()), name.clone()));
    names.into_iter().map(|name| moved_table(source, target, name)).collect()
}

fn moved_table(
    source: &mut SqliteConnection,
    target: &mut PgConnection,
    name: String,
) -> Result<MovedTable, QueryError> {
    let own = Statement::<_, Text>::query(SOURCE_COLUMNS).bind::<Text, _>(&name);
    let own: Vec<String> = own.load(source)?;
    let others = Statement::<_, (Text, Text)>::query(TARGET_COLUMNS).bind::<Text, _>(&name);
    let others: Vec<(String, String)> = others.load(target)?;
    if others.is_empty() {
        return Err(QueryError::Refused(MoveError::NoTable(name).into()));
    }
    let column = |column: String| {
        let table = name.clone();
        let Some((_, type_name)) = others.iter().find(|(other, _)| *other == column) else {
            return Err(MoveError::NoColumn { table, column });
        };
        match kind(type_name) {
            Some(kind) => Ok(MovedColumn { name: column, kind }),
            None => Err(MoveError::UnknownType { table, column, kind: type_name.clone() }),
        }
    };
    let columns = own.into_iter().map(column).collect::<Result<_, _>>();
    let columns = columns.map_err(|fault| QueryError::Refused(fault.into()))?;
    Ok(MovedTable { name, columns })
}

fn kind(name: &str) -> Option<ColumnKind> {
    match name {
        "bigint" | "integer" | "smallint" => Some(ColumnKind::Integer),
        "boolean" => Some(ColumnKind::Boolean),
        "bytea" => Some(ColumnKind::Bytes),
        "text" => Some(ColumnKind::Text),
        _ => None,
    }
}

/// The tables of either database that are not moved, with the reasons.
pub(crate) const LEFT: [(&str, &str); 7] = [
    ("__diesel_schema_migrations", "the migrations of the target are its own"),
    ("additive_migrations", "the migrations of the target are its own"),
    ("facts_versions", "the versions of what nodes have cached; the target makes its own"),
    ("nodes", "the servers of the source do not use the target"),
    ("partitions", "the partitions of the target are its own"),
    ("sqlite_sequence", "the sequence of the target continues its number"),
    ("write_probes", "always empty"),
];

/// The tables that are moved first, because rows of other tables reference them, or because their triggers write to
/// other tables.
const FIRST: [&str; 4] = ["accounts", "api_keys", "assessments", "webhooks"];

const SOURCE_TABLES: &str = "/* moving.source_tables */
    SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
const SOURCE_COLUMNS: &str = "/* moving.source_columns */
    SELECT name FROM pragma_table_info(?) ORDER BY cid";
const TARGET_COLUMNS: &str = "/* moving.target_columns */
    SELECT a.attname::text, format_type(a.atttypid, NULL) FROM pg_attribute AS a
    WHERE a.attrelid = to_regclass(quote_ident(?)) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum";
