//! A statement of PostgreSQL given as text.

use std::marker::PhantomData;

use diesel::{
    expression::{AsExpression, TypedExpressionType},
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::SqlType,
};

/// Text with a `?` for every value. Unlike diesel's `sql_query` it stays prepared on its connection, by its text, so
/// that a batch is parsed and planned once and not every time; and its rows have types, `R`.
pub(super) struct Statement<'a, R> {
    text: &'static str,
    values: Vec<Box<dyn QueryFragment<Pg> + 'a>>,
    rows: PhantomData<R>,
}

impl<'a, R> Statement<'a, R> {
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, values: Vec::new(), rows: PhantomData }
    }

    /// The next value.
    pub(super) fn bind<T, V>(mut self, value: V) -> Self
    where
        T: SqlType + TypedExpressionType,
        V: AsExpression<T, Expression: QueryFragment<Pg> + 'a>,
    {
        self.values.push(Box::new(value.as_expression()));
        self
    }
}

impl<R> QueryFragment<Pg> for Statement<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
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

impl<R> QueryId for Statement<'_, R> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<R> Query for Statement<'_, R> {
    type SqlType = R;
}

impl<R, Conn> RunQueryDsl<Conn> for Statement<'_, R> {}
