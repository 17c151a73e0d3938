//! Events with an id of their own. The event is stored together with its body, so that every
//! attempt sends the same bytes, also after an update of the service.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, EventDetails, EventKind, OwnEventId, Timestamp};

/// An event to store, for the webhooks of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Id of the event.
    pub id: OwnEventId,
    /// The key whose webhooks receive the event, if they subscribe to the kind.
    pub api_key_id: ApiKeyId,
    /// Time of the event.
    pub created_at: Timestamp,
    /// The members that depend on the kind of event.
    pub details: EventDetails,
}

/// The JSON body of a stored event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EventBody<D> {
    /// Name of the event.
    pub event: EventKind,
    /// Id of the event, as in the header `webhook-id`.
    pub event_id: OwnEventId,
    /// The members of this kind of event.
    #[serde(flatten)]
    pub details: D,
    /// Time of the event.
    pub metadata: EventMetadata,
}

/// Time of an event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EventMetadata {
    /// Time of the event.
    pub timestamp: Timestamp,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Id of the event.
    pub id: OwnEventId,
    /// Time of the event.
    pub created_at: Timestamp,
    /// The JSON body of the webhook request.
    pub body: String,
}

impl NewEvent {
    /// Returns the kind, which webhooks subscribe to.
    pub const fn kind(&self) -> EventKind {
        self.details.kind()
    }

    /// Returns the JSON body to store.
    pub fn body(&self) -> EventBody<&EventDetails> {
        EventBody {
            event: self.kind(),
            event_id: self.id,
            details: &self.details,
            metadata: EventMetadata { timestamp: self.created_at },
        }
    }
}
