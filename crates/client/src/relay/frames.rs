//! The JSON in the WebSocket frames of a relay: deliveries from the service, and the responses of the program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A delivery that arrived over a relay: the POST request that a webhook with a public URL would get.
#[derive(Debug, Clone, Deserialize)]
pub struct RelayedRequest {
    /// Identifies the delivery within its connection. The response repeats this id.
    #[serde(rename = "delivery")]
    pub(super) id: String,
    /// The headers of the request, with the signatures.
    pub headers: BTreeMap<String, String>,
    /// The body of the request. The signatures cover exactly these bytes.
    pub body: String,
}

/// The response to a delivery. The service treats it like the response of a webhook with a public URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RelayResponse {
    /// The HTTP status: 2xx ends the delivery, 410 disables the webhook, and others lead to a retry.
    pub status: u16,
    /// Number of seconds before the next attempt, for status 429 and 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The body of the response, for the delivery log. Only the first 1,024 characters are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// A response with the id of its delivery.
#[derive(Serialize)]
pub(super) struct ResponseFrame<'a> {
    pub(super) delivery: &'a str,
    #[serde(flatten)]
    pub(super) response: &'a RelayResponse,
}

impl From<u16> for RelayResponse {
    fn from(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}
