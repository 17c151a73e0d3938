//! What is left of webhooks that are gone: deliveries, attempts, and a mark that says so. However much that is, it
//! goes in portions.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};

use crate::{
    any_of::any_of,
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    schema::{deliveries as d, former_webhooks as f},
};

/// Deletes deliveries to these webhooks, [`AT_ONCE_MAX`] at the most, and leaves the others and every attempt to
/// housekeeping: until then claims discard them, and nobody can see them. How many went.
///
/// A backlog may be so long that deleting all of it would outlast a statement's time, and then nothing would be revoked.
pub(crate) fn delete_most_of(conn: &mut AnyConnection, ids: &[String]) -> Result<usize, Fault> {
    let mut deleted = 0;
    for id in ids {
        deleted += delete_deliveries(conn, id, AT_ONCE_MAX.saturating_sub(deleted))?;
        // Somebody else may be deleting it too: one of them will find it gone.
        let former = diesel::insert_into(f::table).values(f::id.eq(id));
        on_backend!(conn, c => former.on_conflict_do_nothing().execute(c))?;
    }
    Ok(deleted)
}

/// One webhook after the other: its deliveries, its attempts, and its own mark when nothing else is left of it.
pub(crate) fn purge(conn: &mut AnyConnection, limit: u64) -> Result<u64, Fault> {
    let mut purged = 0;
    while purged < limit {
        let next = f::table.order(f::id).select(f::id).first::<String>(conn).optional()?;
        let Some(id) = next else { break };
        let left = columns::number(limit - purged, "limit")?;
        let deliveries = delete_deliveries(conn, &id, left)?;
        purged += columns::number::<u64, _>(deliveries, "number of rows")?;
        let left: i64 = columns::number(limit - purged, "limit")?;
        let rows = sql_query(FORMER).bind::<Text, _>(&id).bind::<BigInt, _>(left).execute(conn)?;
        purged += columns::number::<u64, _>(rows, "number of rows")?;
        if purged < limit {
            diesel::delete(f::table.find(&id)).execute(conn)?;
            purged += 1;
        }
    }
    Ok(purged)
}

/// Deletes up to `limit` deliveries to a webhook; how many there were, so that fewer than the limit are the last.
fn delete_deliveries(conn: &mut AnyConnection, id: &str, limit: usize) -> Result<usize, Fault> {
    let to_it = d::table.filter(d::webhook_id.eq(id));
    // One after the other, because each has an index of its own; in its order, because in none PostgreSQL might look
    // for a few through the whole table.
    let waiting = to_it
        .filter(d::due_at.is_not_null())
        .order(d::due_at)
        .limit(columns::number(limit, "limit")?)
        .select(d::envelope_id);
    let mut some = waiting.load::<String>(conn)?;
    let exhausted = to_it
        .filter(d::due_at.is_null())
        .filter(d::failed_at.is_not_null())
        .order(d::failed_at)
        .limit(columns::number(limit.saturating_sub(some.len()), "limit")?)
        .select(d::envelope_id);
    some.extend(exhausted.load::<String>(conn)?);
    let these = to_it.filter(any_of(d::envelope_id, &some));
    on_backend!(conn, c => diesel::delete(these).execute(c))?;
    Ok(some.len())
}

const FORMER: &str = "
    DELETE FROM attempts WHERE number IN (
        SELECT number FROM attempts WHERE webhook_id = $1 LIMIT $2
    )";

/// How many deliveries go with their webhooks in one transaction, which everybody waits for on SQLite.
pub(crate) const AT_ONCE_MAX: usize = 5_000;
