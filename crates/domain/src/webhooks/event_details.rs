//! The JSON members of events that depend on the kind of event.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, EnvelopeId, EventKind, Timestamp};

/// The JSON members of an event that depend on its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventDetails {
    /// Members of `envelope.bounced`.
    EnvelopeBounced(EnvelopeBounced),
    /// Members of `usage.threshold`.
    UsageThreshold(UsageThreshold),
}

impl EventDetails {
    /// Returns the kind of event that has these members.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::EnvelopeBounced(_) => EventKind::EnvelopeBounced,
            Self::UsageThreshold(_) => EventKind::UsageThreshold,
        }
    }
}

/// Why an envelope bounced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BounceReason {
    /// The last attempt of every delivery failed.
    Exhausted,
    /// The retention of the envelope ended before a delivery succeeded.
    Expired,
    /// The recipient's key was revoked before a delivery succeeded.
    RecipientRevoked,
}

/// The members of `envelope.bounced`.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EnvelopeBounced {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The key that did not receive the envelope.
    pub recipient: ApiKeyId,
    /// Why the envelope bounced.
    pub reason: BounceReason,
}

/// A window whose thresholds give events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdWindow {
    /// Requests per UTC day.
    Day,
    /// Messages per UTC month.
    Month,
}

impl ThresholdWindow {
    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

/// The members of `usage.threshold`.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct UsageThreshold {
    /// The key.
    pub api_key_id: ApiKeyId,
    /// The window of the limit: requests per day, or messages per month.
    pub window: ThresholdWindow,
    /// The percentage of the limit that was reached.
    #[schemars(extend("enum" = [80, 100]))]
    pub threshold: u8,
    /// Number of requests or messages in the window.
    pub used: u32,
    /// The limit.
    pub limit: u32,
    /// End of the window.
    pub resets_at: Timestamp,
}
