//! The errors of calls, relays and handlers, and the body of an error response.

use std::{error::Error, time::Duration};

use sealpost_domain::Code;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The reason why a program cannot process an event. The service sends the event again later.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// The reason why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The HTTP client cannot be created.
    #[error("the HTTP client cannot be created")]
    Build(#[source] Box<dyn Error + Send + Sync>),
    /// The response is a success, but its body is not the expected JSON.
    #[error("the response to {path} has an unexpected body: check the URL, and update this client")]
    InvalidResponse {
        /// Path of the request.
        path: String,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// The token cannot be sent in a header. The error does not contain the token.
    #[error("the token has a line break or another control character")]
    InvalidToken,
    /// The URL of the service is not valid.
    #[error(
        "{0} is not the URL of a service: give a URL such as https://sealpost.example, without a user"
    )]
    InvalidUrl(String),
    /// The response is not from Sealpost: an error without a problem document, or a success with another content type.
    /// Proxies send such responses, for example.
    #[error(
        "{path} failed with status {status}, and the response is not from Sealpost: check the URL"
    )]
    NotSealpost {
        /// Path of the request.
        path: String,
        /// HTTP status of the response.
        status: u16,
        /// The time to wait, from the header `Retry-After`. `None` without this header.
        retry_after: Option<Duration>,
    },
    /// The service refused the request. [`Self::code`] returns the error code.
    #[error("{path} failed with status {}, {}: {}", problem.status, problem.code, problem.detail)]
    Refused {
        /// Path of the request.
        path: String,
        /// The body of the response.
        problem: Box<ProblemDocument>,
        /// The time to wait, from the header `Retry-After`. `None` without this header.
        retry_after: Option<Duration>,
    },
    /// The connection over which a relay receives deliveries ended.
    #[error("the relay was closed: {reason}")]
    RelayClosed {
        /// Close code of the service (RFC 6455). `None` if the connection broke.
        code: Option<u16>,
        /// The reason of the service, or the fault of the connection.
        reason: String,
    },
    /// The service did not respond.
    #[error("no response to {path}{}", if *may_have_been_processed { "; it may have been processed" } else { "" })]
    Unreachable {
        /// Path of the request.
        path: String,
        /// False if no connection could be opened. True if the service may have processed the request.
        may_have_been_processed: bool,
        /// The error of the HTTP client.
        #[source]
        source: reqwest::Error,
    },
}

/// The body of an error response (RFC 9457).
#[derive(Debug, Clone, Deserialize)]
pub struct ProblemDocument {
    /// HTTP status.
    pub status: u16,
    /// Name of the error code. Newer services may use further codes: see [`ClientError::code`].
    pub code: String,
    /// The problem of this request, and its fix.
    #[serde(default)]
    pub detail: String,
    /// Name of the request field that caused the error. `None` if no single field caused it.
    pub field: Option<String>,
    /// The id of the request in the service's log.
    pub request_id: Option<String>,
    /// All other members of the body, such as `unmet`: the badge thresholds that the key does not meet.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

impl ClientError {
    /// Returns the error code of a refusal. `None` for other errors, and for codes newer than this client.
    pub fn code(&self) -> Option<Code> {
        let Self::Refused { problem, .. } = self else { return None };
        Code::ALL.into_iter().find(|code| code.as_str() == problem.code)
    }

    /// Returns the time that the service asks to wait before the next try. `None` if the response has no such time, or
    /// if no response arrived.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::NotSealpost { retry_after, .. } | Self::Refused { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}
