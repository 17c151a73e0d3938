//! Operations on the webhooks of an API key.

use std::sync::Arc;

use sealpost_domain::{EnvelopeId, EventKind, WebhookId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    error::ClientError,
    models::{
        Delivery, RecoverRequest, Recovered, Redelivered, Registered, RotatedWebhookSecret,
        TestedWebhook, WebhookView,
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
        let body = json!({"url": url, "events": events});
        self.0.call(&ApiRequest::post(REGISTER, &body)?).await
    }

    /// Registers a webhook that gets no events of waiting envelopes, which arrived while the key had no webhook. No
    /// later webhook gets these events either.
    pub async fn register_skipping_waiting(
        &self,
        url: &str,
        events: &[EventKind],
    ) -> Result<Registered, ClientError> {
        let body = json!({"url": url, "events": events, "waiting": "skip"});
        self.0.call(&ApiRequest::post(REGISTER, &body)?).await
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

    /// Sends the event of a delivery again now.
    pub async fn redeliver(
        &self,
        webhook_id: WebhookId,
        envelope_id: EnvelopeId,
    ) -> Result<Redelivered, ClientError> {
        let body = json!({"webhook_id": webhook_id, "envelope_id": envelope_id});
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

const REGISTER: &str = "/v1/webhooks/register";
