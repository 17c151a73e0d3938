//! Stores the nodes that use the database. Lists the nodes, and the turns of nodes at housekeeping tasks.

use diesel::{prelude::*, upsert::excluded};
use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Node, NodeRepo, StoreError, TaskTurn},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    schema::{housekeeping_tasks as t, nodes as n},
};

impl NodeRepo for Transaction {
    fn record_node(&mut self, node: &Node, kept_from: Timestamp) -> Result<(), StoreError> {
        self.run(|conn| {
            diesel::delete(n::table.filter(n::seen_at.lt(kept_from.as_millis()))).execute(conn)?;
            let Node { id, host, version, base_url, started_at, seen_at } = node;
            let row = diesel::insert_into(n::table)
                .values((
                    n::id.eq(id.0),
                    n::host.eq(host),
                    n::version.eq(version),
                    n::base_url.eq(base_url),
                    n::started_at.eq(started_at.as_millis()),
                    n::seen_at.eq(seen_at.as_millis()),
                ))
                .on_conflict(n::id)
                .do_update()
                .set(n::seen_at.eq(excluded(n::seen_at)));
            on_backend!(conn, c => row.execute(c))?;
            Ok(())
        })
    }
}

/// Returns up to `limit` nodes, those with the latest sign of life first.
pub(crate) fn all(conn: &mut AnyConnection, limit: u32) -> Result<Vec<Node>, Fault> {
    type Row = (i64, String, String, i64, i64, Option<String>);
    let rows: Vec<Row> =
        n::table.order((n::seen_at.desc(), n::id)).limit(limit.into()).load(conn)?;
    let node = |(id, host, version, started_at, seen_at, base_url): Row| Node {
        id: LeaseToken(id),
        host,
        version,
        base_url,
        started_at: Timestamp::from_millis(started_at),
        seen_at: Timestamp::from_millis(seen_at),
    };
    Ok(rows.into_iter().map(node).collect())
}

/// Returns the last turn of each housekeeping task: the node that had the exclusive right to run the task, and the end
/// of the turn. Sorted by the name of the task.
pub(crate) fn task_turns(conn: &mut AnyConnection) -> Result<Vec<TaskTurn>, Fault> {
    let rows: Vec<(String, i64, i64)> = t::table.order(t::name).load(conn)?;
    let turn = |(task, node, until)| TaskTurn {
        task,
        node: LeaseToken(node),
        until: Timestamp::from_millis(until),
    };
    Ok(rows.into_iter().map(turn).collect())
}
