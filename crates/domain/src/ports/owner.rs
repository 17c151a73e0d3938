//! The data on the dashboard of an account's owner.

use crate::{ApiKey, ApiKeyId, EventKind, GovernanceStanding, Timestamp, Usage};

/// An API key, with its usage counters and governance decisions.
#[derive(Debug, Clone)]
pub struct KeyOverview {
    /// The API key.
    pub key: ApiKey,
    /// Usage counters of the key.
    pub usage: Usage,
    /// Proposed and enforced governance decisions (blocks by operators) on the key, its account and its partner.
    pub standing: GovernanceStanding,
    /// Number of webhooks of the key.
    pub webhooks: u64,
    /// Number of envelopes that wait until the key has a webhook for received envelopes.
    pub waiting: u64,
}

/// The kind and the sender of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSource {
    /// The kind of the event.
    pub kind: EventKind,
    /// The sender of a received envelope. `None` for an event of any other kind.
    pub sender: Option<ApiKeyId>,
}

/// Activity of one API key on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyCount {
    /// Start of the UTC day.
    pub day: Timestamp,
    /// Number of envelopes sent by the key.
    pub sent: u64,
    /// Number of envelopes sent to the key.
    pub received: u64,
    /// Number of events delivered to the key's webhooks.
    pub delivered: u64,
}
