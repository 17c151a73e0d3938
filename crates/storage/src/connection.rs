//! One connection type for both databases, and how a statement is written for each of them where the common type
//! cannot do it.

use diesel::{PgConnection, SqliteConnection};

/// A connection to either database. It is opened by [`Manager`](crate::pool::Manager) alone: the derived `establish`
/// would take the URL of a server that is away for the name of a file.
#[derive(diesel::MultiConnection)]
pub(crate) enum AnyConnection {
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

/// Repeats an expression for the concrete connection of each database: one text for what the derived type cannot
/// do, such as conflict clauses, batches and locks.
macro_rules! on_backend {
    ($conn:expr, $c:ident => $body:expr) => {
        match $conn {
            $crate::connection::AnyConnection::Postgres($c) => $body,
            $crate::connection::AnyConnection::Sqlite($c) => $body,
        }
    };
}
pub(crate) use on_backend;
