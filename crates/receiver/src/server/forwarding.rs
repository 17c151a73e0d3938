//! Forwards a verified request to the application, and reads the response of the application.

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use actix_web::{
    error::ParseError,
    http::{
        StatusCode, Uri,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    web::{Bytes, BytesMut},
};
use awc::{Client, ClientResponse, error::SendRequestError};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::application::connector;

/// Forwards requests to one application over HTTP.
pub(super) struct Forwarder {
    client: Client,
    url: Uri,
    time_limit: Duration,
}

/// The response to the sender of a forwarded request: the response of the application, or status 502 or 504 without
/// one.
#[derive(Debug)]
pub struct ForwardedResponse {
    /// The status of the response to the sender.
    pub status: StatusCode,
    /// The `Content-Type`, `Retry-After` and `webhook-delivery` headers of the application's response.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Bytes,
    /// The reason why the application did not respond; `None` if it responded.
    pub fault: Option<ForwardError>,
    /// The time from the start of the forwarded request to the end of the response.
    pub took: Duration,
}

/// The reason why the application did not respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForwardError {
    /// The response is not HTTP. The sender gets 502.
    #[error("the response of the application is not HTTP")]
    Protocol,
    /// The application did not respond within the time limit. The sender gets 504.
    #[error("the application did not respond in time")]
    Timeout,
    /// The connection to the application failed. The sender gets 502.
    #[error("the connection to the application failed; is the application up?")]
    Unreachable,
}

impl Forwarder {
    pub(super) fn new(url: Uri, time_limit: Duration) -> Self {
        let client = Client::builder()
            .connector(connector())
            .disable_redirects()
            .disable_timeout()
            .no_default_headers()
            .finish();
        Self { client, url, time_limit }
    }

    /// Forwards a request with its body unchanged. Forwards all headers except those that describe a single connection
    /// (RFC 9110, section 7.6.1).
    pub(super) async fn forward(&self, headers: &HeaderMap, body: Bytes) -> ForwardedResponse {
        let began = Instant::now();
        let mut request = self.client.post(self.url.clone());
        for (name, value) in headers.iter().filter(|(name, _)| !is_of_connection(name)) {
            request.headers_mut().append(name.clone(), value.clone());
        }
        let response = timeout(self.time_limit, async {
            match request.send_body(body).await {
                Ok(response) => Ok(read(response).await),
                Err(error) => Err(ForwardError::from(&error)),
            }
        });
        let mut forwarded = match response.await {
            Ok(Ok(response)) => response,
            Ok(Err(fault)) => ForwardedResponse::failed(fault),
            Err(_elapsed) => ForwardedResponse::failed(ForwardError::Timeout),
        };
        forwarded.took = began.elapsed();
        forwarded
    }
}

impl ForwardedResponse {
    fn failed(fault: ForwardError) -> Self {
        let status = match fault {
            ForwardError::Protocol | ForwardError::Unreachable => StatusCode::BAD_GATEWAY,
            ForwardError::Timeout => StatusCode::GATEWAY_TIMEOUT,
        };
        let body = Bytes::from(format!("sealpost receiver: {fault}\n"));
        Self { status, headers: Vec::new(), body, fault: Some(fault), took: Duration::ZERO }
    }
}

impl From<&SendRequestError> for ForwardError {
    fn from(error: &SendRequestError) -> Self {
        match error {
            SendRequestError::Timeout => Self::Timeout,
            SendRequestError::Connect(_) => Self::Unreachable,
            // The connection ended without a complete response, so the application counts as unreachable.
            SendRequestError::Response(ParseError::Io(error))
                if error.kind() != ErrorKind::InvalidData =>
            {
                Self::Unreachable
            }
            _ => Self::Protocol,
        }
    }
}

/// Reads the response of the application. Cuts the body after 16 KiB, because the service stores only its beginning. If
/// the connection breaks, returns the part of the body that has arrived.
async fn read<S>(mut response: ClientResponse<S>) -> ForwardedResponse
where
    S: futures_util::Stream<Item = Result<Bytes, awc::error::PayloadError>> + Unpin,
{
    let headers = [header::CONTENT_TYPE, header::RETRY_AFTER, WEBHOOK_DELIVERY]
        .into_iter()
        .filter_map(|name| response.headers().get(&name).cloned().map(|value| (name, value)))
        .collect();
    let mut body = BytesMut::new();
    while let Some(Ok(chunk)) = response.next().await {
        let room = RESPONSE_BYTES_MAX.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if body.len() >= RESPONSE_BYTES_MAX {
            break;
        }
    }
    let status = response.status();
    ForwardedResponse { status, headers, body: body.freeze(), fault: None, took: Duration::ZERO }
}

/// Returns true if the header describes a single connection and must therefore not be forwarded.
fn is_of_connection(name: &HeaderName) -> bool {
    [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::EXPECT,
        header::HOST,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ]
    .contains(name)
        || name.as_str() == "keep-alive"
}

/// The response header with which an application ends the retries of an event.
const WEBHOOK_DELIVERY: HeaderName = HeaderName::from_static("webhook-delivery");

const RESPONSE_BYTES_MAX: usize = 16_384;
