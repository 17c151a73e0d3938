//! Conditions on the end of a webhook's id.
//!
//! Indexes that get an entry for each delivery contain only the last six characters of the webhook's id. This keeps the
//! indexes and the write-ahead log small. A query uses such an index only if it has one of these conditions beside the
//! condition on the whole id. The number 24 is part of the SQL text, because the databases use an index on an
//! expression only for the same expression.

use diesel::{
    dsl::{Eq, sql},
    expression::SqlLiteral,
    prelude::*,
    sql_types::Text,
};

/// Returns the condition that the id of a delivery's webhook ends with the same six characters as `webhook`.
pub(crate) fn delivery_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(deliveries.webhook_id, 24)").eq(end(webhook))
}

/// Returns the condition that the id of an attempt's webhook ends with the same six characters as `webhook`.
pub(crate) fn attempt_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(attempts.webhook_id, 24)").eq(end(webhook))
}

fn end(webhook: &str) -> String {
    webhook.chars().skip(23).collect()
}
