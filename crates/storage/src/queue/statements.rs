//! The SQL statements for batches of deliveries. Each statement has a version for each database.
//!
//! PostgreSQL gets one statement with arrays for a whole batch, SQLite one prepared statement for each row.

mod postgres;
mod sqlite;

use std::{collections::BTreeSet, ops::RangeInclusive};

use sealpost_domain::{
    Timestamp,
    ports::{Claim, ExpeditedDelivery},
};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    query::statement::on_either,
    rows::{
        attempt::FinishedAttempt,
        delivery::{ClaimedRow, DeliveryKey, DeliveryLease, FailedDelivery, SucceededDelivery},
        event::EventRow,
        webhook::HealthRow,
    },
};

/// Locks deliveries until the transaction ends. Does nothing on SQLite. Locks in the order that all transactions use,
/// first by the event ids and then by the webhook ids, so that two transactions cannot deadlock.
pub(crate) fn lock(conn: &mut AnyConnection, keys: &[DeliveryKey]) -> Result<(), QueryError> {
    match conn {
        AnyConnection::Postgres(pg) => postgres::lock(pg, keys),
        AnyConnection::Sqlite(_) => Ok(()),
    }
}

on_either! {
    /// Ends up to `limit` leases whose end is in the range. Their deliveries are then due.
    fn end_leases(ends: &RangeInclusive<i64>, limit: i64) -> ();
    /// Finds the first `limit` deliveries without a lease that are due in the range, earliest due time first. Of these,
    /// locks and returns the deliveries whose webhook is not in `full`.
    fn oldest_due(due: &RangeInclusive<i64>, limit: i64, full: &[String]) -> Vec<DeliveryKey>;
    /// Finds up to `limit` webhooks with deliveries that have no lease and are due at `due_from` or later. Begins after
    /// the id `above`, in the order of ids. Returns each id with the earliest of these due times, in milliseconds.
    fn targets_above(above: &str, due_from: i64, limit: i64) -> Vec<(String, i64)>;
    /// Finds and locks up to `limit` deliveries of each given webhook that are due in the range and have no lease.
    fn due_of(targets: &[String], due: &RangeInclusive<i64>, limit: i64) -> Vec<DeliveryKey>;
    /// Finds and locks up to `limit` deliveries of each given relay (a webhook whose receiver connects to the service)
    /// that are due at `now` and wait for a connection. The oldest events come first.
    fn awaiting_relay(targets: &[String], now: Timestamp, limit: i64) -> Vec<DeliveryKey>;
    /// Ends the given leases, except those that have changed since. Their deliveries are then due at `now`, and wait
    /// until the receiver connects to the service.
    fn await_relay(leases: &[DeliveryLease], now: Timestamp) -> ();
    /// Releases up to `limit` deliveries that wait for a relay connection, if their webhook is no longer a relay or was
    /// deleted. All nodes can then claim these deliveries. Returns their number.
    fn leave_relays(limit: i64) -> usize;
    /// Leases deliveries, and returns them with their webhooks and envelopes, if these still exist. Clears the requests
    /// to redeliver or recover these deliveries, because the new attempt fulfils them. For a requested attempt, the
    /// returned number of attempts is lower by one, so that it repeats the newest attempt.
    fn lease(keys: &[DeliveryKey], claim: &Claim) -> Vec<ClaimedRow>;
    /// Deletes deliveries, leased or not. Returns the primary keys of those that existed.
    fn delete(keys: &[DeliveryKey]) -> Vec<DeliveryKey>;
    /// Postpones (parks) deliveries: ends their leases and sets the due time, even if the lease has changed.
    fn park(keys: &[DeliveryKey], due_at: Timestamp) -> ();
    /// Deletes succeeded deliveries with an unchanged lease, and returns the deleted deliveries. Skips deliveries with
    /// a request to redeliver.
    fn remove_succeeded(attempts: &[&FinishedAttempt]) -> Vec<SucceededDelivery>;
    /// Starts succeeded deliveries again, if their redelivery was requested during the attempt and their lease has not
    /// changed since. Returns the deliveries that start again.
    fn restart_succeeded(attempts: &[&FinishedAttempt]) -> Vec<SucceededDelivery>;
    /// Records the failed attempts of deliveries with an unchanged lease. Ends the leases of these deliveries, and
    /// returns the deliveries. A delivery with a request to redeliver or recover is due at the time of the request, and
    /// marked as requested.
    fn record_failed(attempts: &[&FinishedAttempt]) -> Vec<FailedDelivery>;
    /// Appends attempts to the attempt log, in the given order.
    fn log_attempts(attempts: &[&FinishedAttempt]) -> ();
    /// Updates the health of webhooks. Their rows must be locked.
    fn set_health(rows: &[HealthRow]) -> ();
    /// Ends the given leases, except those that have changed since, and sets the due time of their deliveries to
    /// `due_at`. If redelivery or recovery of a delivery was requested before `due_at`, the time of the request is the
    /// due time.
    fn release(leases: &[DeliveryLease], due_at: Timestamp) -> ();
    /// Inserts the events that are not stored yet, and returns their ids.
    fn insert_events(rows: &[EventRow]) -> Vec<String>;
    /// Inserts `outcome` for the envelopes without a row in `envelope_outcomes`, and returns the ids of these
    /// envelopes.
    fn insert_outcomes(
        envelopes: &BTreeSet<String>,
        outcome: &'static str,
        now: Timestamp
    ) -> Vec<String>;
    /// Changes the due time of deliveries without a lease, unless the stored due time has changed since it was read.
    fn expedite(changes: &[ExpeditedDelivery]) -> ();
}
