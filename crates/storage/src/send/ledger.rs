//! Writes the results of a batch of sends. If a key reaches a threshold (a percentage of its daily or monthly limit),
//! stores one event for the threshold in this day or month.

use std::{collections::HashMap, sync::Arc};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, SmallInt, Text},
};
use sealpost_domain::{
    ApiKeyId, Channel, Envelope, ReachedThreshold,
    ports::{StoreError, WriteSet},
};

use crate::{
    connection::{AnyConnection, query_error::QueryError, transaction::Transaction},
    query::row_types::insert_missing,
    queue::events,
    records::policies,
    rows::{
        columns,
        delivery::DeliveryRow,
        envelope::{ChannelRow, EnvelopeRow, WaitingRow},
        usage::{OverageRow, UsageRow},
    },
    send::{
        idempotency,
        statements::{self, BatchRows},
    },
};

impl Transaction {
    /// Writes the results of a batch. Also adds the size of the new envelopes to the stored bytes of their senders.
    /// Each sender must be in `changes.usage`, and its usage row must be [locked](Self::lock_facts).
    pub fn apply(&mut self, changes: &WriteSet) -> Result<(), StoreError> {
        let address_of = |(key, _): &(ApiKeyId, _)| self.usage_addresses.remove(key);
        let addresses = changes.usage.iter().filter_map(address_of).collect();
        let (cache, generation) = (&self.facts_cache, self.generation);
        let is_new = |channel: &&Arc<Channel>| !cache.has_channel(generation, &channel.id);
        let new_channels: Vec<_> = changes.channels.iter().filter(is_new).collect();
        self.stored_channels.extend(new_channels.iter().map(|channel| channel.id));
        self.run(|conn| {
            let channels = new_channels.iter().map(|channel| ChannelRow::new(channel));
            let channels: Vec<_> = channels.collect::<Result<_, _>>()?;
            if !channels.is_empty() {
                insert_missing(conn, &channels, "id")?;
            }
            let leased = changes.leased.iter().map(DeliveryRow::leased);
            let unleased = changes.unleased.iter().map(DeliveryRow::unleased);
            let awaiting = changes.awaiting_relay.iter().map(DeliveryRow::awaiting_relay);
            let parked = changes.parked.iter().map(|parked| Ok(DeliveryRow::parked(parked)));
            let envelopes = changes.envelopes.iter().map(|envelope| EnvelopeRow::new(envelope));
            let usage = changes.usage.iter().map(|(key, used)| UsageRow::new(key, used));
            let rows = BatchRows {
                envelopes: envelopes.collect::<Result<_, _>>()?,
                deliveries: leased
                    .chain(unleased)
                    .chain(awaiting)
                    .chain(parked)
                    .collect::<Result<_, _>>()?,
                usage: usage.collect(),
                addresses,
                added_bytes: added_bytes(changes)?,
                leaves: &changes.leaves,
            };
            if !rows.is_empty() {
                statements::store_batch(conn, &rows)?;
            }
            policies::insert_contacts(conn, &changes.contacts)?;
            let waiting: Vec<_> = changes.waiting.iter().map(WaitingRow::from).collect();
            if !waiting.is_empty() {
                insert_missing(conn, &waiting, WaitingRow::KEY)?;
            }
            let overages: Vec<_> = changes.overage.iter().map(OverageRow::from).collect();
            if !overages.is_empty() {
                statements::add_overages(conn, &overages)?;
            }
            record_thresholds(conn, &changes.thresholds)?;
            // The idempotency records are stored after their envelopes. If an idempotency key is already stored,
            // `insert` deletes records without a stored envelope. Before the envelopes are stored, `insert` would also
            // delete the new records of this batch.
            idempotency::insert(conn, &changes.idempotency)
        })
    }
}

/// Returns the bytes by which the new envelopes increase the stored bytes of each sender, in the order of `usage`.
fn added_bytes(changes: &WriteSet) -> Result<Vec<i64>, QueryError> {
    let mut of_senders = HashMap::<&ApiKeyId, usize>::new();
    for envelope in &changes.envelopes {
        let Envelope { meta, sealed, .. } = &**envelope;
        *of_senders.entry(&meta.sender).or_default() += sealed.len();
    }
    let of_key = |key| columns::number(of_senders.get(key).copied().unwrap_or(0), "sealed bytes");
    changes.usage.iter().map(|(key, _)| of_key(key)).collect()
}

/// Records the reached thresholds (percentages of usage limits) that are not yet recorded for the current day or month,
/// and stores an event for each of them. The usage rows of the keys must be locked, so that no other transaction
/// records the same thresholds.
fn record_thresholds(
    conn: &mut AnyConnection,
    reached: &[ReachedThreshold],
) -> Result<(), QueryError> {
    let mut new = Vec::new();
    for threshold in reached {
        if is_first(conn, threshold)? {
            new.push(threshold.event());
        }
    }
    events::store(conn, &new)?;
    Ok(())
}

/// Records a reached threshold. Returns false if the threshold is already recorded for the same day or month.
fn is_first(conn: &mut AnyConnection, reached: &ReachedThreshold) -> Result<bool, QueryError> {
    let recorded = sql_query(RECORD_THRESHOLD)
        .bind::<Text, _>(reached.details.api_key_id.to_string())
        .bind::<Text, _>(reached.details.window.as_str())
        .bind::<SmallInt, _>(i16::from(reached.details.threshold))
        .bind::<BigInt, _>(reached.window_start.as_millis())
        .execute(conn)?;
    Ok(recorded == 1)
}

/// Inserts or updates the row of a threshold. A key has one row for each threshold of each limit, with the start of the
/// newest day or month in which the key has reached the threshold.
const RECORD_THRESHOLD: &str = "/* thresholds.record */
    INSERT INTO usage_thresholds AS t (api_key_id, span, threshold, window_start)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (api_key_id, span, threshold) DO UPDATE SET window_start = excluded.window_start
    WHERE t.window_start <> excluded.window_start";
