//! Statements of a batch of sends, for each database.
//!
//! PostgreSQL gets one statement with arrays, so that a batch costs one round trip. SQLite has no round trip to save
//! and gets one prepared statement for each row.

mod postgres;
mod sqlite;

use sealpost_domain::{ApiKeyId, ports::FactsQuery};

use crate::{
    query::statement::on_either,
    rows::{
        channel::ChannelRow,
        delivery::DeliveryRow,
        envelope::EnvelopeRow,
        governance::ReasonRow,
        idempotency::{IdempotencyRow, IdempotencyRowKey, IdempotentSendRow},
        session::SessionRow,
        usage::{OverageRow, UsageRow},
    },
};

/// The locked usage, and the facts that every transaction reads again.
#[derive(Debug)]
pub(crate) struct LockedFacts {
    pub(crate) usage: Vec<UsageRow>,
    /// Keys with their versions. Keys without a version are absent.
    pub(crate) versions: Vec<(String, i64)>,
    pub(crate) sessions: Vec<SessionRow>,
    /// Open decisions by key: on the key, then on its account, then on the partner of the account.
    pub(crate) decisions: Vec<(String, ReasonRow)>,
}

/// The envelopes, deliveries and usage that a batch writes.
#[derive(Debug)]
pub(crate) struct BatchRows<'a> {
    pub(crate) envelopes: Vec<EnvelopeRow<'a>>,
    pub(crate) deliveries: Vec<DeliveryRow>,
    pub(crate) usage: Vec<UsageRow>,
}

impl BatchRows<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.envelopes.is_empty() && self.deliveries.is_empty() && self.usage.is_empty()
    }
}

on_either! {
    /// Locks the usage of the callers in the order of ids, then reads the versions of these keys and the facts that are
    /// not cached.
    fn lock_facts(query: &FactsQuery, keys: &[ApiKeyId]) -> LockedFacts;
    /// Stores envelopes and deliveries, and updates usage. The usage rows must exist and be locked.
    fn store_batch(rows: &BatchRows<'_>) -> ();
    /// Stores channels that are not stored yet.
    fn insert_channels(rows: &[ChannelRow<'_>]) -> ();
    /// Adds messages to the recorded overage.
    fn add_overages(rows: &[OverageRow]) -> ();
    /// Finds idempotency keys with the metadata of existing envelopes.
    fn find_idempotent_sends(keys: &[IdempotencyRowKey<'_>]) -> Vec<IdempotentSendRow>;
    /// Stores idempotency keys that are not stored yet, and returns the number.
    fn insert_idempotency_keys(rows: &[IdempotencyRow<'_>]) -> usize;
    /// Deletes stored rows with the same keys if older than the expiry of the same position, or without envelope.
    fn delete_stale_idempotency_keys(rows: &[IdempotencyRow<'_>], expiries: &[i64]) -> ();
}
