//! Operations on the webhooks of an API key.

use std::sync::Arc;

use sealpost_domain::{EventId, EventKind, WebhookId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    error::ClientError,
    models::{
        Delivery, NewWebhook, RecoverRequest, Recovered, Redelivered, Registered,
        RotatedWebhookSecret, TestedWebhook, UpdatedWebhook, WebhookChanges, WebhookView,
    },
    pages::{Page, Pages, pages},
    request::ApiRequest,
    transport::Transport,
};

/// The webhooks of the client's API key.
#[derive(Debug, Clone)]
pub struct Webhooks(pub(crate) Arc<Transport>);

impl Webhooks {
    /// Registers a webhook. Only this response contains the signing secret. The webhook also gets the events of waiting
    /// envelopes, which arrived while the key had no webhook.
    pub async fn register(
        &self,
        url: &str,
        events: &[EventKind],
    ) -> Result<Registered, ClientError> {
        let webhook = NewWebhook { url, events, ..NewWebhook::default() };
        self.register_with(&webhook).await
    }

    /// Registers a webhook that gets no events of waiting envelopes, which arrived while the key had no webhook. No
    /// later webhook gets these events either.
    pub async fn register_skipping_waiting(
        &self,
        url: &str,
        events: &[EventKind],
    ) -> Result<Registered, ClientError> {
        let webhook = NewWebhook { url, events, skip_waiting: true, ..NewWebhook::default() };
        self.register_with(&webhook).await
    }

    /// Registers a webhook with all its choices, such as a description.
    pub async fn register_with(&self, webhook: &NewWebhook<'_>) -> Result<Registered, ClientError> {
        self.0.call(&ApiRequest::post("/v1/webhooks/register", webhook)?).await
    }

    /// Changes a webhook. Its id, its secret and its log stay. The change holds within two seconds.
    pub async fn update(
        &self,
        webhook_id: WebhookId,
        changes: &WebhookChanges,
    ) -> Result<UpdatedWebhook, ClientError> {
        let body = UpdateBody { webhook_id, changes };
        self.0.call(&ApiRequest::post("/v1/webhooks/update", &body)?).await
    }

    /// Pauses a webhook. Its deliveries are kept until it is resumed or retention ends.
    pub async fn pause(&self, webhook_id: WebhookId) -> Result<UpdatedWebhook, ClientError> {
        let changes = WebhookChanges { paused: Some(true), ..WebhookChanges::default() };
        self.update(webhook_id, &changes).await
    }

    /// Resumes a paused webhook. The service sends its deliveries at once.
    pub async fn resume(&self, webhook_id: WebhookId) -> Result<UpdatedWebhook, ClientError> {
        let changes = WebhookChanges { paused: Some(false), ..WebhookChanges::default() };
        self.update(webhook_id, &changes).await
    }

    /// Returns all webhooks, oldest first.
    pub async fn list(&self) -> Result<Vec<WebhookView>, ClientError> {
        let request = ApiRequest::post("/v1/webhooks/list", &json!({}))?;
        Ok(self.0.call::<WebhookList>(&request).await?.webhooks)
    }

    /// Deletes a webhook and its deliveries.
    pub async fn delete(&self, webhook_id: WebhookId) -> Result<(), ClientError> {
        self.0.call::<Value>(&request("/v1/webhooks/delete", webhook_id)?).await.map(drop)
    }

    /// Enables a disabled webhook. The service sends its waiting deliveries at once.
    pub async fn enable(&self, webhook_id: WebhookId) -> Result<WebhookView, ClientError> {
        self.0.call(&request("/v1/webhooks/enable", webhook_id)?).await
    }

    /// Replaces the signing secret. For a day, events carry signatures by both the old and the new secret.
    pub async fn rotate_secret(
        &self,
        webhook_id: WebhookId,
    ) -> Result<RotatedWebhookSecret, ClientError> {
        self.0.call(&request("/v1/webhooks/rotate-secret", webhook_id)?).await
    }

    /// Returns all deliveries of a webhook, newest first. Each request loads `page_size` entries.
    pub fn deliveries(&self, webhook_id: WebhookId, page_size: u32) -> Pages<Delivery> {
        let body = json!({"webhook_id": webhook_id, "limit": page_size});
        pages::<DeliveriesPage>(&self.0, "/v1/webhooks/deliveries", body)
    }

    /// Returns the deliveries of a webhook in one state, such as `failed`, newest first.
    pub fn deliveries_in(
        &self,
        webhook_id: WebhookId,
        state: &str,
        page_size: u32,
    ) -> Pages<Delivery> {
        let body = json!({"webhook_id": webhook_id, "state": state, "limit": page_size});
        pages::<DeliveriesPage>(&self.0, "/v1/webhooks/deliveries", body)
    }

    /// Sends the event of a delivery again now. The id is that of an envelope, or of another event.
    pub async fn redeliver(
        &self,
        webhook_id: WebhookId,
        event_id: EventId,
    ) -> Result<Redelivered, ClientError> {
        let body = json!({"webhook_id": webhook_id, "envelope_id": event_id.to_string()});
        self.0.call(&ApiRequest::post("/v1/webhooks/redeliver", &body)?).await
    }

    /// Makes up to 10,000 failed deliveries due now. Call this again while `more` is true in the response.
    pub async fn recover(
        &self,
        webhook_id: WebhookId,
        deliveries: RecoverRequest,
    ) -> Result<Recovered, ClientError> {
        let body = RecoverBody { webhook_id, deliveries };
        self.0.call(&ApiRequest::post("/v1/webhooks/recover", &body)?).await
    }

    /// Sends a `webhook.test` event now, and returns the outcome.
    pub async fn test(&self, webhook_id: WebhookId) -> Result<TestedWebhook, ClientError> {
        self.0.call(&request("/v1/webhooks/test", webhook_id)?).await
    }
}

fn request(path: &'static str, webhook_id: WebhookId) -> Result<ApiRequest, ClientError> {
    ApiRequest::post(path, &json!({"webhook_id": webhook_id}))
}

#[derive(Serialize)]
struct UpdateBody<'a> {
    webhook_id: WebhookId,
    #[serde(flatten)]
    changes: &'a WebhookChanges,
}

#[derive(Serialize)]
struct RecoverBody {
    webhook_id: WebhookId,
    #[serde(flatten)]
    deliveries: RecoverRequest,
}

#[derive(Deserialize)]
struct WebhookList {
    webhooks: Vec<WebhookView>,
}

#[derive(Deserialize)]
struct DeliveriesPage {
    deliveries: Vec<Delivery>,
    next_cursor: Option<String>,
}

impl Page for DeliveriesPage {
    type Entry = Delivery;

    fn into_parts(self) -> (Vec<Delivery>, Option<String>) {
        (self.deliveries, self.next_cursor)
    }
}
