//! Test events: sent once on request of a webhook's owner, and never stored.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AttemptFailure, EventMetadata, OwnEventId, ReceiverResponse, Target, Timestamp};

/// A test event for one webhook, whatever kinds of events the webhook subscribes to.
#[derive(Debug, Clone)]
pub struct TestEvent {
    /// Id of the event.
    pub id: OwnEventId,
    /// URL and secrets of the webhook.
    pub target: Arc<Target>,
    /// Time of the request.
    pub timestamp: Timestamp,
}

/// The payload of `webhook.test`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WebhookTest {
    /// Always `webhook.test`.
    #[schemars(extend("const" = "webhook.test"))]
    event: &'static str,
    /// Id of the event, as in the header `webhook-id`.
    event_id: OwnEventId,
    /// Time of the event.
    metadata: EventMetadata,
}

/// The result of the only attempt of a test event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// `Ok` if the receiver responded with 2xx in time.
    pub result: Result<(), AttemptFailure>,
    /// The receiver's response; `None` without a response.
    pub response: Option<ReceiverResponse>,
    /// Duration of the attempt.
    pub duration: Duration,
}

impl TestEvent {
    /// Builds the JSON body of the webhook request.
    pub fn payload(&self) -> WebhookTest {
        let metadata = EventMetadata { timestamp: self.timestamp };
        WebhookTest { event: "webhook.test", event_id: self.id, metadata }
    }
}
