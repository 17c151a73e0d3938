//! Statements over whole batches: the one place where the databases are spoken to in different words. PostgreSQL gets
//! one statement with arrays, so that a batch costs one round trip; SQLite, where there is no trip to save, gets a
//! prepared statement for each row.

mod postgres;
mod sqlite;
mod statement;

use diesel::prelude::*;
use sealpost_domain::{
    DeliveryId, LeaseToken, Timestamp,
    ports::{Claim, ExpeditedDelivery},
};

use crate::{
    connection::AnyConnection,
    envelope::MetaRow,
    fault::Fault,
    schema::{deliveries, overages},
    usage::UsageRow,
    webhook::TargetRow,
};

/// Everything that a batch of the send path writes.
#[derive(Debug)]
pub(crate) struct SentRows<'a> {
    pub(crate) envelopes: Vec<EnvelopeRow<'a>>,
    pub(crate) deliveries: Vec<DeliveryRow>,
    pub(crate) usage: Vec<UsageRow>,
}

impl SentRows<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.envelopes.is_empty() && self.deliveries.is_empty() && self.usage.is_empty()
    }
}

/// A channel as it is stored.
#[derive(Debug)]
pub(crate) struct ChannelRow<'a> {
    pub(crate) id: String,
    pub(crate) sender: String,
    pub(crate) recipient: String,
    pub(crate) sealing_version: i32,
    pub(crate) encapsulation: &'a [u8],
    pub(crate) signature: &'a [u8],
}

/// An envelope as it is stored.
#[derive(Debug)]
pub(crate) struct EnvelopeRow<'a> {
    pub(crate) id: String,
    pub(crate) sender: String,
    pub(crate) recipient: String,
    pub(crate) suite: i16,
    pub(crate) hash: &'a [u8],
    pub(crate) signature: &'a [u8],
    pub(crate) sealed: &'a [u8],
    pub(crate) payload_size_bytes: i64,
    pub(crate) created_at: i64,
}

/// A delivery as it is stored.
#[derive(Debug, Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
pub(crate) struct DeliveryRow {
    pub(crate) envelope_id: String,
    pub(crate) webhook_id: String,
    pub(crate) attempts: i32,
    pub(crate) due_at: i64,
    pub(crate) lease: Option<i64>,
}

/// A delivery that was taken, with its webhook and its envelope where they are still there.
#[derive(Debug, Queryable)]
pub(crate) struct TakenRow {
    pub(crate) envelope_id: String,
    pub(crate) webhook_id: String,
    pub(crate) attempts: i32,
    pub(crate) webhook: Option<(String, TargetRow)>,
    pub(crate) envelope: Option<MetaRow>,
}

/// Which delivery, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RowId {
    pub(crate) webhook_id: String,
    pub(crate) envelope_id: String,
}

/// A delivery that somebody held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Held {
    pub(crate) id: RowId,
    pub(crate) lease: i64,
}

/// When a delivery that nobody holds is due, and when instead.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) id: RowId,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// The end of an attempt, for the queue and for the log.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) held: Held,
    pub(crate) attempts: i32,
    pub(crate) at: i64,
    pub(crate) duration_ms: i32,
    pub(crate) outcome: &'static str,
    /// `None` where it succeeded.
    pub(crate) failure: Option<&'static str>,
    pub(crate) status_code: Option<i32>,
    pub(crate) excerpt: Option<String>,
    /// `None` where it was the last.
    pub(crate) due_at: Option<i64>,
    pub(crate) is_gone: bool,
}

/// How a webhook fares, as it is stored.
#[derive(Debug, Clone, Queryable)]
pub(crate) struct HealthRow {
    pub(crate) webhook_id: String,
    pub(crate) status: String,
    pub(crate) disabled_reason: Option<String>,
    pub(crate) failing_since: Option<i64>,
    pub(crate) last_success_at: Option<i64>,
    pub(crate) last_failure_at: Option<i64>,
    pub(crate) last_failure: Option<String>,
}

/// What an idempotent send is remembered by.
#[derive(Debug)]
pub(crate) struct RememberedId<'a> {
    pub(crate) api_key_id: String,
    pub(crate) idempotency_key: &'a str,
}

/// An idempotent send as it is stored.
#[derive(Debug)]
pub(crate) struct RememberedRow<'a> {
    pub(crate) id: RememberedId<'a>,
    pub(crate) fingerprint: &'a [u8],
    pub(crate) envelope_id: String,
    pub(crate) created_at: i64,
    /// No column of it: older ones of the same name are stale.
    pub(crate) expired_before: i64,
}

/// What was remembered: the key that sent, its name for the request, the fingerprint, when, and what was stored.
pub(crate) type RecalledRow = (String, String, Vec<u8>, i64, MetaRow);

/// Messages past the monthly allowance as they are stored.
#[derive(Debug, Insertable)]
#[diesel(table_name = overages)]
pub(crate) struct OverageRow {
    pub(crate) api_key_id: String,
    pub(crate) month: i64,
    pub(crate) messages: i64,
}

impl From<&DeliveryId> for RowId {
    fn from(id: &DeliveryId) -> Self {
        Self { webhook_id: id.webhook_id.to_string(), envelope_id: id.envelope_id.to_string() }
    }
}

impl Held {
    pub(crate) fn new(id: &DeliveryId, lease: LeaseToken) -> Self {
        Self { id: id.into(), lease: lease.0 }
    }
}

impl From<&ExpeditedDelivery> for Move {
    fn from(expedited: &ExpeditedDelivery) -> Self {
        let (from, to) = (expedited.from.as_millis(), expedited.to.as_millis());
        Self { id: (&expedited.id).into(), from, to }
    }
}

macro_rules! on_either {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $value:ty;)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name(conn: &mut AnyConnection, $($arg: $type),*) -> Result<$value, Fault> {
                match conn {
                    AnyConnection::Postgres(conn) => postgres::$name(conn, $($arg),*),
                    AnyConnection::Sqlite(conn) => sqlite::$name(conn, $($arg),*),
                }
            }
        )*
    };
}

on_either! {
    /// What these keys have used, locked in the order of ids; and then the lock of those who rely on the facts, and the
    /// stamp that these have until the transaction ends.
    fn lock_usage_and_facts(callers: &[String]) -> (Vec<UsageRow>, String);
    /// Stores envelopes and their deliveries, and writes down what was used, whose rows are there and locked.
    fn store(rows: &SentRows<'_>) -> ();
    /// Stores channels that are not stored yet.
    fn open_channels(rows: &[ChannelRow<'_>]) -> ();
    /// Adds to what is recorded past the allowance.
    fn add_overages(rows: &[OverageRow]) -> ();
    /// What was remembered, where its envelope is still there.
    fn recall(ids: &[RememberedId<'_>]) -> Vec<RecalledRow>;
    /// Remembers what is not remembered yet, and tells how many that were.
    fn remember(rows: &[RememberedRow<'_>]) -> usize;
    /// Forgets those of the same names that have had their time, or whose envelopes are gone.
    fn forget_stale(rows: &[RememberedRow<'_>]) -> ();
    /// Up to `limit` deliveries that are due, the longest due first; nobody else takes them.
    fn oldest_due(now: Timestamp, limit: i64) -> Vec<RowId>;
    /// Up to `limit` targets above `above` in the order of their ids, each with the first instant at which one of its
    /// deliveries is due.
    fn targets_above(above: &str, limit: i64) -> Vec<(String, i64)>;
    /// Up to `limit` deliveries of each of these targets that are due; nobody else takes them.
    fn due_of(targets: &[String], now: Timestamp, limit: i64) -> Vec<RowId>;
    /// Holds deliveries, whatever became of their webhooks.
    fn lease(ids: &[RowId], claim: &Claim) -> Vec<TakenRow>;
    /// Deletes deliveries, whoever holds them.
    fn discard(ids: &[RowId]) -> ();
    /// Gives deliveries back, to be looked at again at `due_at`.
    fn park(ids: &[RowId], due_at: Timestamp) -> ();
    /// Deletes those that are still held so, and tells which.
    fn remove(ends: &[&End]) -> Vec<Held>;
    /// Writes the failure of those that are still held so, gives them back, and tells which.
    fn keep(ends: &[&End]) -> Vec<Held>;
    /// Adds to the log, in this order.
    fn log(ends: &[&End]) -> ();
    /// Writes down how webhooks fare, whose rows are locked.
    fn set_health(rows: &[HealthRow]) -> ();
    /// Makes those due that are still held so.
    fn release(held: &[Held], due_at: Timestamp) -> ();
    /// Moves the time at which those are due that nobody holds and that are due as said.
    fn expedite(moves: &[Move]) -> ();
    /// Deletes the first envelopes below this id, `limit` at the most, with their deliveries; how many envelopes.
    fn purge_envelopes(below: &str, limit: i64) -> usize;
}
