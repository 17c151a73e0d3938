//! The deliveries of events to webhooks.

use sealpost_domain::{EventId, Timestamp, WebhookId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    error::ClientError,
    operations::{Webhooks, webhooks::WithWebhook},
    pages::{Pages, pages},
};

impl Webhooks {
    /// Returns the pending deliveries of a webhook, and then all attempts, each newest first. Each request loads
    /// `page_size` entries.
    pub fn deliveries(&self, webhook_id: WebhookId, page_size: u32) -> Pages<Delivery> {
        let body = json!({"webhook_id": webhook_id, "limit": page_size});
        pages(&self.0, "/v1/webhooks/deliveries", body)
    }

    /// Returns the deliveries of a webhook in one state, such as `failed`, newest first.
    pub fn deliveries_in(
        &self,
        webhook_id: WebhookId,
        state: &str,
        page_size: u32,
    ) -> Pages<Delivery> {
        let body = json!({"webhook_id": webhook_id, "state": state, "limit": page_size});
        pages(&self.0, "/v1/webhooks/deliveries", body)
    }

    /// Sends an event to the webhook again now. `event_id` is the id of an envelope, or of another event.
    pub async fn redeliver(
        &self,
        webhook_id: WebhookId,
        event_id: EventId,
    ) -> Result<Redelivered, ClientError> {
        let body = json!({"webhook_id": webhook_id, "envelope_id": event_id.to_string()});
        self.0.post("/v1/webhooks/redeliver", &body).await
    }

    /// Makes up to 10,000 failed deliveries due now. Call this again while `more` is true in the response.
    pub async fn recover(
        &self,
        webhook_id: WebhookId,
        deliveries: RecoverRequest,
    ) -> Result<Recovered, ClientError> {
        let body = WithWebhook { webhook_id, members: deliveries };
        self.0.post("/v1/webhooks/recover", &body).await
    }

    /// Sends a `webhook.test` event now, and returns the outcome.
    pub async fn test(&self, webhook_id: WebhookId) -> Result<TestedWebhook, ClientError> {
        self.0.post("/v1/webhooks/test", &json!({"webhook_id": webhook_id})).await
    }
}

/// One attempt to deliver an event, or a pending delivery, which waits for its next attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// Id of the event: the id of an envelope, or of another event (`evt_…`).
    pub envelope_id: String,
    /// Number of the attempt, from 1. For a pending delivery, the number of the next attempt.
    pub attempt: u32,
    /// End of the attempt. For a pending delivery, the time of the event.
    pub at: Timestamp,
    /// The outcome of the attempt, for example `succeeded`, `failed` or `pending`.
    pub outcome: String,
    /// HTTP status of the response. `None` if there was no response.
    pub status_code: Option<u16>,
    /// Class of the failure, such as `timeout`. `None` if the attempt did not fail. For a pending delivery, the class
    /// of the last failed attempt.
    pub error: Option<String>,
    /// The reason of a failure without a response, such as the error of the TLS library.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: Option<u64>,
    /// Time at which the next attempt is due. `None` if no attempt follows, while an attempt is running, and while the
    /// webhook is disabled or paused.
    pub next_attempt_at: Option<Timestamp>,
    /// The beginning of the response body, at most 1 KiB. `None` if no response arrived, or if its body was empty.
    pub response: Option<String>,
}

/// The response to [`Webhooks::redeliver`]: the delivery is due now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Redelivered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the event.
    pub envelope_id: String,
    /// Always `pending`.
    pub outcome: String,
}

/// The time range whose failed deliveries are made due again.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RecoverRequest {
    /// Start of the time range.
    pub since: Timestamp,
    /// End of the time range. `None` for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// If true, only counts the deliveries.
    pub dry_run: bool,
}

/// The response to a recovery of failed deliveries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recovered {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Number of failed deliveries in the requested time range. Excludes deliveries that are already due or in
    /// progress.
    pub matched: u64,
    /// Number of deliveries that this request made due.
    pub recovered: u64,
    /// True if more deliveries match. Repeat the request until this is false.
    pub more: bool,
    /// True if the request only counted the deliveries and changed none of them.
    pub dry_run: bool,
}

/// The outcome of a test event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestedWebhook {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the test event.
    pub event_id: String,
    /// `succeeded` or `failed`.
    pub outcome: String,
    /// HTTP status of the response. `None` if there was no response.
    pub status_code: Option<u16>,
    /// Class of the failure, such as `timeout`. `None` if the attempt did not fail.
    pub error: Option<String>,
    /// The reason of a failure without a response, such as the error of the TLS library.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the response body, at most 1 KiB. `None` if no response arrived.
    pub response: Option<String>,
}
