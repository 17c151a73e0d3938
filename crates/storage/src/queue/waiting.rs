//! Stores and counts waiting envelopes: envelopes to recipients without a webhook for received envelopes. Batches of
//! sends also store such envelopes.

use std::{
    collections::{BTreeSet, HashMap},
    slice,
};

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{ApiKeyId, Timestamp, UnopenedEnvelope, ports::StoreError};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Reader},
    housekeeping::partitions::first_id,
    query::any_of::any_of,
    queue::statements,
    rows::{columns, envelope::WaitingRow},
    schema::{
        api_keys as k, deleted_webhooks as f, identity_rotations as r, waiting_envelopes as e,
        waiting_skips as s, waiting_transfers as t,
    },
};

impl Reader {
    /// Counts the waiting envelopes of a key that were sealed at `oldest` or later, up to `limit`.
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

    /// Returns whether the table `waiting_transfers` lists any key: a transfer of its waiting envelopes is requested.
    pub fn has_waiting_transfers(&mut self) -> Result<bool, StoreError> {
        self.run(|conn| {
            let first = t::table.select(t::api_key_id).first::<String>(conn);
            Ok(first.optional()?.is_some())
        })
    }

    /// Returns whether rows of deleted webhooks are left. The undelivered envelopes among them wait after the rows are
    /// deleted: see [`purge_deleted_webhooks`](crate::Transaction::purge_deleted_webhooks).
    pub fn has_deleted_webhooks(&mut self) -> Result<bool, StoreError> {
        self.run(|conn| {
            let first = f::table.select(f::id).first::<String>(conn);
            Ok(first.optional()?.is_some())
        })
    }

    /// Returns whether the correspondents of a changed key are not informed yet: see
    /// [`inform_correspondents`](crate::Transaction::inform_correspondents).
    pub fn has_rotations(&mut self) -> Result<bool, StoreError> {
        self.run(|conn| {
            let first = r::table.select(r::api_key_id).first::<String>(conn);
            Ok(first.optional()?.is_some())
        })
    }
}
/// Stores envelopes as waiting, after their deliveries were deleted together with the webhooks. Also requests a
/// transfer of the waiting envelopes to a webhook, because the recipient may have another webhook by now.
pub(crate) fn wait(conn: &mut AnyConnection, envelopes: &[UnopenedEnvelope]) -> Result<(), Fault> {
    if envelopes.is_empty() {
        return Ok(());
    }
    let recipients: BTreeSet<_> = envelopes.iter().map(|it| it.recipient.to_string()).collect();
    let skips = s::table.filter(any_of(s::api_key_id, &recipients));
    let skips: HashMap<String, String> =
        on_backend!(conn, c => skips.load::<(String, String)>(c))?.into_iter().collect();
    let rows = envelopes
        .iter()
        .map(|it| WaitingRow {
            envelope_id: it.id.to_string(),
            recipient: it.recipient.to_string(),
        })
        .filter(|row| skips.get(&row.recipient).is_none_or(|until| row.envelope_id > *until));
    statements::insert_waiting(conn, &rows.collect::<Vec<_>>())?;
    for recipient in &recipients {
        let request = diesel::insert_into(t::table).values(t::api_key_id.eq(recipient));
        let restart = t::horizon.eq(None::<i64>);
        on_backend!(conn, c => {
            request.on_conflict(t::api_key_id).do_update().set(restart).execute(c)
        })?;
    }
    Ok(())
}

/// Deletes the row that marks an envelope as waiting for a webhook. Returns whether the envelope was waiting.
pub(crate) fn end(conn: &mut AnyConnection, envelope_id: &str) -> Result<bool, Fault> {
    Ok(diesel::delete(e::table.find(envelope_id)).execute(conn)? == 1)
}

/// Counts the envelopes that wait for a webhook of each key, up to `limit` for each key. Omits envelopes that no later
/// webhook gets: envelopes that [`skip_waiting`](crate::Transaction::skip_waiting) has ended, and envelopes that were
/// sealed before `oldest`.
pub(crate) fn count(
    conn: &mut AnyConnection,
    keys: &[String],
    oldest: Timestamp,
    limit: u32,
) -> Result<HashMap<String, u64>, Fault> {
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
