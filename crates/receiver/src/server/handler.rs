//! Handles one request: reads the body, verifies, forwards, reports and responds.

use std::{error::Error, sync::Arc, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header::HeaderMap},
    web::{self, Bytes, BytesMut},
};
use futures_util::StreamExt as _;
use sealpost_domain::{Clock, Timestamp};
use tokio::time::timeout;

use super::forwarding::{ForwardedResponse, Forwarder};
use crate::{
    escape::escape_control,
    keys::ReceiverKey,
    request::{HeaderList, ReceivedRequest},
    verification::{VerificationError, VerificationReport, explain},
};

/// The error of a [`KeySource`], if it cannot return keys.
pub type KeySourceError = Box<dyn Error + Send + Sync>;

/// A function that returns the keys for verification. Called for each request, so that keys can change while the
/// listener runs. If the function fails, the sender gets status 503 with the text of the error.
pub type KeySource = Arc<dyn Fn() -> Result<Vec<ReceiverKey>, KeySourceError> + Send + Sync>;

/// A function that is called with each verified or rejected request, before the response is sent. Must not block.
pub type RequestObserver = Arc<dyn Fn(&HandledRequest<'_>) + Send + Sync>;

/// A received request, with the results of its verification and its forwarding.
#[derive(Debug, Clone, Copy)]
pub struct HandledRequest<'a> {
    /// The time at which the body was completely received.
    pub at: Timestamp,
    /// The headers of the request.
    pub headers: &'a HeaderList,
    /// The body of the request, as received.
    pub body: &'a [u8],
    /// The result of the verification, with details.
    pub report: &'a VerificationReport,
    /// The response of the application; `None` if the request was not forwarded.
    pub forwarded: Option<&'a ForwardedResponse>,
    /// The HTTP status of the response to the sender.
    pub status: u16,
}

/// Handles requests. Each worker thread of the server has a separate handler.
pub(super) struct Handler {
    pub(super) keys: KeySource,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) forwarder: Option<Forwarder>,
    pub(super) observer: RequestObserver,
}

impl Handler {
    pub(super) async fn handle(
        &self,
        request: &HttpRequest,
        payload: web::Payload,
    ) -> HttpResponse {
        let body = match timeout(BODY_TIMEOUT, read_body(payload)).await {
            Ok(Ok(body)) => body,
            Ok(Err((status, detail))) => return error_response(status, detail),
            Err(_elapsed) => {
                let detail = "the body was not complete within 10 s";
                return error_response(StatusCode::REQUEST_TIMEOUT, detail);
            }
        };
        self.respond(request.headers(), body).await
    }

    /// Verifies, forwards and reports a request, and returns the response.
    pub(super) async fn respond(&self, headers: &HeaderMap, body: Bytes) -> HttpResponse {
        let at = self.clock.now();
        let keys = match (self.keys)() {
            Ok(keys) => keys,
            Err(error) => {
                return error_response(StatusCode::SERVICE_UNAVAILABLE, &error.to_string());
            }
        };
        let list = header_list(headers);
        let report = explain(ReceivedRequest { headers: &list, body: &body }, &keys, at);
        let forwarded = match &self.forwarder {
            Some(forwarder) if report.valid => Some(forwarder.forward(headers, body.clone()).await),
            Some(_) | None => None,
        };
        let status = status_of(&report, forwarded.as_ref());
        (self.observer)(&HandledRequest {
            at,
            headers: &list,
            body: &body,
            report: &report,
            forwarded: forwarded.as_ref(),
            status: status.as_u16(),
        });
        response(status, &report, forwarded)
    }
}

async fn read_body(mut payload: web::Payload) -> Result<Bytes, (StatusCode, &'static str)> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk =
            chunk.map_err(|_broken| (StatusCode::BAD_REQUEST, "the body cannot be read"))?;
        if body.len().saturating_add(chunk.len()) > BODY_BYTES_MAX {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 1 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn header_list(headers: &HeaderMap) -> HeaderList {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn status_of(report: &VerificationReport, forwarded: Option<&ForwardedResponse>) -> StatusCode {
    match (&report.fault, forwarded) {
        (None, Some(forwarded)) => forwarded.status,
        (None, None) => StatusCode::NO_CONTENT,
        (Some(VerificationError::NoMatch { .. } | VerificationError::Stale { .. }), _) => {
            StatusCode::UNAUTHORIZED
        }
        (Some(_), _) => StatusCode::BAD_REQUEST,
    }
}

fn response(
    status: StatusCode,
    report: &VerificationReport,
    forwarded: Option<ForwardedResponse>,
) -> HttpResponse {
    if let Some(detail) = &report.detail {
        return error_response(status, detail);
    }
    let mut response = HttpResponse::build(status);
    let Some(forwarded) = forwarded else { return response.finish() };
    for header in forwarded.headers {
        response.insert_header(header);
    }
    response.body(forwarded.body)
}

fn error_response(status: StatusCode, detail: &str) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("text/plain; charset=utf-8")
        .body(format!("sealpost receiver: {}\n", escape_control(detail)))
}

pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a request body in bytes. The largest event that the service sends has less than 20,000 bytes.
const BODY_BYTES_MAX: usize = 1_048_576;
