//! Sends messages with a context, sends many messages at once, and lists what was sent.

use sealpost_domain::IdempotencyKey;
use serde::Deserialize;
use serde_json::json;

use crate::{
    client::Client,
    error::ClientError,
    models::{ListedEnvelope, Message, MessageResult, SentEnvelope, SentFilter},
    pages::{Page, Pages, pages},
    request::{ApiRequest, random_idempotency_key},
};

impl Client {
    /// Sends a message with its context. Without an `Idempotency-Key`, retries use the same random one.
    pub async fn send_message(
        &self,
        message: &Message,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<SentEnvelope, ClientError> {
        let request = keyed(ApiRequest::post("/v1/channel/send", message)?, idempotency_key)?;
        self.transport.call(&request).await
    }

    /// Sends up to 100 messages in one request. Returns the result of each message, in the order of the messages.
    pub async fn send_batch(
        &self,
        messages: &[Message],
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<MessageResult>, ClientError> {
        let body = json!({ "messages": messages });
        let request = keyed(ApiRequest::post("/v1/channel/send-batch", &body)?, idempotency_key)?;
        Ok(self.transport.call::<BatchResults>(&request).await?.results)
    }

    /// Returns the envelopes that this API key sent, newest first, with their states. Loads up to `page_size` envelopes
    /// per request.
    pub fn sent(&self, filter: &SentFilter, page_size: u32) -> Pages<ListedEnvelope> {
        let SentFilter { recipient, thread, since, until } = filter;
        let body = json!({
            "recipient": recipient,
            "thread": thread,
            "since": since,
            "until": until,
            "limit": page_size,
        });
        pages::<SentPage>(&self.transport, "/v1/channel/list", body)
    }
}

fn keyed(request: ApiRequest, key: Option<&IdempotencyKey>) -> Result<ApiRequest, ClientError> {
    let key = match key {
        Some(key) => key.as_str().to_owned(),
        None => random_idempotency_key()?,
    };
    Ok(ApiRequest { idempotency_key: Some(key), ..request })
}

#[derive(Deserialize)]
struct BatchResults {
    results: Vec<MessageResult>,
}

#[derive(Deserialize)]
struct SentPage {
    envelopes: Vec<ListedEnvelope>,
    next_cursor: Option<String>,
}

impl Page for SentPage {
    type Entry = ListedEnvelope;

    fn into_parts(self) -> (Vec<ListedEnvelope>, Option<String>) {
        (self.envelopes, self.next_cursor)
    }
}
