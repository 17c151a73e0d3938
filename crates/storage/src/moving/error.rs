//! The reasons why a move from SQLite to PostgreSQL is refused.

/// The reasons why a move from SQLite to PostgreSQL is refused, or its result is rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MoveError {
    #[error(
        "table {table}: the target has {found} rows and the source {expected}, or their checksums differ; nothing was \
         stored: check the disks, and move again"
    )]
    Differs { table: String, expected: u64, found: u64 },
    #[error("column {table}.{column} has a value of another type than its column in the target")]
    Mistyped { table: String, column: String },
    #[error("the target has no table {0}: run a newer sealpost")]
    NoTable(String),
    #[error("the target has no column {column} in the table {table}: run a newer sealpost")]
    NoColumn { table: String, column: String },
    #[error(
        "the target is not empty: it has the table {0}; give an empty database, such as a new one of CREATE DATABASE"
    )]
    NotEmpty(String),
    #[error("the target must be a PostgreSQL database: give postgres://…")]
    NotPostgres,
    #[error("column {table}.{column} has the type {kind}, which cannot be moved")]
    UnknownType { table: String, column: String, kind: String },
    #[error("the thread that reads the source has panicked")]
    Panicked,
}
