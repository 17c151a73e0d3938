//! Events with a row of their own: all except `envelope.received`. The row contains the finished JSON body, so all
//! attempts send the same bytes, even after an update of the service.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, EventDetails, EventKind, OwnEventId, Timestamp};

/// A new event for the webhooks of one API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Id of the event.
    pub id: OwnEventId,
    /// The API key whose webhooks get the event, if they subscribe to its kind.
    pub api_key_id: ApiKeyId,
    /// Time of the event.
    pub created_at: Timestamp,
    /// The JSON fields that depend on the kind of the event.
    pub details: EventDetails,
}

/// The JSON body of an event: the fields that all kinds of events have, and the fields of its own kind.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EventBody<D> {
    /// Name of the event.
    pub event: EventKind,
    /// Id of the event, the same as in the header `webhook-id`.
    pub event_id: OwnEventId,
    /// The fields specific to this kind of event.
    #[serde(flatten)]
    pub details: D,
    /// The `metadata` object, which contains the time of the event.
    pub metadata: EventMetadata,
}

/// The `metadata` object of an event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EventMetadata {
    /// Time of the event.
    pub timestamp: Timestamp,
}

/// A stored event, ready to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Id of the event.
    pub id: OwnEventId,
    /// Time of the event.
    pub created_at: Timestamp,
    /// The JSON body, as sent in the webhook request.
    pub body: String,
}

impl NewEvent {
    /// Returns the kind of the event. Only webhooks that subscribe to this kind get the event.
    pub const fn kind(&self) -> EventKind {
        self.details.kind()
    }

    /// Builds the JSON body of the event.
    pub fn body(&self) -> EventBody<&EventDetails> {
        EventBody {
            event: self.kind(),
            event_id: self.id,
            details: &self.details,
            metadata: EventMetadata { timestamp: self.created_at },
        }
    }
}
