//! The JSON fields specific to one kind of event. The common fields of all events are in `stored_event.rs`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, EnvelopeId, EventKind, Handle, Timestamp};

/// The JSON fields of an event that depend on its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventDetails {
    /// The fields of an `envelope.bounced` event.
    EnvelopeBounced(EnvelopeBounced),
    /// Members of `identity.rotated`.
    IdentityRotated(IdentityRotated),
    /// Members of `usage.threshold`.
    UsageThreshold(UsageThreshold),
}

impl EventDetails {
    /// Returns the kind of event with these fields.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::EnvelopeBounced(_) => EventKind::EnvelopeBounced,
            Self::IdentityRotated(_) => EventKind::IdentityRotated,
            Self::UsageThreshold(_) => EventKind::UsageThreshold,
        }
    }
}

/// The reason why an envelope bounced (could not be delivered).
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BounceReason {
    /// The last attempt of each delivery failed.
    Exhausted,
    /// The retention of the envelope ended before a delivery succeeded.
    Expired,
    /// The recipient's key was revoked before a delivery succeeded.
    RecipientRevoked,
}

/// The fields of `envelope.bounced`: an envelope could not be delivered to its recipient.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EnvelopeBounced {
    /// Id of the bounced envelope.
    pub envelope_id: EnvelopeId,
    /// The API key of the recipient.
    pub recipient: ApiKeyId,
    /// The reason why the envelope bounced.
    pub reason: BounceReason,
}

/// How a key changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationReason {
    /// The handle of the key was moved to another key.
    Replaced,
    /// The key was revoked.
    Revoked,
    /// The sealing key was replaced. The DID is unchanged.
    SealingKey,
}

impl RotationReason {
    const ALL: [Self; 3] = [Self::Replaced, Self::Revoked, Self::SealingKey];

    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Revoked => "revoked",
            Self::SealingKey => "sealing_key",
        }
    }

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

/// The members of `identity.rotated`.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct IdentityRotated {
    /// The changed key.
    pub api_key_id: ApiKeyId,
    /// The handle of the key before the change.
    pub handle: Option<Handle>,
    /// The key that now has the handle.
    pub replaced_by: Option<ApiKeyId>,
    /// How the key changed.
    pub reason: RotationReason,
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
