//! The JSON members of events that depend on the kind of event.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, EnvelopeId, EventKind};

/// The JSON members of an event that depend on its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventDetails {
    /// Members of `envelope.bounced`.
    EnvelopeBounced(EnvelopeBounced),
}

impl EventDetails {
    /// Returns the kind of event that has these members.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::EnvelopeBounced(_) => EventKind::EnvelopeBounced,
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
