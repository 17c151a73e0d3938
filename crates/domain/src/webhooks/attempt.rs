//! Entries in the log of attempts (requests to webhooks), and deliveries that wait for an attempt.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AttemptFailure, EventId, EventMetadata, OwnEventId, ReceiverResponse, Target, Timestamp,
    named_enum::named_enum,
};

named_enum! {
    /// The outcome of an attempt to deliver an event, as the log of attempts shows it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AttemptOutcome {
        /// The attempt failed, and no retry follows because it was the last one of the retry schedule.
        Exhausted = "exhausted",
        /// The attempt failed, and a retry follows.
        Failed = "failed",
        /// The receiver responded with a 2xx status.
        Succeeded = "succeeded",
    }
}

/// Position of an attempt in the log of all attempts. Later attempts have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptNumber(pub i64);

/// One attempt to deliver an event: an HTTP request to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Position in the log of all attempts.
    pub number: AttemptNumber,
    /// The event of the attempted delivery.
    pub event_id: EventId,
    /// Number of the attempt among all attempts of the delivery, from 1.
    pub attempt: u32,
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u32,
    /// Outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// HTTP status of the response. `None` if no response arrived.
    pub status_code: Option<u16>,
    /// Class of the failure, as named by [`AttemptFailure::as_str`](crate::AttemptFailure::as_str). `None` after a
    /// success.
    pub error: Option<String>,
    /// The reason of a failure without a response, such as the error of the TLS library. `None` if the class is the
    /// whole reason.
    pub error_detail: Option<String>,
    /// The beginning of the response body, at most 1 KiB. `None` if no response arrived, or if its body was empty.
    pub excerpt: Option<String>,
    /// Earliest start of the next attempt. `None` if no further attempt was scheduled.
    pub next_attempt_at: Option<Timestamp>,
}

/// Time, duration and result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptTiming {
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u32,
    /// True if the receiver responded with a 2xx status.
    pub is_success: bool,
    /// True if a response arrived, with any status.
    pub has_response: bool,
}

/// A delivery that waits for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDelivery {
    /// The event to deliver.
    pub event_id: EventId,
    /// Time at which the event occurred.
    pub event_at: Timestamp,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Class of the newest failure. `None` before the first attempt.
    pub error: Option<String>,
    /// Earliest start of the next attempt. `None` while a node has leased the delivery.
    pub due_at: Option<Timestamp>,
}

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
