//! Rows of the delivery queue. A delivery is one event for one webhook.

use std::cmp::Ordering;

use diesel::{
    backend::Backend,
    expression::ValidGrouping,
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::Bool,
};
use sealpost_domain::{DeliveryId, LeaseToken, LeasedDelivery, ports::ParkedDelivery};

use crate::{
    connection::query_error::QueryError,
    query::row_types::stored_row,
    rows::{columns, envelope::HashedMetaRow, webhook::TargetRow},
    schema::deliveries,
};

stored_row! {
    /// A new row of the table `deliveries`.
    pub(crate) struct DeliveryRow in deliveries {
        event_id: String,
        webhook_id: String,
        attempts: i32,
        due_at: i64,
        lease: Option<i64>,
    }
}

impl DeliveryRow {
    /// The columns of the primary key.
    pub(crate) const KEY: &'static str = "envelope_id, webhook_id";

    /// Creates the row of a delivery that is leased to this node. Other nodes may claim the delivery when the lease
    /// ends.
    pub(crate) fn leased(delivery: &LeasedDelivery) -> Result<Self, QueryError> {
        let (lease, due_at) = (Some(delivery.lease.0), delivery.lease_until.as_millis());
        Ok(Self { due_at, lease, ..Self::unleased(delivery)? })
    }

    /// Creates the row of a delivery without its lease, due at the time of the event. Any node may claim the delivery.
    pub(crate) fn unleased(delivery: &LeasedDelivery) -> Result<Self, QueryError> {
        Ok(Self {
            event_id: delivery.event.id().to_string(),
            webhook_id: delivery.target.webhook_id.to_string(),
            attempts: columns::number(delivery.attempts, "number of attempts")?,
            due_at: delivery.event.timestamp().as_millis(),
            lease: None,
        })
    }

    /// Creates the row of a delivery that waits for a [relay](sealpost_domain::ports::Relays) (a webhook whose receiver
    /// connects to the service). The node that gets the connection claims the delivery.
    pub(crate) fn awaiting_relay(delivery: &LeasedDelivery) -> Result<Self, QueryError> {
        Ok(Self { lease: Some(AWAITING_RELAY), ..Self::unleased(delivery)? })
    }

    /// Creates the row of a new delivery without a lease. `due_at` is in milliseconds.
    pub(crate) fn new(event_id: String, webhook_id: String, due_at: i64) -> Self {
        Self { event_id, webhook_id, attempts: 0, due_at, lease: None }
    }

    /// Creates the row of a delivery to a disabled or paused webhook. The delivery is due [`PARKED_FOR`] after its
    /// event.
    pub(crate) fn parked(parked: &ParkedDelivery) -> Self {
        let due_at = parked.event_at.plus(PARKED_FOR).as_millis();
        Self::new(parked.id.event_id.to_string(), parked.id.webhook_id.to_string(), due_at)
    }
}

/// The value of the column `lease` if a delivery waits for a [relay](sealpost_domain::ports::Relays): the receiver of
/// the delivery must connect to the service first.
pub(crate) const AWAITING_RELAY: i64 = -1;

/// Returns the condition that a delivery waits until the receiver of its webhook, a relay, connects to the service.
pub(crate) fn awaits_relay() -> LeaseCondition {
    LeaseCondition("deliveries.lease = -1")
}

/// Returns the condition that a delivery is leased to a node.
pub(crate) fn is_leased() -> LeaseCondition {
    LeaseCondition("deliveries.lease <> -1")
}

/// A condition on the column `lease`. The value is part of the SQL text, because the databases use a partial index only
/// for a constant. Unlike a query with `diesel::dsl::sql`, a query with this condition stays prepared.
#[derive(Debug, Clone, Copy, ValidGrouping)]
pub(crate) struct LeaseCondition(&'static str);

impl Expression for LeaseCondition {
    type SqlType = Bool;
}

impl AppearsOnTable<deliveries::table> for LeaseCondition {}

impl SelectableExpression<deliveries::table> for LeaseCondition {}

impl<DB: Backend> QueryFragment<DB> for LeaseCondition {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.0);
        Ok(())
    }
}

/// Makes diesel cache prepared queries with this condition by their texts, because conditions with different texts have
/// the same type.
impl QueryId for LeaseCondition {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// The primary key of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Queryable)]
pub(crate) struct DeliveryKey {
    pub(crate) webhook_id: String,
    pub(crate) event_id: String,
}

impl DeliveryKey {
    /// Compares two keys in the order in which all transactions lock deliveries.
    pub(crate) fn cmp_locked(&self, other: &Self) -> Ordering {
        (&self.event_id, &self.webhook_id).cmp(&(&other.event_id, &other.webhook_id))
    }
}

/// Returns the primary keys of the deliveries of these events to one webhook.
pub(crate) fn keys_to(webhook_id: &str, events: &[String]) -> Vec<DeliveryKey> {
    let key = |event_id: &String| DeliveryKey {
        webhook_id: webhook_id.to_owned(),
        event_id: event_id.clone(),
    };
    events.iter().map(key).collect()
}

/// The primary key of a delivery and the token of its lease.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Queryable)]
pub(crate) struct DeliveryLease {
    pub(crate) key: DeliveryKey,
    pub(crate) lease: i64,
}

impl DeliveryLease {
    pub(crate) fn new(id: &DeliveryId, lease: LeaseToken) -> Self {
        let (webhook_id, event_id) = (id.webhook_id.to_string(), id.event_id.to_string());
        Self { key: DeliveryKey { webhook_id, event_id }, lease: lease.0 }
    }
}

/// A delivery whose attempt succeeded.
#[derive(Debug, Queryable)]
pub(crate) struct SucceededDelivery {
    pub(crate) lease: DeliveryLease,
    /// True if the event still has deliveries: deliveries to other webhooks, or this delivery, if its redelivery was
    /// requested during the attempt.
    pub(crate) is_left: bool,
}

/// A delivery whose attempt failed.
#[derive(Debug, Queryable)]
pub(crate) struct FailedDelivery {
    pub(crate) lease: DeliveryLease,
    /// True if no attempt follows.
    pub(crate) is_exhausted: bool,
}

/// A delivery that a node has claimed (leased), with its webhook and its envelope. The webhook or the envelope is
/// `None` if it was deleted. The envelope is also `None` if the event is not a received envelope.
#[derive(Debug, Queryable)]
pub(crate) struct ClaimedRow {
    pub(crate) event_id: String,
    pub(crate) webhook_id: String,
    pub(crate) attempts: i32,
    pub(crate) requested_at: Option<i64>,
    /// The status of the webhook, the account of its API key, and the target of its requests.
    pub(crate) webhook: Option<(String, String, TargetRow)>,
    pub(crate) envelope: Option<HashedMetaRow>,
    /// The current handle of the envelope's sender; `None` if the sender has no handle.
    pub(crate) sender_handle: Option<String>,
}

/// Time by which a delivery to a disabled or paused webhook is postponed (parked). Enabling or resuming the webhook
/// makes the delivery due earlier.
pub(crate) const PARKED_FOR: std::time::Duration = std::time::Duration::from_mins(30);
