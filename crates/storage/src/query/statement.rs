//! An SQL statement with a fixed text, which the connection keeps prepared.

use std::marker::PhantomData;

use diesel::{
    backend::Backend,
    expression::{AsExpression, TypedExpressionType},
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::{Array, SqlType},
};

/// SQL text with a `?` for every value. Result rows have the SQL type `R`.
///
/// The connection keeps the statement prepared under its text, so the database parses and plans the statement once. A
/// `sql_query` or an update of diesel, in contrast, is prepared again at each execution.
///
/// # Joins on PostgreSQL
///
/// To join an array with a table, compare the first column of the table's primary key like this:
/// `d.envelope_id = ANY (ARRAY[n.envelope_id])`. PostgreSQL then has only one plan: an index look-up for each element
/// of the array.
///
/// With `d.envelope_id = n.envelope_id`, PostgreSQL could also read the whole index, and search the array for each row.
/// This plan is the cheapest while the table is empty, such as an idle delivery queue. The connection keeps the plan,
/// so deliveries would stop under the next load.
///
/// For the same reason, PostgreSQL must not be able to use another index for the join:
///
/// - Do not compare the first column of another index with `=`. Exception: a partial index whose condition does not
///   follow from the statement.
/// - Do not imply the condition of a partial index by a comparison. `d.lease = n.lease` implies `lease IS NOT NULL`;
///   `d.lease IS NOT DISTINCT FROM n.lease` does not.
pub(crate) struct Statement<'a, DB, R> {
    text: &'a str,
    values: Vec<Box<dyn QueryFragment<DB> + 'a>>,
    rows: PhantomData<R>,
}

impl<'a, DB: Backend> Statement<'a, DB, ()> {
    /// Creates a statement without result rows.
    pub(crate) fn command(text: &'a str) -> Self {
        Self::query(text)
    }
}

impl<'a, DB: Backend, R> Statement<'a, DB, R> {
    /// Creates a statement with result rows.
    pub(crate) fn query(text: &'a str) -> Self {
        Self { text, values: Vec::new(), rows: PhantomData }
    }

    /// Binds the next value.
    pub(crate) fn bind<T, V>(mut self, value: V) -> Self
    where
        T: SqlType + TypedExpressionType,
        V: AsExpression<T, Expression: QueryFragment<DB> + 'a>,
    {
        self.values.push(Box::new(value.as_expression()));
        self
    }
}

impl<'a, R> Statement<'a, Pg, R> {
    /// Binds the next value, an array of elements of the SQL type `T`.
    pub(crate) fn bind_array<T, V>(self, values: impl Iterator<Item = V>) -> Self
    where
        T: 'static,
        Array<T>: SqlType + TypedExpressionType,
        Vec<V>: AsExpression<Array<T>, Expression: QueryFragment<Pg> + 'a>,
    {
        self.bind::<Array<T>, _>(values.collect::<Vec<_>>())
    }
}

impl<DB: Backend, R> QueryFragment<DB> for Statement<'_, DB, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let mut values = self.values.iter();
        for text in self.text.split_inclusive('?') {
            out.push_sql(text.trim_end_matches('?'));
            if let Some(value) = values.next().filter(|_| text.ends_with('?')) {
                value.walk_ast(out.reborrow())?;
            }
        }
        Ok(())
    }
}

impl<DB, R> QueryId for Statement<'_, DB, R> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<DB, R> Query for Statement<'_, DB, R> {
    type SqlType = R;
}

impl<DB, R, Conn> RunQueryDsl<Conn> for Statement<'_, DB, R> {}

/// Declares functions that run a statement on either database. Each function calls its counterpart in the module
/// `postgres` or `sqlite`, depending on the connection.
macro_rules! on_either {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $value:ty;)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name(
                conn: &mut $crate::connection::AnyConnection,
                $($arg: $type),*
            ) -> Result<$value, $crate::connection::query_error::QueryError> {
                match conn {
                    $crate::connection::AnyConnection::Postgres(conn) => {
                        postgres::$name(conn, $($arg),*)
                    }
                    $crate::connection::AnyConnection::Sqlite(conn) => {
                        sqlite::$name(conn, $($arg),*)
                    }
                }
            }
        )*
    };
}
pub(crate) use on_either;
