//! The SQL statements for batches of sends. Each statement has a version for each database.
//!
//! PostgreSQL gets one statement with arrays, so that a batch costs one round trip. SQLite runs inside the process and
//! gets one prepared statement for each row.

mod postgres;
mod sqlite;

use sealpost_domain::{ApiKeyId, IdempotencyKey, ports::FactsQuery};

use crate::{
    query::{row_address::RowAddress, statement::on_either},
    rows::{
        delivery::DeliveryRow,
        envelope::EnvelopeRow,
        idempotency::{IdempotencyRow, IdempotentSendRow},
        policy::{ContactRow, ReasonRow},
        session::SessionRow,
        usage::{OverageRow, UsageRow},
    },
};

/// The rows that admission (the decision to accept a send) depends on. The usage rows are locked.
#[derive(Debug)]
pub(crate) struct FactRows {
    pub(crate) usage: Vec<UsageRow>,
    /// The addresses (`ctid`) of the usage rows, in the order of `usage`. Empty on SQLite.
    pub(crate) addresses: Vec<RowAddress>,
    /// The stored facts version of each key, a number that changes with every change of the key or its webhooks. A key
    /// without a stored version is absent.
    pub(crate) versions: Vec<(String, i64)>,
    pub(crate) sessions: Vec<SessionRow>,
    /// Open governance decisions by the key that they affect. Decisions on the key come first, then those on its
    /// account, then those on the partner of the account.
    pub(crate) decisions: Vec<(String, ReasonRow)>,
}

/// The rows of envelopes, deliveries and usage that a batch writes.
#[derive(Debug)]
pub(crate) struct BatchRows<'a> {
    pub(crate) envelopes: Vec<EnvelopeRow<'a>>,
    pub(crate) deliveries: Vec<DeliveryRow>,
    pub(crate) usage: Vec<UsageRow>,
    /// The addresses (`ctid`) of the locked usage rows, in the order of `usage`. Empty on SQLite.
    pub(crate) addresses: Vec<RowAddress>,
    /// The bytes to add to each key's counter of stored bytes, in the order of `usage`.
    pub(crate) added_bytes: Vec<i64>,
    /// The hashes of the new envelopes for the transparency log. If empty, the log gets no statement.
    pub(crate) leaves: &'a [u8],
}

impl BatchRows<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.envelopes.is_empty() && self.deliveries.is_empty() && self.usage.is_empty()
    }
}

on_either! {
    /// Locks the usage rows of the callers in the order of ids. Then reads the facts versions and open decisions of
    /// `keys`, and the sessions of the query.
    fn lock_facts(query: &FactsQuery, keys: &[ApiKeyId]) -> FactRows;
    /// Stores envelopes with their deliveries and their statement for the transparency log, and updates usage. The
    /// usage rows must exist and be locked.
    fn store_batch(rows: &BatchRows<'_>) -> ();
    /// Adds messages above the monthly allowance to the stored counts of their keys and months.
    fn add_overages(rows: &[OverageRow]) -> ();
    /// Stores contacts with the time of the newest send. Changes a stored time only if the new time is at least ten
    /// seconds later. This limits the number of row versions.
    fn insert_contacts(rows: &[ContactRow]) -> ();
    /// Returns those of `pairs` whose key has sent to the contact at `since` (in milliseconds) or later. A pair
    /// consists of a key and a possible contact of the key.
    fn find_contacts(pairs: &[(ApiKeyId, ApiKeyId)], since: i64) -> Vec<(String, String)>;
    /// Finds the idempotency records with these keys. The record of a single send comes with the metadata of its
    /// envelope, and is left out if the envelope is no longer stored.
    fn find_idempotent_sends(keys: &[(ApiKeyId, IdempotencyKey)]) -> Vec<IdempotentSendRow>;
    /// Deletes each stored record that has the same idempotency key as one of `rows`, if the stored record has expired
    /// or its envelope no longer exists. The record of a batch has no envelope, and can only expire. For each of
    /// `rows`, `expiries` contains a time in milliseconds: earlier records have expired.
    fn delete_stale_idempotency_keys(rows: &[IdempotencyRow<'_>], expiries: &[i64]) -> ();
}
