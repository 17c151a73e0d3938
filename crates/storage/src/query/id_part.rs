//! Conditions on a part of an id.
//!
//! Some indexes get an entry for each delivery. They have only a part of an id: this keeps them and the write-ahead log
//! small. To use them, a query has such a condition beside the condition on the whole id. The positions are part of the
//! SQL text, because the databases use an index on an expression only for the same expression.

use diesel::{
    dsl::{Eq, sql},
    expression::SqlLiteral,
    prelude::*,
    sql_types::Text,
};

use super::any_of::{AnyOf, any_of};

/// Returns the condition that a delivery is to a webhook with the same end of the id.
pub(crate) fn delivery_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(deliveries.webhook_id, 24)").eq(end(webhook))
}

/// Returns the condition that an attempt was at a webhook with the same end of the id.
pub(crate) fn attempt_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(attempts.webhook_id, 24)").eq(end(webhook))
}

/// Returns the condition that an attempt was for an event with the time and the next five characters of one of these
/// ids.
pub(crate) fn attempt_begins_like(
    events: impl IntoIterator<Item = impl AsRef<str>>,
) -> AnyOf<SqlLiteral<Text>, String> {
    let beginnings =
        events.into_iter().map(|id| id.as_ref().chars().skip(4).take(15).collect::<String>());
    any_of(sql("substr(attempts.envelope_id, 5, 15)"), beginnings)
}

fn end(webhook: &str) -> String {
    webhook.chars().skip(23).collect()
}
