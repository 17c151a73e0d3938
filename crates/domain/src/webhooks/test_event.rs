//! Test events. The owner of a webhook requests them; each is sent once and never stored.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AttemptFailure, EventMetadata, OwnEventId, ReceiverResponse, Target, Timestamp};

/// A test event for one webhook. The subscriptions of the webhook do not matter.
#[derive(Debug, Clone)]
pub struct TestEvent {
    /// Id of the test event.
    pub id: OwnEventId,
    /// URL and signing secrets of the webhook.
    pub target: Arc<Target>,
    /// Time of the owner's request.
    pub timestamp: Timestamp,
}

/// The JSON body of a `webhook.test` event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WebhookTest {
    /// Always `webhook.test`.
    #[schemars(extend("const" = "webhook.test"))]
    event: &'static str,
    /// Id of the event, the same as in the header `webhook-id`.
    event_id: OwnEventId,
    /// Metadata of the event: the time of the owner's request.
    metadata: EventMetadata,
}

/// The result of a test event. There is only one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// `Ok` if the receiver responded with a 2xx status before the timeout.
    pub result: Result<(), AttemptFailure>,
    /// The receiver's response. `None` if no response arrived.
    pub response: Option<ReceiverResponse>,
    /// The reason of a failure without a response, as in [`AttemptResult`](crate::AttemptResult).
    pub error_detail: Option<String>,
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
