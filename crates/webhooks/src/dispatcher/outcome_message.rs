//! Messages from the delivery workers to the outcome writer, the thread that writes to the database.

use sealpost_domain::{AttemptResult, ports::ExpeditedDelivery};

use crate::queue::release_batch::ReleaseBatch;

/// A database change that a delivery worker requests.
pub(super) enum OutcomeMessage {
    /// Returns deliveries to the database, because their [relays](crate::relay) have no connection to this node. A node
    /// with a connection may claim them from `due_at` on.
    AwaitRelay(ReleaseBatch),
    Expedite(Vec<ExpeditedDelivery>),
    Record(AttemptResult),
    Release(ReleaseBatch),
}

impl OutcomeMessage {
    /// Returns the number of deliveries that are no longer in memory after this message has been processed.
    pub(super) fn deliveries(&self) -> usize {
        match self {
            Self::Expedite(_) => 0,
            Self::Record(_) => 1,
            Self::AwaitRelay(batch) | Self::Release(batch) => batch.held.len(),
        }
    }
}
