//! Deliveries. A delivery is the task to send one event to one webhook. It stays in the database until it succeeds. A
//! node must lease a delivery before an attempt. After the end of the lease, any node may lease it again.

use std::sync::Arc;

use crate::{Event, EventId, Target, Timestamp, WebhookId};

/// Identifies a delivery by its event and its webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId {
    /// The event to deliver.
    pub event_id: EventId,
    /// The webhook that receives the event.
    pub webhook_id: WebhookId,
}

/// Unique token of a lease. The outcome of an attempt is recorded only if the row of the delivery still has the same
/// token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseToken(pub i64);

/// A delivery leased by this node. No other node attempts it until the lease ends.
#[derive(Debug, Clone)]
pub struct LeasedDelivery {
    /// The event to deliver to the webhook.
    pub event: Event,
    /// URL and signing secrets of the webhook.
    pub target: Arc<Target>,
    /// A time at or before the read of `target` from the database. The webhook may have changed since this time.
    pub target_read_at: Timestamp,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Time at which the owner of the webhook last requested an attempt. `None` if this attempt was not requested.
    pub requested_at: Option<Timestamp>,
    /// Token of this node's lease on the delivery.
    pub lease: LeaseToken,
    /// End of the lease. Afterwards any node may lease the delivery again.
    pub lease_until: Timestamp,
}

impl LeasedDelivery {
    /// Returns the id of the delivery.
    pub fn id(&self) -> DeliveryId {
        DeliveryId { event_id: self.event.id(), webhook_id: self.target.webhook_id }
    }
}

/// The class of a failed attempt. Classes are coarse, so that the owner of a webhook cannot use them to scan ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptFailure {
    /// The host name resolves to a forbidden address, such as a private one.
    BlockedAddress,
    /// No TCP connection could be established.
    Connect,
    /// The host name could not be resolved.
    Dns,
    /// The receiver responded with this status other than 2xx.
    HttpStatus(u16),
    /// The connection was closed, or sent something other than HTTP, before a response arrived.
    Protocol,
    /// No response arrived within the time limit.
    Timeout,
    /// The TLS handshake failed.
    Tls,
    /// The header section of the response exceeds the size limit.
    TooLarge,
}

impl AttemptFailure {
    /// Returns the name of the class in JSON, SQL and logs.
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

/// The outcome of an attempt, with the data to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The last attempt of the retry schedule failed. The delivery stays in the database, so that the owner of the
    /// webhook can request another attempt.
    Exhausted(AttemptFailure),
    /// The receiver responded with status 410 (Gone). This disables the webhook, and the delivery stays in the
    /// database.
    Gone,
    /// The attempt failed, and a retry follows.
    Retry {
        /// Class of this failure.
        failure: AttemptFailure,
        /// Earliest start of the retry.
        due_at: Timestamp,
    },
    /// The receiver responded with a 2xx status.
    Succeeded,
}

/// The part of a receiver's response in the log of attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// HTTP status of the response.
    pub status: u16,
    /// The first bytes of the body, at most 1 KiB. Invalid UTF-8 is replaced.
    pub excerpt: String,
}

/// The result of one attempt. The database records it only if the lease is still valid.
#[derive(Debug, Clone)]
pub struct AttemptResult {
    /// The attempted delivery.
    pub id: DeliveryId,
    /// The webhook, as the attempt used it. The owner may have changed the webhook since.
    pub target: Arc<Target>,
    /// Token of the lease under which the attempt was made.
    pub lease: LeaseToken,
    /// Number of attempts so far, including this one.
    pub attempts: u32,
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u32,
    /// The receiver's response. `None` if no response arrived.
    pub response: Option<ReceiverResponse>,
    /// The reason of a failure without a response: printable text of at most 300 bytes.
    pub error_detail: Option<String>,
    /// Outcome of the attempt.
    pub outcome: Outcome,
}

impl AttemptResult {
    /// Returns the result without the texts of the receiver and of the failure, for a database that has refused one of
    /// these texts.
    #[must_use]
    pub fn without_text(&self) -> Self {
        let response = self.response.as_ref();
        let response = response
            .map(|response| ReceiverResponse { status: response.status, excerpt: String::new() });
        Self { response, error_detail: None, ..self.clone() }
    }
}
