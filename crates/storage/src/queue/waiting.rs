//! Stores and counts waiting envelopes: envelopes to recipients without a webhook for received envelopes.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    slice,
    time::Duration,
};

use diesel::{
    dsl::{exists, sql},
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{ApiKeyId, EnvelopeId, Timestamp, UnopenedEnvelope, ports::StoreError};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Reader},
    housekeeping::partitions::first_id,
    query::{any_of::any_of, row_types::insert_missing},
    rows::{columns, envelope::WaitingRow},
    schema::{
        api_keys as k, deleted_webhooks as f, identity_rotations as r, waiting_envelopes as e,
        waiting_skips as s, waiting_transfers as t,
    },
};

impl Reader {
    /// Counts the [waiting envelopes](sealpost_domain::ports::WaitingEnvelope) of a key that were sealed at `oldest` or
    /// later, up to `limit`.
    pub fn count_waiting(
        &mut self,
        recipient: &ApiKeyId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let key = recipient.to_string();
        self.run(|conn| {
            let counts = count(conn, slice::from_ref(&key), oldest, limit)?;
            Ok(counts.get(&key).copied().unwrap_or_default())
        })
    }

    /// Returns whether waiting envelopes of any key must be transferred to a webhook: see
    /// [`transfer_waiting`](crate::Transaction::transfer_waiting).
    pub fn has_waiting_transfers(&mut self) -> Result<bool, StoreError> {
        let any = exists(t::table.select(t::api_key_id));
        self.run(|conn| Ok(diesel::select(any).get_result(conn)?))
    }

    /// Returns whether deliveries or attempts of a deleted webhook may be left to delete: see
    /// [`purge_deleted_webhooks`](crate::Transaction::purge_deleted_webhooks).
    pub fn has_deleted_webhooks(&mut self) -> Result<bool, StoreError> {
        let any = exists(f::table.select(f::id));
        self.run(|conn| Ok(diesel::select(any).get_result(conn)?))
    }

    /// Returns whether a change of a key, such as its revocation, must still be announced to the keys that have
    /// exchanged envelopes with it: see [`inform_correspondents`](crate::Transaction::inform_correspondents).
    pub fn has_rotations(&mut self) -> Result<bool, StoreError> {
        let any = exists(r::table.select(r::api_key_id));
        self.run(|conn| Ok(diesel::select(any).get_result(conn)?))
    }
}

/// Stores envelopes as waiting, after their deliveries were deleted together with the webhooks. Leaves out envelopes
/// that the recipient has [skipped](crate::Transaction::skip_waiting). Also requests a transfer of the envelopes,
/// because the recipient may have another webhook by now.
pub(crate) fn wait(
    conn: &mut AnyConnection,
    envelopes: &[UnopenedEnvelope],
    now: Timestamp,
) -> Result<(), QueryError> {
    if envelopes.is_empty() {
        return Ok(());
    }
    let recipients: BTreeSet<_> = envelopes.iter().map(|it| it.recipient.to_string()).collect();
    let (skips, last) = (skips(conn, &recipients)?, last_skip(now));
    let is_skipped = |row: &WaitingRow| {
        let until = skips.get(&row.recipient).filter(|until| **until <= last);
        until.is_some_and(|until| row.envelope_id <= *until)
    };
    let rows = envelopes
        .iter()
        .map(|it| WaitingRow {
            envelope_id: it.id.to_string(),
            recipient: it.recipient.to_string(),
        })
        .filter(|row| !is_skipped(row));
    insert_missing(conn, &rows.collect::<Vec<_>>(), WaitingRow::KEY)?;
    for recipient in &recipients {
        let request = diesel::insert_into(t::table).values(t::api_key_id.eq(recipient));
        let restart = t::horizon.eq(None::<i64>);
        on_backend!(conn, c => {
            request.on_conflict(t::api_key_id).do_update().set(restart).execute(c)
        })?;
    }
    Ok(())
}

/// Returns which of these envelopes wait for a webhook. Omits envelopes that the recipient has
/// [skipped](crate::Transaction::skip_waiting); their rows stay until the next transfer.
pub(crate) fn still_waiting(
    conn: &mut AnyConnection,
    ids: impl IntoIterator<Item = impl Into<String>>,
) -> Result<HashSet<String>, QueryError> {
    let rows = e::table.filter(any_of(e::envelope_id, ids)).select((e::envelope_id, e::recipient));
    let mut rows: Vec<(String, String)> = on_backend!(conn, c => rows.load(c))?;
    if !rows.is_empty() {
        let recipients: BTreeSet<_> = rows.iter().map(|(_, recipient)| recipient).collect();
        let skips = skips(conn, recipients)?;
        rows.retain(|(id, recipient)| skips.get(recipient).is_none_or(|until| id > until));
    }
    Ok(rows.into_iter().map(|(id, _)| id).collect())
}

/// Returns the highest envelope id up to which a key can have skipped its waiting envelopes at `now`. A higher stored
/// id comes from a wrong clock, and is ignored.
pub(crate) fn last_skip(now: Timestamp) -> String {
    EnvelopeId::new(now.plus(SKIP_AHEAD_MAX), [0xff; 10]).to_string()
}

/// Returns the highest skipped envelope id of each key that has [skipped](crate::Transaction::skip_waiting) its waiting
/// envelopes.
fn skips(
    conn: &mut AnyConnection,
    keys: impl IntoIterator<Item = impl Into<String>>,
) -> Result<HashMap<String, String>, QueryError> {
    let skips = s::table.filter(any_of(s::api_key_id, keys));
    let skips: Vec<(String, String)> = on_backend!(conn, c => skips.load(c))?;
    Ok(skips.into_iter().collect())
}

/// Deletes the row that marks an envelope as waiting for a webhook. Returns whether the envelope was waiting.
pub(crate) fn end(conn: &mut AnyConnection, envelope_id: &str) -> Result<bool, QueryError> {
    Ok(diesel::delete(e::table.find(envelope_id)).execute(conn)? == 1)
}

/// Counts the waiting envelopes of each key, up to `limit` for each key. Omits envelopes that no later webhook gets:
/// [skipped](crate::Transaction::skip_waiting) ones, and those that were sealed before `oldest`.
pub(crate) fn count(
    conn: &mut AnyConnection,
    keys: &[String],
    oldest: Timestamp,
    limit: u32,
) -> Result<HashMap<String, u64>, QueryError> {
    let counted = sql::<BigInt>(
        "(SELECT count(*) FROM (SELECT 1 FROM waiting_envelopes AS e
             WHERE e.recipient = api_keys.id AND e.envelope_id >= ",
    )
    .bind::<Text, _>(first_id(oldest))
    .sql(
        " AND e.envelope_id > coalesce(
                 (SELECT s.until FROM waiting_skips AS s WHERE s.api_key_id = api_keys.id), '')
             LIMIT ",
    )
    .bind::<BigInt, _>(i64::from(limit))
    .sql(") AS counted)");
    let keys = k::table.filter(any_of(k::id, keys)).select((k::id, counted));
    let counts = on_backend!(conn, c => keys.load::<(String, i64)>(c))?;
    let counts = counts.into_iter();
    counts.map(|(key, count)| Ok((key, columns::number(count, "number of envelopes")?))).collect()
}

/// Maximum time by which a skipped envelope id may be ahead of the current time, because the clocks of nodes differ.
const SKIP_AHEAD_MAX: Duration = Duration::from_mins(5);
