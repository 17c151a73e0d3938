//! What has had its time, deleted in bounded batches, and who may do such a chore.

use std::time::Duration;

use diesel::{
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ChannelId, EnvelopeId, Timestamp,
    ports::{HousekeepingRepo, HousekeepingTurn, StoreError},
};

use crate::{
    batch, columns, connection::AnyConnection, fault::Fault, former, retiring,
    schema::envelopes as e, tally, unit::Unit,
};

impl HousekeepingRepo for Unit {
    fn take_housekeeping_turn(
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
            let own = |Taken { until }| Timestamp::from_millis(until).minus(turn.held_for);
            Ok(taken.map(|taken| own(taken).min(earlier)))
        })
    }

    fn purge_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, SESSIONS, before, limit))
    }

    fn purge_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let below = EnvelopeId::new(before, [0; 10]).to_string();
        self.run(|conn| {
            let purged = batch::purge_envelopes(conn, &below, limit.into())?;
            columns::number(purged, "number of envelopes")
        })
    }

    fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            // Envelopes go the oldest first: those of channels that ended before the oldest are all gone.
            let oldest = e::table.order(e::id).select(e::created_at).first(conn).optional()?;
            let ended = columns::instant(oldest).map_or(before, |oldest| oldest.min(before));
            let below = ChannelId::new(ended.minus(life), [0; 10]).to_string();
            let purge =
                sql_query(CHANNELS).bind::<Text, _>(below).bind::<BigInt, _>(i64::from(limit));
            columns::number(purge.execute(conn)?, "number of rows")
        })
    }

    fn count_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| tally::count_envelopes(conn, before, limit))
    }

    fn count_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| tally::count_attempts(conn, before, limit))
    }

    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| tally::purge(conn, before, limit))
    }

    fn purge_idempotency_keys(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, REMEMBERED, before, limit))
    }

    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, ATTEMPTS, before, limit))
    }

    fn purge_deleted_webhooks(&mut self, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| former::purge(conn, limit.into()))
    }

    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| retiring::purge(conn, now, limit.into()))
    }
}

/// A server has a clock of its own; the embedded database has the node's.
fn server_clock(conn: &mut AnyConnection) -> Result<Option<Timestamp>, Fault> {
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

/// Not kept prepared, so that PostgreSQL plans it for this limit and not for any.
fn purge(
    conn: &mut AnyConnection,
    old: &'static str,
    before: Timestamp,
    limit: u32,
) -> Result<u64, Fault> {
    let purge =
        sql_query(old).bind::<BigInt, _>(before.as_millis()).bind::<BigInt, _>(i64::from(limit));
    columns::number(purge.execute(conn)?, "number of rows")
}

/// The end of the hold is the chore's time as well: it is as long after it as the chore is held. One that no clock comes
/// to for twice as long was written by a clock that was wrong, and holds nothing.
const TAKE: &str = "
    INSERT INTO chores (name, node, until) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = CASE
        WHEN excluded.until - $4 > chores.until THEN chores.until + $4
        WHEN excluded.until + $4 < chores.until THEN chores.until - $4
        ELSE excluded.until
    END
    WHERE chores.node = excluded.node OR chores.until <= $5 OR chores.until > $6
    RETURNING until";

const SESSIONS: &str = "
    DELETE FROM sessions WHERE token IN (
        SELECT token FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
    )";

const CHANNELS: &str = "
    DELETE FROM channels WHERE id IN (
        SELECT id FROM channels WHERE id < $1 ORDER BY id LIMIT $2
    )";

const REMEMBERED: &str = "
    DELETE FROM remembered WHERE (api_key_id, idempotency_key) IN (
        SELECT api_key_id, idempotency_key FROM remembered
        WHERE created_at < $1 ORDER BY created_at LIMIT $2
    )";

/// Looks at the oldest alone, which are first by their numbers, so that it costs the same whatever there is.
const ATTEMPTS: &str = "
    DELETE FROM attempts WHERE at < $1 AND number IN (
        SELECT number FROM attempts ORDER BY number LIMIT $2
    )";
