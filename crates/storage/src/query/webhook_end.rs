//! Conditions on the last six characters of a webhook's id, for queries of its deliveries and attempts.
//!
//! Indexes that get an entry for each delivery or attempt contain only these characters, to stay small. The characters
//! are random, so few webhooks share them. A query uses such an index only if it has one of these conditions beside the
//! condition on the whole id. The SQL text contains their position, 24, because the databases use an index on an
//! expression only for the same expression.

use diesel::{
    dsl::{Eq, sql},
    expression::SqlLiteral,
    prelude::*,
    sql_types::Text,
};

/// Returns a condition for an index on `deliveries`: the webhook's id ends with the same six characters as `webhook`.
pub(crate) fn delivery_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(deliveries.webhook_id, 24)").eq(end(webhook))
}

/// Returns a condition for an index on `attempts`: the webhook's id ends with the same six characters as `webhook`.
pub(crate) fn attempt_ends_like(webhook: &str) -> Eq<SqlLiteral<Text>, String> {
    sql("substr(attempts.webhook_id, 24)").eq(end(webhook))
}

fn end(webhook: &str) -> String {
    webhook.chars().skip(23).collect()
}
