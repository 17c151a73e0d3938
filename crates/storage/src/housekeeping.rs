//! What has had its time, deleted in bounded batches, and who may do such a chore.

use std::time::Duration;

use diesel::{
    prelude::*,
    query_dsl::methods::FilterDsl,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ChannelId, EnvelopeId, LeaseToken, Timestamp,
    ports::{HousekeepingRepo, StoreError},
};

use crate::{
    batch, columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    former, retiring,
    schema::{chores, envelopes as e},
    tally,
    unit::Unit,
};

impl HousekeepingRepo for Unit {
    fn take_chore(
        &mut self,
        chore: &str,
        node: LeaseToken,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let holder = (chores::node.eq(node.0), chores::until.eq(until.as_millis()));
        let insert = diesel::insert_into(chores::table).values((chores::name.eq(chore), holder));
        let free = chores::node.eq(node.0).or(chores::until.le(now.as_millis()));
        self.run(|conn| {
            let taken = on_backend!(conn, c => {
                let take = insert.on_conflict(chores::name).do_update().set(holder);
                FilterDsl::filter(take, free).execute(c)
            })?;
            Ok(taken == 1)
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

    fn purge_remembered(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, REMEMBERED, before, limit))
    }

    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, ATTEMPTS, before, limit))
    }

    fn purge_former_webhooks(&mut self, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| former::purge(conn, limit.into()))
    }

    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| retiring::purge(conn, now, limit.into()))
    }
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
