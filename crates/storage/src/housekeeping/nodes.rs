//! Stores the nodes that use the database, and gives them turns: a turn is the exclusive right to run a housekeeping
//! task. Each turn has a time, by which the task decides which rows have expired.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
    upsert::excluded,
};
use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{HousekeepingTurn, Node, StoreError, TaskTurn},
};

use crate::{
    connection::{
        on_backend, server_clock,
        transaction::{Reader, Transaction},
    },
    rows::columns::{self, NumberRow},
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

    /// Takes or renews a turn: the exclusive right of this node to run a task. Returns the time by which the task
    /// decides which rows have expired; `None` if another node has the turn.
    ///
    /// With the time of a clock that is far ahead, the task would delete too much, for example all envelopes of an
    /// embedded database, whose machine has the only clock. Therefore the database stores a time for each task. Each
    /// call first moves the stored time, by at most `pace` in either direction, towards the earlier of the node's clock
    /// (`now`) and the database server's clock. The first call for a task stores the earlier clock. The returned time
    /// is the earliest of the stored time and the two clocks.
    pub fn take_housekeeping_turn(
        &mut self,
        turn: &HousekeepingTurn<'_>,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.run(|conn| {
            let server = server_clock(conn)?;
            let earlier = server.map_or(turn.now, |server| server.min(turn.now));
            let later = server.map_or(turn.now, |server| server.max(turn.now));
            let taken = sql_query(TAKE)
                .bind::<Text, _>(turn.task)
                .bind::<BigInt, _>(turn.node.0)
                .bind::<BigInt, _>(earlier.plus(turn.held_for).as_millis())
                .bind::<BigInt, _>(columns::number::<i64, _>(turn.pace.as_millis(), "pace")?)
                .bind::<BigInt, _>(earlier.as_millis())
                .bind::<BigInt, _>(later.plus(turn.held_for).plus(turn.held_for).as_millis())
                .get_result::<NumberRow>(conn)
                .optional()?;
            let time = |until: NumberRow| Timestamp::from_millis(until.number).minus(turn.held_for);
            Ok(taken.map(|until| time(until).min(earlier)))
        })
    }
}

impl Reader {
    /// Lists up to `limit` nodes, most recently seen first.
    pub fn nodes(&mut self, limit: u32) -> Result<Vec<Node>, StoreError> {
        let newest = n::table.order((n::seen_at.desc(), n::id)).limit(limit.into());
        self.load(newest, |(id, host, version, started_at, seen_at, base_url)| {
            Ok(Node {
                id: LeaseToken(id),
                host,
                version,
                base_url,
                started_at: Timestamp::from_millis(started_at),
                seen_at: Timestamp::from_millis(seen_at),
            })
        })
    }

    /// Returns the time of the database server's clock, which is the same for all nodes. Returns `now`, the clock of
    /// the node, for SQLite, which has no server and only one node.
    pub fn shared_time(&mut self, now: Timestamp) -> Result<Timestamp, StoreError> {
        self.run(|conn| Ok(server_clock(conn)?.unwrap_or(now)))
    }

    /// Lists the newest turn of each housekeeping task, ordered by task name. A turn is the exclusive right of one node
    /// to run the task.
    pub fn task_turns(&mut self) -> Result<Vec<TaskTurn>, StoreError> {
        self.load(t::table.order(t::name), |(task, node, until)| {
            let (node, until) = (LeaseToken(node), Timestamp::from_millis(until));
            Ok(TaskTurn { task, node, until })
        })
    }
}

/// Takes or renews a turn, the exclusive right of a node to run a task. The column `until` is the end of the turn: the
/// stored time of the task plus the length of a turn. If `until` is more than two lengths of a turn ahead of both
/// clocks, a wrong clock has set it, so any node may take the turn.
const TAKE: &str = "/* nodes.take_turn */
    INSERT INTO housekeeping_tasks AS t (name, node, until) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = CASE
        WHEN excluded.until - $4 > t.until THEN t.until + $4
        WHEN excluded.until + $4 < t.until THEN t.until - $4
        ELSE excluded.until
    END
    WHERE t.node = excluded.node OR t.until <= $5 OR t.until > $6
    RETURNING until AS number";
