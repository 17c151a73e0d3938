//! The condition "column is in a list of values" with a constant text.
//!
//! Stays prepared for any number of values. The `eq_any` of diesel is parsed and planned every time on SQLite.

use diesel::{
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate},
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{Array, Binary, Bool, HasSqlType, Text},
    sqlite::Sqlite,
};
use sealpost_domain::TokenHash;

/// Whether a text column is in a list of values.
pub(crate) fn any_of<C>(
    column: C,
    values: impl IntoIterator<Item = impl AsRef<str>>,
) -> AnyOf<C, String> {
    let values: Vec<_> = values.into_iter().map(|value| value.as_ref().to_owned()).collect();
    AnyOf { column, json: serde_json::Value::from(values.clone()).to_string(), values }
}

/// Whether a column of token hashes is in a list of values.
pub(crate) fn any_token<C>(column: C, tokens: &[TokenHash]) -> AnyOf<C, Vec<u8>> {
    let json = tokens.iter().map(|token| hex::encode(token.0)).collect::<serde_json::Value>();
    let values = tokens.iter().map(|token| token.0.to_vec()).collect();
    AnyOf { column, json: json.to_string(), values }
}

/// The condition.
#[derive(Debug)]
pub(crate) struct AnyOf<C, V> {
    column: C,
    values: Vec<V>,
    /// The values for SQLite, which cannot bind arrays.
    json: String,
}

/// A type of values in a column.
pub(crate) trait ListValue: 'static {
    type SqlType: 'static;
    /// SQL that converts a JSON value to the type of the column.
    const FROM_JSON: &'static str;
}

impl ListValue for String {
    type SqlType = Text;
    const FROM_JSON: &'static str = "value";
}

impl ListValue for Vec<u8> {
    type SqlType = Binary;
    const FROM_JSON: &'static str = "unhex(value)";
}

impl<C, V> Expression for AnyOf<C, V> {
    type SqlType = Bool;
}

impl<C, V, S> AppearsOnTable<S> for AnyOf<C, V>
where
    C: AppearsOnTable<S>,
    Self: Expression,
{
}

impl<C, V, S> SelectableExpression<S> for AnyOf<C, V>
where
    C: SelectableExpression<S>,
    Self: AppearsOnTable<S>,
{
}

impl<C, V, G> ValidGrouping<G> for AnyOf<C, V> {
    type IsAggregate = is_aggregate::Never;
}

impl<C: QueryId, V: ListValue> QueryId for AnyOf<C, V> {
    type QueryId = AnyOf<C::QueryId, V>;
    const HAS_STATIC_QUERY_ID: bool = C::HAS_STATIC_QUERY_ID;
}

impl<C, V> QueryFragment<Pg> for AnyOf<C, V>
where
    C: QueryFragment<Pg>,
    V: ListValue,
    Vec<V>: ToSql<Array<V::SqlType>, Pg>,
    Pg: HasSqlType<V::SqlType>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" = ANY(");
        out.push_bind_param::<Array<V::SqlType>, _>(&self.values)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<C: QueryFragment<Sqlite>, V: ListValue> QueryFragment<Sqlite> for AnyOf<C, V> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (SELECT ");
        out.push_sql(V::FROM_JSON);
        out.push_sql(" FROM json_each(");
        out.push_bind_param::<Text, _>(&self.json)?;
        out.push_sql("))");
        Ok(())
    }
}
