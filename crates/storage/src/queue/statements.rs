//! Statements over batches of deliveries, for each database.
//!
//! PostgreSQL gets one statement with arrays for a whole batch, SQLite one prepared statement for each row.

mod postgres;
mod sqlite;

use std::collections::BTreeSet;

use sealpost_domain::{Timestamp, ports::Claim};

use crate::{
    query::statement::on_either,
    rows::{
        attempt::FinishedAttempt,
        delivery::{
            ClaimedRow, DeliveryKey, DeliveryLease, DeliveryRow, DueTimeChange, SucceededDelivery,
        },
        event::EventRow,
        waiting::WaitingRow,
        webhook::HealthRow,
    },
};

on_either! {
    /// Finds the first `limit` due deliveries, earliest due time first. Locks and returns those of webhooks not in
    /// `full`.
    fn oldest_due(now: Timestamp, limit: i64, full: &[String]) -> Vec<DeliveryKey>;
    /// Finds up to `limit` webhooks above the id `above`, in the order of ids, each with the earliest due time.
    fn targets_above(above: &str, limit: i64) -> Vec<(String, i64)>;
    /// Finds and locks up to `limit` due deliveries of each given webhook.
    fn due_of(targets: &[String], now: Timestamp, limit: i64) -> Vec<DeliveryKey>;
    /// Leases deliveries. Returns them with their webhooks and envelopes, if these exist.
    fn lease(keys: &[DeliveryKey], claim: &Claim) -> Vec<ClaimedRow>;
    /// Deletes deliveries, leased or not.
    fn delete(keys: &[DeliveryKey]) -> ();
    /// Parks deliveries: ends their leases and sets the due time, even if the lease has changed.
    fn park(keys: &[DeliveryKey], due_at: Timestamp) -> ();
    /// Deletes succeeded deliveries whose lease is unchanged, and returns them.
    fn remove_succeeded(attempts: &[&FinishedAttempt]) -> Vec<SucceededDelivery>;
    /// Records the failure of deliveries whose lease is unchanged, and returns the ended leases.
    fn record_failed(attempts: &[&FinishedAttempt]) -> Vec<DeliveryLease>;
    /// Appends to the attempt log, in the given order.
    fn log_attempts(attempts: &[&FinishedAttempt]) -> ();
    /// Updates the health of webhooks, whose rows must be locked.
    fn set_health(rows: &[HealthRow]) -> ();
    /// Ends the leases that are unchanged, and sets the due time of their deliveries.
    fn release(leases: &[DeliveryLease], due_at: Timestamp) -> ();
    /// Inserts the events that are not stored yet, and returns their ids.
    fn insert_events(rows: &[EventRow]) -> Vec<String>;
    /// Inserts deliveries of events.
    fn insert_deliveries(rows: &[DeliveryRow]) -> ();
    /// Inserts `outcome` for the envelopes without a recorded outcome, and returns the ids of these envelopes.
    fn insert_outcomes(
        envelopes: &BTreeSet<String>,
        outcome: &'static str,
        now: Timestamp
    ) -> Vec<String>;
    /// Inserts those of the waiting envelopes that do not wait yet.
    fn insert_waiting(rows: &[WaitingRow]) -> ();
    /// Changes the due time of deliveries without a lease, if the old due time is still valid.
    fn expedite(changes: &[DueTimeChange]) -> ();
}
