//! Builds the request of one attempt from the leased delivery. The rest of this crate does not read the content of
//! events.

use awc::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, InvalidHeaderValue};
use sealpost_domain::{Event, EventsVersion, LeasedDelivery, TestEvent, Timestamp, TraceParent};
use sealpost_wallet::random;

use super::signing_keys::SigningKeys;

/// The headers and the body of one attempt. Each attempt needs a new request, because the signature covers the time of
/// the attempt.
pub(crate) struct SignedRequest {
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The body, byte for byte as it was signed.
    pub(crate) body: Vec<u8>,
    /// The trace context of the attempt, with the id of the attempt's span as parent id. `None` if the event has no
    /// trace.
    pub(crate) trace: Option<TraceParent>,
}

/// The reason why no request can be built from an event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("cannot serialize the event as JSON")]
    Body(#[from] serde_json::Error),
    #[error("cannot write a header")]
    Header(#[from] InvalidHeaderValue),
}

impl SignedRequest {
    pub(crate) fn build(
        delivery: &LeasedDelivery,
        events: EventsVersion,
        keys: &SigningKeys,
        now: Timestamp,
    ) -> Result<Self, RequestError> {
        let body = delivery.event.body(events)?;
        let mut request = Self::sign(event_id(delivery), body, keys, now)?;
        request.trace = next_trace(&delivery.event);
        if let Some(trace) = request.trace {
            request.headers.push((TRACEPARENT, HeaderValue::try_from(trace.to_string())?));
        }
        Ok(request)
    }

    /// Builds the request of a test event.
    pub(crate) fn build_test(
        event: &TestEvent,
        keys: &SigningKeys,
        now: Timestamp,
    ) -> Result<Self, RequestError> {
        Self::sign(event.id.to_string(), serde_json::to_vec(&event.payload())?, keys, now)
    }

    fn sign(
        event_id: String,
        body: Vec<u8>,
        keys: &SigningKeys,
        now: Timestamp,
    ) -> Result<Self, RequestError> {
        let timestamp = now.as_seconds().to_string();
        let signature = keys.sign(&event_id, &timestamp, &body, now);
        let signature = HeaderValue::try_from(signature)?;
        let headers = vec![
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (WEBHOOK_ID, HeaderValue::try_from(event_id)?),
            (WEBHOOK_TIMESTAMP, HeaderValue::try_from(timestamp)?),
            (SERVICE_SIGNATURE, signature.clone()),
            (WEBHOOK_SIGNATURE, signature),
        ];
        Ok(Self { headers, body, trace: None })
    }
}

/// Returns the trace context of an attempt: the trace of the request that sent the envelope, and a new span id as
/// parent id. `None` if the event has no trace, or if the random source fails.
fn next_trace(event: &Event) -> Option<TraceParent> {
    Some(trace_of(event)?.with_parent(random().ok()?))
}

/// Returns the trace of the request that sent the envelope. `None` if the event has no trace.
pub(crate) fn trace_of(event: &Event) -> Option<TraceParent> {
    match event {
        Event::EnvelopeReceived(received) => received.meta.trace,
        Event::Stored(_) => None,
    }
}

/// Returns the id of the event, the same in every attempt: the value of the header `webhook-id`.
pub(crate) fn event_id(delivery: &LeasedDelivery) -> String {
    delivery.event.id().to_string()
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const SERVICE_SIGNATURE: HeaderName = HeaderName::from_static("x-service-signature");
