//! A statement given as text that stays prepared.

use std::marker::PhantomData;

use diesel::{
    backend::Backend,
    expression::{AsExpression, TypedExpressionType},
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::SqlType,
};

/// Text with a `?` for every value; its rows are of the types `R`. Unlike diesel's `sql_query` and its updates, it
/// stays prepared on its connection, by its text, so that a batch is parsed and planned once and not every time.
pub(super) struct Statement<'a, DB, R> {
    text: &'static str,
    values: Vec<Box<dyn QueryFragment<DB> + 'a>>,
    rows: PhantomData<R>,
}

impl<DB: Backend> Statement<'_, DB, ()> {
    /// One without rows.
    pub(super) fn command(text: &'static str) -> Self {
        Self::query(text)
    }
}

impl<'a, DB: Backend, R> Statement<'a, DB, R> {
    /// One with rows.
    pub(super) fn query(text: &'static str) -> Self {
        Self { text, values: Vec::new(), rows: PhantomData }
    }

    /// The next value.
    pub(super) fn bind<T, V>(mut self, value: V) -> Self
    where
        T: SqlType + TypedExpressionType,
        V: AsExpression<T, Expression: QueryFragment<DB> + 'a>,
    {
        self.values.push(Box::new(value.as_expression()));
        self
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
