//! Deliveries: one notice on its way to one webhook. A delivery is a row until it succeeded; whoever holds
//! its lease may attempt it, and a lease that has run out may be taken by anybody.

use std::sync::Arc;

use crate::{EnvelopeId, EnvelopeMeta, Target, Timestamp, WebhookId};

/// Which notice to which webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId {
    /// The envelope that it tells of.
    pub envelope_id: EnvelopeId,
    /// The webhook that it goes to.
    pub webhook_id: WebhookId,
}

/// Proof of holding a lease: an outcome is written only while the row still carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseToken(pub i64);

/// A delivery that this node holds and nobody else attempts until the lease ends.
#[derive(Debug, Clone)]
pub struct LeasedDelivery {
    /// What the notice says, and with it the envelope's id.
    pub meta: Arc<EnvelopeMeta>,
    /// Where it goes.
    pub target: Arc<Target>,
    /// How many attempts were made before.
    pub attempts: u32,
    /// Proof of holding it.
    pub lease: LeaseToken,
    /// When others may take it.
    pub lease_until: Timestamp,
}

impl LeasedDelivery {
    /// Which notice to which webhook.
    pub fn id(&self) -> DeliveryId {
        DeliveryId { envelope_id: self.meta.id, webhook_id: self.target.webhook_id }
    }
}

/// Why an attempt failed, in classes too coarse for a port scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptFailure {
    /// The name leads to an address that is not public.
    BlockedAddress,
    /// No connection.
    Connect,
    /// The name does not resolve.
    Dns,
    /// An answer other than 2xx.
    HttpStatus(u16),
    /// The connection ended, or was garbled, before an answer came.
    Protocol,
    /// No answer in time.
    Timeout,
    /// No secure connection.
    Tls,
    /// The answer's head is longer than an answer's head may be.
    TooLarge,
}

impl AttemptFailure {
    /// The class's name in JSON, SQL and logs.
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

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It failed and was the last that the schedule grants; the delivery stays visible.
    Exhausted(AttemptFailure),
    /// The receiver answered 410: it wants no more, so its webhook is disabled, and the delivery stays visible.
    Gone,
    /// It failed and is due again.
    Retry {
        /// Why it failed.
        failure: AttemptFailure,
        /// When the next attempt is due.
        due_at: Timestamp,
    },
    /// The receiver answered 2xx.
    Succeeded,
}

/// What a receiver answered, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// The HTTP status.
    pub status: u16,
    /// The beginning of the body, at most 1 KiB; bytes that are no text are replaced.
    pub excerpt: String,
}

/// The outcome of one attempt, to be written where the lease still holds.
#[derive(Debug, Clone)]
pub struct AttemptResult {
    /// Which delivery.
    pub id: DeliveryId,
    /// Proof of having held it.
    pub lease: LeaseToken,
    /// How many attempts there were, this one included.
    pub attempts: u32,
    /// When the attempt ended.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u32,
    /// What the receiver answered; `None` where no answer came.
    pub response: Option<ReceiverResponse>,
    /// How it ended.
    pub outcome: Outcome,
}
