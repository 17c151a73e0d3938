//! Deliveries: one event on its way to one webhook. A delivery is a database row until it succeeds.
//! Only the node that holds the lease attempts it. Any node may claim it after the lease ends.

use std::sync::Arc;

use crate::{Event, EventId, Target, Timestamp, WebhookId};

/// Identifies a delivery: one event to one webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId {
    /// The event.
    pub event_id: EventId,
    /// The webhook that receives the event.
    pub webhook_id: WebhookId,
}

/// Token of a lease. An outcome is recorded only while the row carries the same token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseToken(pub i64);

/// A delivery whose lease this node holds. No other node attempts it before the lease ends.
#[derive(Debug, Clone)]
pub struct LeasedDelivery {
    /// The event to deliver.
    pub event: Event,
    /// URL and secrets of the webhook.
    pub target: Arc<Target>,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Token of the lease.
    pub lease: LeaseToken,
    /// End of the lease.
    pub lease_until: Timestamp,
}

impl LeasedDelivery {
    /// Returns the id of the delivery.
    pub fn id(&self) -> DeliveryId {
        DeliveryId { event_id: self.event.id(), webhook_id: self.target.webhook_id }
    }
}

/// Why an attempt failed. The classes are too coarse to scan ports with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptFailure {
    /// The host name resolves to an address that is not public.
    BlockedAddress,
    /// No TCP connection.
    Connect,
    /// The host name does not resolve.
    Dns,
    /// A response with a status other than 2xx.
    HttpStatus(u16),
    /// The connection closed, or was malformed, before a response arrived.
    Protocol,
    /// No response within the time limit.
    Timeout,
    /// The TLS handshake failed.
    Tls,
    /// The head of the response is longer than the limit.
    TooLarge,
}

impl AttemptFailure {
    /// Returns the name used in JSON, SQL and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BlockedAddress => "blocked_address",
            Self::Connect => "connect",
            Self::Dns => "dns",
            Self::HttpStatus(_) => "http_status",
            Self::Protocol => "protocol",
            Self::Timeout => "timeout",
            Self::Tls => "tls",
            Self::TooLarge => "too_large",
        }
    }
}

/// The outcome of an attempt, with the data that the database needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The last attempt of the schedule failed. The delivery stays in the database.
    Exhausted(AttemptFailure),
    /// The receiver responded with 410. The webhook is disabled and the delivery stays in the
    /// database.
    Gone,
    /// The attempt failed and a retry follows.
    Retry {
        /// Failure of this attempt.
        failure: AttemptFailure,
        /// Due time of the next attempt.
        due_at: Timestamp,
    },
    /// The receiver responded with 2xx.
    Succeeded,
}

/// The part of a receiver's response that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// HTTP status.
    pub status: u16,
    /// First 1 KiB of the body at most, as lossy UTF-8.
    pub excerpt: String,
}

/// The result of one attempt. It is recorded only if the lease is still valid.
#[derive(Debug, Clone)]
pub struct AttemptResult {
    /// The attempted delivery.
    pub id: DeliveryId,
    /// Token of the lease.
    pub lease: LeaseToken,
    /// Number of attempts, including this one.
    pub attempts: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// Duration in milliseconds.
    pub duration_ms: u32,
    /// The receiver's response; `None` without a response.
    pub response: Option<ReceiverResponse>,
    /// Outcome of the attempt.
    pub outcome: Outcome,
}
