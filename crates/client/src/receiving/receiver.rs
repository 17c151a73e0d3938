//! Verifies webhook requests, opens their envelopes and passes each envelope to the program once.

use std::{fmt, sync::Arc};

use futures_util::future::{BoxFuture, FutureExt as _};
use sealpost_receiver::{
    Clock as _, HeaderList, ReceivedRequest, ReceiverKey, SystemClock, verify,
};
use serde_json::Value;

use super::seen::{EventsInProcess, SeenEvents, SeenInMemory};
#[cfg(feature = "relay")]
use crate::{WebhookId, relay::Relay};
use crate::{
    client::Client,
    error::{ClientError, HandlerError},
    operations::OpenedEnvelope,
};

type Handler<T> = Arc<dyn Fn(T) -> BoxFuture<'static, Result<(), HandlerError>> + Send + Sync>;

/// A verified event without an envelope, such as `envelope.bounced`. Newer services can send other kinds.
#[derive(Debug, Clone)]
pub struct ReceivedEvent {
    /// Id of the event, the same for each attempt.
    pub id: String,
    /// Kind of the event.
    pub kind: String,
    /// The event as received: a JSON object.
    pub members: Value,
}

/// Verifies webhook requests, opens their envelopes, and calls a function once for each envelope.
///
/// The functions `axum::handler` and `actix::handler` connect a receiver to a web framework. Clones share their state.
#[derive(Clone)]
pub struct Receiver {
    client: Client,
    keys: Arc<[ReceiverKey]>,
    on_envelope: Handler<OpenedEnvelope>,
    on_event: Option<Handler<ReceivedEvent>>,
    seen: Arc<dyn SeenEvents>,
    in_process: Arc<EventsInProcess>,
}

impl Receiver {
    /// Creates a receiver. A request is valid if its signature matches one of `keys`. `on_envelope` must return within
    /// 15 seconds, because the service does not wait longer for a response. Queue longer work.
    pub fn new<F, R>(client: Client, keys: Vec<ReceiverKey>, on_envelope: F) -> Self
    where
        F: Fn(OpenedEnvelope) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        let seen = Arc::<SeenInMemory>::default();
        let on_envelope = boxed(on_envelope);
        let in_process = Arc::default();
        Self { client, keys: keys.into(), on_envelope, on_event: None, seen, in_process }
    }

    /// Sets a function for events without an envelope. By default the receiver ignores these events.
    #[must_use]
    pub fn on_event<F, R>(self, on_event: F) -> Self
    where
        F: Fn(ReceivedEvent) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        Self { on_event: Some(boxed(on_event)), ..self }
    }

    /// Sets the store of the ids of processed events. By default the newest 100,000 ids are kept in memory.
    #[must_use]
    pub fn seen(self, seen: impl SeenEvents + 'static) -> Self {
        Self { seen: Arc::new(seen), ..self }
    }

    /// Processes a webhook request, and returns the HTTP status of the response. `body` is the request body exactly as
    /// received.
    ///
    /// - 204: the event has been processed, by this request or by an earlier one.
    /// - 401: the signatures or the time of the request are not valid.
    /// - 503: the envelope cannot be opened now, or another request with the same event is being processed. The service
    ///   sends the event again.
    ///
    /// If this function returns an error, respond with 500.
    pub async fn receive(&self, headers: &HeaderList, body: &[u8]) -> Result<u16, HandlerError> {
        let request = ReceivedRequest { headers, body };
        if verify(request, &self.keys, SystemClock.now()).is_err() {
            return Ok(UNAUTHORIZED);
        }
        let id = headers.find("webhook-id").ok().flatten().unwrap_or_default();
        // A second request with the same event must not get a success before the first request has succeeded.
        let Some(_guard) = EventsInProcess::begin(&self.in_process, id) else {
            return Ok(SERVICE_UNAVAILABLE);
        };
        if self.seen.contains(id).await? {
            return Ok(NO_CONTENT);
        }
        match self.process(id, serde_json::from_slice(body)?).await {
            Ok(()) => self.seen.add(id).await.map(|()| NO_CONTENT),
            Err(error) if is_temporary(&error) => Ok(SERVICE_UNAVAILABLE),
            Err(error) => Err(error),
        }
    }

    /// Returns a relay that receives events over a connection to the service instead of an HTTP server: see
    /// [`Client::relay`](crate::Client::relay).
    #[cfg(feature = "relay")]
    pub fn relay(&self, webhook_id: WebhookId) -> Relay {
        let receiver = self.clone();
        self.client.relay(webhook_id, move |request| {
            let receiver = receiver.clone();
            async move {
                let headers = request.headers.iter();
                let headers = headers.map(|(name, value)| (name.as_str(), value.as_str()));
                let status = receiver.receive(&headers.collect(), request.body.as_bytes()).await?;
                Ok(status.into())
            }
        })
    }

    async fn process(&self, id: &str, members: Value) -> Result<(), HandlerError> {
        let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("event") == "envelope.received" {
            let envelope = self.client.open(text("envelope_id").parse()?).await?;
            return (self.on_envelope)(envelope).await;
        }
        let Some(on_event) = &self.on_event else { return Ok(()) };
        on_event(ReceivedEvent { id: id.to_owned(), kind: text("event").to_owned(), members }).await
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("client", &self.client).finish_non_exhaustive()
    }
}

fn boxed<T, F, R>(handler: F) -> Handler<T>
where
    F: Fn(T) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    Arc::new(move |value| handler(value).boxed())
}

/// Returns true if the envelope could not be opened for a temporary reason. A later attempt may succeed.
fn is_temporary(error: &HandlerError) -> bool {
    match error.downcast_ref::<ClientError>() {
        Some(ClientError::Unreachable { .. }) => true,
        Some(ClientError::Refused { problem, .. }) => matches!(problem.status, 429 | 503),
        Some(ClientError::NotSealpost { status, .. }) => matches!(status, 429 | 503),
        _ => false,
    }
}

const NO_CONTENT: u16 = 204;
const UNAUTHORIZED: u16 = 401;
const SERVICE_UNAVAILABLE: u16 = 503;
