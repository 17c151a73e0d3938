//! A column that is one of many values, as a condition that stays prepared however many there are: diesel's own is
//! parsed and planned each time on SQLite.

use diesel::{
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate},
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::{Array, Bool, Text},
    sqlite::Sqlite,
};

/// `column` is one of these.
pub(crate) fn any_of<C>(column: C, values: impl IntoIterator<Item = impl AsRef<str>>) -> AnyOf<C> {
    let values: Vec<_> = values.into_iter().map(|value| value.as_ref().to_owned()).collect();
    AnyOf { column, json: serde_json::Value::from(values.clone()).to_string(), values }
}

/// A condition on a column of text.
#[derive(Debug)]
pub(crate) struct AnyOf<C> {
    column: C,
    values: Vec<String>,
    /// The same for SQLite, which binds no arrays.
    json: String,
}

impl<C> Expression for AnyOf<C> {
    type SqlType = Bool;
}

impl<C, S> AppearsOnTable<S> for AnyOf<C>
where
    C: AppearsOnTable<S>,
    Self: Expression,
{
}

impl<C, S> SelectableExpression<S> for AnyOf<C>
where
    C: SelectableExpression<S>,
    Self: AppearsOnTable<S>,
{
}

impl<C, G> ValidGrouping<G> for AnyOf<C> {
    type IsAggregate = is_aggregate::Never;
}

impl<C: QueryId> QueryId for AnyOf<C> {
    type QueryId = AnyOf<C::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = C::HAS_STATIC_QUERY_ID;
}

impl<C: QueryFragment<Pg>> QueryFragment<Pg> for AnyOf<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" = ANY(");
        out.push_bind_param::<Array<Text>, _>(&self.values)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<C: QueryFragment<Sqlite>> QueryFragment<Sqlite> for AnyOf<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (SELECT value FROM json_each(");
        out.push_bind_param::<Text, _>(&self.json)?;
        out.push_sql("))");
        Ok(())
    }
}
