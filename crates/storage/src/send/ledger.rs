//! Writes the results of a batch of sends.

use std::collections::HashMap;

use sealpost_domain::{
    ApiKeyId, Envelope,
    ports::{StoreError, WriteSet},
};

use crate::{
    connection::{fault::Fault, transaction::Transaction},
    queue::statements::insert_waiting,
    rows::{
        channel::ChannelRow,
        columns,
        delivery::DeliveryRow,
        envelope::{EnvelopeRow, WaitingRow},
        usage::{OverageRow, UsageRow},
    },
    send::{
        idempotency, policies,
        statements::{self, BatchRows},
        thresholds,
    },
};

impl Transaction {
    /// Writes the results of a batch. Also adds the size of the new envelopes to the stored bytes of their senders.
    /// Each sender must be in `changes.usage`. [`lock_facts`](Self::lock_facts) must have locked the usage rows.
    pub fn apply(&mut self, changes: &WriteSet) -> Result<(), StoreError> {
        let address_of = |(key, _): &(ApiKeyId, _)| self.usage_addresses.remove(key);
        let addresses = changes.usage.iter().filter_map(address_of).collect();
        self.run(|conn| {
            let channels = changes.channels.iter().map(|channel| ChannelRow::new(channel));
            let channels: Vec<_> = channels.collect::<Result<_, _>>()?;
            if !channels.is_empty() {
                statements::insert_channels(conn, &channels)?;
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
                insert_waiting(conn, &waiting)?;
            }
            let overages: Vec<_> = changes.overage.iter().map(OverageRow::from).collect();
            if !overages.is_empty() {
                statements::add_overages(conn, &overages)?;
            }
            thresholds::record(conn, &changes.thresholds)?;
            // The idempotency records are stored after their envelopes. If a key is already stored, `insert` deletes
            // records without a stored envelope, and would then also delete the new records of this batch.
            idempotency::insert(conn, &changes.idempotency)
        })
    }
}

/// Returns the sealed bytes that the new envelopes add to each sender, in the order of `usage`.
fn added_bytes(changes: &WriteSet) -> Result<Vec<i64>, Fault> {
    let mut of_senders = HashMap::<&ApiKeyId, usize>::new();
    for envelope in &changes.envelopes {
        let Envelope { meta, sealed, .. } = &**envelope;
        *of_senders.entry(&meta.sender).or_default() += sealed.len();
    }
    let of_key = |key| columns::number(of_senders.get(key).copied().unwrap_or(0), "sealed bytes");
    changes.usage.iter().map(|(key, _)| of_key(key)).collect()
}
