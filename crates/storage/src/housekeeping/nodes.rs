//! Stores the nodes that use the database. Lists the nodes, and the turns of nodes at housekeeping tasks.

use diesel::{prelude::*, upsert::excluded};
use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Node, StoreError, TaskTurn},
};

use crate::{
    connection::{
        on_backend,
        transaction::{Reader, Transaction},
    },
    schema::{housekeeping_tasks as t, nodes as n},
};

impl Transaction {
    /// Inserts the row of a node, or updates the time at which the node was last seen. Deletes nodes that were last
    /// seen before `kept_from`.
    pub fn record_node(&mut self, node: &Node, kept_from: Timestamp) -> Result<(), StoreError> {
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

impl Reader {
    /// Lists up to `limit` nodes, most recently seen first.
    pub fn nodes(&mut self, limit: u32) -> Result<Vec<Node>, StoreError> {
        self.run(|conn| {
            type Row = (i64, String, String, i64, i64, String);
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
        })
    }

    /// Lists the newest turn of each housekeeping task, ordered by task name. A turn is the exclusive right of one node
    /// to run the task.
    pub fn task_turns(&mut self) -> Result<Vec<TaskTurn>, StoreError> {
        self.run(|conn| {
            let rows: Vec<(String, i64, i64)> = t::table.order(t::name).load(conn)?;
            let turn = |(task, node, until)| TaskTurn {
                task,
                node: LeaseToken(node),
                until: Timestamp::from_millis(until),
            };
            Ok(rows.into_iter().map(turn).collect())
        })
    }
}
