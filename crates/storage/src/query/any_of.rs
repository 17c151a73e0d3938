//! The condition "column is in a list of values", with an SQL text that does not depend on the number of values.
//!
//! A query with this condition therefore stays prepared. With `eq_any` of diesel, SQLite parses and plans the query
//! every time.

use std::{borrow::Cow, cell::OnceCell};

use diesel::{
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate},
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    result::Error,
    serialize::ToSql,
    sql_types::{Array, Binary, Bool, HasSqlType, Text},
    sqlite::Sqlite,
};
use sealpost_domain::TokenHash;

/// Returns the condition that a text column is in a list of values.
pub(crate) fn any_of<C>(
    column: C,
    values: impl IntoIterator<Item = impl Into<String>>,
) -> AnyOf<C, String> {
    AnyOf { column, values: values.into_iter().map(Into::into).collect(), json: OnceCell::new() }
}

/// Returns the condition that a column of token hashes is in a list of values.
pub(crate) fn any_token<C>(column: C, tokens: &[TokenHash]) -> AnyOf<C, Vec<u8>> {
    let values = tokens.iter().map(|token| token.0.to_vec()).collect();
    AnyOf { column, values, json: OnceCell::new() }
}

/// The condition that `column` is in `values`.
#[derive(Debug)]
pub(crate) struct AnyOf<C, V> {
    column: C,
    values: Vec<V>,
    /// The values as a JSON array, for SQLite, which cannot bind arrays. The array is serialised only once, although
    /// diesel visits the query several times.
    json: OnceCell<String>,
}

/// A type whose values can be in the list of [`AnyOf`].
pub(crate) trait ListValue: 'static {
    type SqlType: 'static;
    /// SQL expression that converts the JSON string `value` to the type of the column.
    const FROM_JSON: &'static str;

    fn text(&self) -> Cow<'_, str>;
}

impl ListValue for String {
    type SqlType = Text;
    const FROM_JSON: &'static str = "value";

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl ListValue for Vec<u8> {
    type SqlType = Binary;
    const FROM_JSON: &'static str = "unhex(value)";

    fn text(&self) -> Cow<'_, str> {
        Cow::Owned(hex::encode(self))
    }
}

impl<C, V: ListValue> AnyOf<C, V> {
    fn json(&self) -> QueryResult<&String> {
        if let Some(json) = self.json.get() {
            return Ok(json);
        }
        let texts: Vec<_> = self.values.iter().map(V::text).collect();
        let json = serde_json::to_string(&texts);
        let json = json.map_err(|error| Error::SerializationError(error.into()))?;
        Ok(self.json.get_or_init(|| json))
    }
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
        out.push_bind_param::<Text, _>(self.json()?)?;
        out.push_sql("))");
        Ok(())
    }
}
