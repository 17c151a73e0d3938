//! Gives a node its turn at a housekeeping task. Also returns the time that the task uses to decide which rows have
//! expired.

use diesel::{
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    Timestamp,
    ports::{HousekeepingTurn, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, transaction::Transaction},
    rows::columns,
};

impl Transaction {
    /// Takes or renews a turn: the exclusive right of this node to run a task. `None` if another node has the turn.
    ///
    /// Returns the time at which the task runs. The task deletes rows that have expired at this time. With the time of
    /// a clock that is far ahead, the task would delete too much. Therefore the database stores a time for each task,
    /// and the returned time is the earliest of:
    /// - `now`, the clock of the node
    /// - the clock of the database server
    /// - the time stored for the task
    ///
    /// Each call moves the stored time towards the earlier of the two clocks, by at most `pace` in either direction.
    /// Before the first call for a task, no time is stored, so the first call uses only the clocks.
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
                .get_result::<Taken>(conn)
                .optional()?;
            let time = |Taken { until }| Timestamp::from_millis(until).minus(turn.held_for);
            Ok(taken.map(|taken| time(taken).min(earlier)))
        })
    }
}

/// Returns the time of the database server's clock; `None` for SQLite, which has no server.
pub(crate) fn server_clock(conn: &mut AnyConnection) -> Result<Option<Timestamp>, Fault> {
    match conn {
        AnyConnection::Postgres(conn) => {
            let millis = sql::<BigInt>("(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
            Ok(Some(Timestamp::from_millis(diesel::select(millis).get_result(conn)?)))
        }
        AnyConnection::Sqlite(_) => Ok(None),
    }
}

#[derive(QueryableByName)]
struct Taken {
    #[diesel(sql_type = BigInt)]
    until: i64,
}

/// Takes the turn. The column `until` is the end of the turn: the stored time of the task plus the length of a turn. If
/// `until` is more than two lengths of a turn ahead of both clocks, it comes from a wrong clock, and any node may take
/// the turn.
const TAKE: &str = "
    INSERT INTO housekeeping_tasks AS t (name, node, until) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = CASE
        WHEN excluded.until - $4 > t.until THEN t.until + $4
        WHEN excluded.until + $4 < t.until THEN t.until - $4
        ELSE excluded.until
    END
    WHERE t.node = excluded.node OR t.until <= $5 OR t.until > $6
    RETURNING until";
