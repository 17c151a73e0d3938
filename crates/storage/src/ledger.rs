//! What the send path writes.

use std::sync::Arc;

use sealpost_domain::{
    Envelope, LeasedDelivery,
    ports::{
        AdmissionFacts, FactsQuery, OverageCount, ParkedDelivery, SendLedger, StoreError, WriteSet,
    },
};

use crate::{
    batch::{self, DeliveryRow, EnvelopeRow, OverageRow, SentRows},
    channel,
    claiming::PARKED_FOR,
    columns, facts,
    fault::Fault,
    idempotency,
    unit::Unit,
    usage::UsageRow,
};

impl SendLedger for Unit {
    fn lock_facts(&mut self, wanted: &FactsQuery) -> Result<AdmissionFacts, StoreError> {
        self.run(|conn| facts::lock(conn, wanted))
    }

    fn lock_batch_facts(&mut self, wanted: &FactsQuery) -> Result<AdmissionFacts, StoreError> {
        let memory = Arc::clone(&self.memory);
        self.run(|conn| facts::lock_of_batch(conn, wanted, &memory))
    }

    fn apply(&mut self, changes: &WriteSet) -> Result<(), StoreError> {
        self.run(|conn| {
            let channels = changes.channels.iter().map(|channel| channel::row(channel));
            let channels: Vec<_> = channels.collect::<Result<_, _>>()?;
            if !channels.is_empty() {
                batch::open_channels(conn, &channels)?;
            }
            let leased = changes.leased.iter().map(leased_row);
            let unleased = changes.unleased.iter().map(unleased_row);
            let parked = changes.parked.iter().map(|parked| Ok(parked_row(parked)));
            let envelopes = changes.envelopes.iter().map(|envelope| envelope_row(envelope));
            let usage = changes.usage.iter().map(|(key, used)| UsageRow::of(key, used));
            let rows = SentRows {
                envelopes: envelopes.collect::<Result<_, _>>()?,
                deliveries: leased.chain(unleased).chain(parked).collect::<Result<_, _>>()?,
                usage: usage.collect(),
            };
            if !rows.is_empty() {
                batch::store(conn, &rows)?;
            }
            let overages: Vec<_> = changes.overage.iter().map(overage_row).collect();
            if !overages.is_empty() {
                batch::add_overages(conn, &overages)?;
            }
            // Last, since what is remembered without an envelope is stale.
            idempotency::remember(conn, &changes.idempotency)
        })
    }
}

fn overage_row(overage: &OverageCount) -> OverageRow {
    OverageRow {
        api_key_id: overage.key.to_string(),
        month: overage.month.as_millis(),
        messages: overage.messages.into(),
    }
}

fn envelope_row(envelope: &Envelope) -> Result<EnvelopeRow<'_>, Fault> {
    let meta = &envelope.meta;
    Ok(EnvelopeRow {
        id: meta.id.to_string(),
        sender: meta.sender.to_string(),
        recipient: meta.recipient.to_string(),
        suite: meta.suite.byte().into(),
        hash: &meta.hash.0,
        signature: &envelope.signature,
        sealed: &envelope.sealed,
        payload_size_bytes: columns::number(meta.payload_size_bytes, "envelope size")?,
        created_at: meta.timestamp.as_millis(),
    })
}

/// Held by this node: others may have it when the lease ends.
fn leased_row(delivery: &LeasedDelivery) -> Result<DeliveryRow, Fault> {
    let lease = Some(delivery.lease.0);
    Ok(DeliveryRow { due_at: delivery.lease_until.as_millis(), lease, ..unleased_row(delivery)? })
}

/// Held by nobody, and due since the envelope was sealed.
fn unleased_row(delivery: &LeasedDelivery) -> Result<DeliveryRow, Fault> {
    Ok(DeliveryRow {
        envelope_id: delivery.meta.id.to_string(),
        webhook_id: delivery.target.webhook_id.to_string(),
        attempts: columns::number(delivery.attempts, "number of attempts")?,
        due_at: delivery.meta.timestamp.as_millis(),
        lease: None,
    })
}

/// Out of the way until its webhook is enabled.
fn parked_row(parked: &ParkedDelivery) -> DeliveryRow {
    DeliveryRow {
        envelope_id: parked.id.envelope_id.to_string(),
        webhook_id: parked.id.webhook_id.to_string(),
        attempts: 0,
        due_at: parked.sealed_at.plus(PARKED_FOR).as_millis(),
        lease: None,
    }
}
