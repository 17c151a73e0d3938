//! A column that is one of many values, as a condition that stays prepared however many there are: diesel's own is
//! parsed and planned each time on SQLite.

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

/// `column`, which holds text, is one of these.
pub(crate) fn any_of<C>(
    column: C,
    values: impl IntoIterator<Item = impl AsRef<str>>,
) -> AnyOf<C, String> {
    let values: Vec<_> = values.into_iter().map(|value| value.as_ref().to_owned()).collect();
    AnyOf { column, json: serde_json::Value::from(values.clone()).to_string(), values }
}

/// `column`, which holds hashes of tokens, is one of these.
pub(crate) fn any_token<C>(column: C, tokens: &[TokenHash]) -> AnyOf<C, Vec<u8>> {
    let json = tokens.iter().map(|token| hex::encode(token.0)).collect::<serde_json::Value>();
    let values = tokens.iter().map(|token| token.0.to_vec()).collect();
    AnyOf { column, json: json.to_string(), values }
}

/// A condition on a column.
#[derive(Debug)]
pub(crate) struct AnyOf<C, V> {
    column: C,
    values: Vec<V>,
    /// The same for SQLite, which binds no arrays.
    json: String,
}

/// What such a column holds.
pub(crate) trait Held: 'static {
    type SqlType: 'static;
    /// A value of the JSON as the column holds it.
    const FROM_JSON: &'static str;
}

impl Held for String {
    type SqlType = Text;
    const FROM_JSON: &'static str = "value";
}

impl Held for Vec<u8> {
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

impl<C: QueryId, V: Held> QueryId for AnyOf<C, V> {
    type QueryId = AnyOf<C::QueryId, V>;
    const HAS_STATIC_QUERY_ID: bool = C::HAS_STATIC_QUERY_ID;
}

impl<C, V> QueryFragment<Pg> for AnyOf<C, V>
where
    C: QueryFragment<Pg>,
    V: Held,
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

impl<C: QueryFragment<Sqlite>, V: Held> QueryFragment<Sqlite> for AnyOf<C, V> {
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
