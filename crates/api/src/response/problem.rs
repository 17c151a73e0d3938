//! Converts errors into problem documents (RFC 9457) and their HTTP headers.

use std::{fmt, time::Duration};

use actix_web::{
    HttpResponse, ResponseError,
    body::BoxBody,
    http::{
        Method, StatusCode,
        header::{self, HeaderValue},
    },
};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, Window, with_causes};
use sealpost_service::{Error, Members};
use serde::Serialize;

use super::{rate_limit::RateLimit, status::status_and_title};

/// The reason for an error response.
#[derive(Debug)]
pub enum Problem {
    /// The client address has reached one of its rate limits, such as the limit of activations, logins or wrong
    /// secrets.
    AddressThrottled {
        /// Maximum number of these requests per minute from one client address.
        per_minute: u32,
        /// The time until the limit admits the request.
        retry_after: Duration,
    },
    /// The request body did not arrive within the body timeout.
    BodyTimeout,
    /// The request body exceeds the maximum size.
    BodyTooLarge {
        /// The maximum size in bytes.
        limit: usize,
    },
    /// The request body could not be read, for example because the connection broke.
    BodyUnreadable,
    /// The head of the first request did not arrive in time.
    HeadTimeout,
    /// The head of the request exceeds a limit.
    HeadTooLarge {
        /// The maximum size or number.
        limit: usize,
        /// The unit of the limit: bytes or headers.
        unit: &'static str,
    },
    /// The HTTP library refused the request with this status.
    Http(StatusCode),
    /// The request is not valid HTTP/1.1.
    InvalidHttp {
        /// The header that has the error; `None` if the error is elsewhere.
        field: Option<&'static str>,
        /// The error. If `field` names a header, the error continues a sentence that starts with the header: "must be
        /// sent once".
        problem: &'static str,
    },
    /// The path exists, but does not accept this method.
    MethodNotAllowed {
        /// The only method of the path.
        allowed: Method,
        /// Whether the method is OPTIONS, with which a browser asks for CORS.
        is_preflight: bool,
    },
    /// The path does not exist.
    NotFound {
        /// The most similar path of the API; `None` if no path is similar.
        nearest: Option<&'static str>,
    },
    /// The path of the API for operators does not exist.
    OperatorPathNotFound,
    /// The handler did not finish, for example because a worker thread panicked. Also used if the server lacks the
    /// shared state or the address of the peer.
    Lost,
    /// The service refused the request, or failed.
    Service {
        /// The refusal or the failure.
        error: Error,
        /// The rate limits of the key; `None` if the request did not reach the rate check.
        limits: Option<Box<RateLimit>>,
    },
    /// The session, or all sessions of its account together, have reached their limit.
    SessionThrottled {
        /// Maximum number of these requests per minute in one session.
        per_minute: u32,
        /// Maximum number of these requests per minute in all sessions of one account.
        per_account: u32,
        /// The time until the limits admit the request.
        retry_after: Duration,
    },
    /// The request body is compressed.
    UnsupportedCoding {
        /// The name of the content coding, shortened if it is long.
        name: String,
    },
    /// The content type of the request body is not JSON.
    UnsupportedMediaType,
    /// The path needs an upgrade of the connection to a WebSocket of version 13.
    UpgradeRequired {
        /// Whether the request asks for a WebSocket, but with another version or without a version.
        has_other_version: bool,
    },
}

/// The body of an error response: the members of RFC 9457, and further members of this API.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Problem", description = "The reason for an error response (RFC 9457).")]
pub struct ProblemDocument<'a> {
    /// The URL of the documentation of the code.
    #[schemars(extend("format" = "uri"))]
    r#type: String,
    /// The meaning of the code, which is the same in all responses with this code.
    pub(crate) title: &'a str,
    /// The HTTP status.
    status: u16,
    /// The problem of this request, and how to solve it.
    detail: String,
    /// The error code, for programs. Codes never change.
    code: Code,
    /// The id of the request, as in the header `X-Request-Id`.
    request_id: &'a str,
    /// The field that has the error. Absent if no field has an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    field: Option<&'a str>,
    #[serde(flatten)]
    members: Option<Members>,
}

impl Problem {
    /// Renders the error response with its headers.
    pub(crate) fn render(&self, base_url: &str, request_id: &str) -> HttpResponse {
        let document = self.document(base_url, request_id);
        let (status, _) = status_and_title(self.code());
        let mut response = HttpResponse::build(status);
        if let Self::MethodNotAllowed { allowed, .. } = self {
            response.insert_header((header::ALLOW, allowed.as_str()));
        }
        if let Self::UpgradeRequired { .. } = self {
            response.insert_header((header::UPGRADE, "websocket"));
            response.insert_header((header::SEC_WEBSOCKET_VERSION, WEBSOCKET_VERSION));
            response.insert_header((header::CONNECTION, "upgrade"));
        }
        if let Self::BodyUnreadable = self {
            // Closes the connection: the end of the body is unknown, so the start of a next request is unknown too.
            response.force_close();
        }
        if let Self::UnsupportedCoding { .. } = self {
            response.insert_header((header::ACCEPT_ENCODING, "identity"));
        }
        if let Some(seconds) = self.retry_after_s() {
            response.insert_header((header::RETRY_AFTER, seconds));
        }
        if let Self::Service { limits: Some(limits), .. } = self {
            for field in limits.headers() {
                response.insert_header(field);
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        let body = serde_json::to_string(&document).unwrap_or_default();
        response.insert_header((header::CONTENT_TYPE, PROBLEM_JSON)).body(body)
    }

    /// Returns the body of the error response.
    pub fn document<'a>(&'a self, base_url: &str, request_id: &'a str) -> ProblemDocument<'a> {
        let code = self.code();
        let (status, title) = status_and_title(code);
        ProblemDocument {
            r#type: format!("{base_url}/docs/errors/{code}"),
            title,
            status: status.as_u16(),
            detail: self.detail(),
            code,
            request_id,
            field: self.field(),
            members: self.refusal().map(Members::new),
        }
    }

    /// Returns true if the service, not the client, caused the problem. Such problems are logged as errors.
    pub(crate) fn is_fault(&self) -> bool {
        match self {
            Self::Lost => true,
            Self::Service { error, .. } => !matches!(error, Error::Refused(_)),
            _ => false,
        }
    }

    /// Returns the name of the field that has the error. `None` if no single field has it.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::InvalidHttp { field, .. } => *field,
            other => other.refusal().and_then(Refusal::field),
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Service { error, .. } => error.refusal(),
            _ => None,
        }
    }

    /// Returns the value of `Retry-After` in seconds, rounded up and at least 1. Returns `None` if the error has no
    /// such header.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::AddressThrottled { retry_after, .. }
            | Self::SessionThrottled { retry_after, .. } => Some(whole_seconds(*retry_after)),
            other => other.refusal().and_then(Refusal::retry_after_s),
        }
    }

    /// Returns the name of the limit that refused the request, for the metrics. Returns `None` for other errors.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        match self {
            Self::SessionThrottled { .. } => return Some("account"),
            Self::AddressThrottled { .. } => return Some("address"),
            _ => {}
        }
        match self.refusal()? {
            Refusal::AccountRateLimited { .. } => Some("account"),
            Refusal::MonthlyLimitExceeded { .. } => Some("month"),
            Refusal::RateLimited { window, .. } => Some(match window {
                Window::Day => "day",
                Window::Minute => "minute",
                Window::Second => "second",
            }),
            _ => None,
        }
    }

    /// Returns the error code of the API contract.
    pub fn code(&self) -> Code {
        match self {
            Self::AddressThrottled { .. } | Self::SessionThrottled { .. } => {
                Code::RateLimitExceeded
            }
            Self::BodyTimeout | Self::HeadTimeout | Self::Http(StatusCode::REQUEST_TIMEOUT) => {
                Code::RequestTimeout
            }
            Self::HeadTooLarge { .. } => Code::HeadersTooLarge,
            Self::InvalidHttp { .. } => Code::InvalidHttp,
            Self::BodyTooLarge { .. } | Self::Http(StatusCode::PAYLOAD_TOO_LARGE) => {
                Code::PayloadTooLarge
            }
            Self::Http(StatusCode::NOT_FOUND)
            | Self::NotFound { .. }
            | Self::OperatorPathNotFound => Code::NotFound,
            Self::BodyUnreadable => Code::InvalidJson,
            Self::Http(status) => {
                if status.is_client_error() {
                    Code::InvalidHttp
                } else {
                    Code::InternalError
                }
            }
            Self::Lost => Code::InternalError,
            Self::MethodNotAllowed { .. } => Code::MethodNotAllowed,
            Self::Service { error, .. } => {
                error.refusal().map_or(Code::InternalError, Refusal::code)
            }
            Self::UnsupportedCoding { .. } | Self::UnsupportedMediaType => {
                Code::UnsupportedMediaType
            }
            Self::UpgradeRequired { .. } => Code::UpgradeRequired,
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::AddressThrottled { per_minute, retry_after } => format!(
                "one client address may do this {per_minute} times a minute; try again in {} s",
                whole_seconds(*retry_after)
            ),
            Self::SessionThrottled { per_minute, per_account, retry_after } => format!(
                "one session may do this {per_minute} times a minute, and all sessions of an account together \
                {per_account} times; try again in {} s",
                whole_seconds(*retry_after)
            ),
            Self::BodyTimeout => "the body did not arrive in time; send the request again".into(),
            Self::BodyTooLarge { limit } => {
                format!("the body is over the limit of {limit} bytes; send less")
            }
            Self::BodyUnreadable => {
                "the body ended early, or its chunked coding is invalid; send the request again".into()
            }
            Self::HeadTimeout => {
                "no complete request head arrived in time; send the whole request at once".into()
            }
            Self::HeadTooLarge { limit, unit } => {
                format!("the head of the request is over the limit of {limit} {unit}; send fewer or shorter headers")
            }
            Self::InvalidHttp { field: Some(field), problem } => {
                format!("the header {field} {problem}; correct the header and send the request again")
            }
            Self::InvalidHttp { field: None, problem } => {
                format!("the request is not valid HTTP/1.1: {problem}")
            }
            Self::Http(status) if status.is_client_error() => {
                "the request is not valid HTTP; check its syntax".into()
            }
            Self::MethodNotAllowed { allowed, is_preflight } => {
                other_method(allowed, *is_preflight)
            }
            Self::NotFound { nearest: Some(path) } => {
                format!("this path does not exist; did you mean {path}? The API reference is at /docs")
            }
            Self::NotFound { nearest: None } => {
                "this path does not exist; compare it with the API reference at /docs".into()
            }
            Self::OperatorPathNotFound => {
                "this path does not exist; compare it with the paths in /admin/v1/openapi.json".into()
            }
            Self::Service { error, .. } if error.is_in_doubt() => IN_DOUBT.to_owned(),
            Self::Service { error, .. } => {
                error.refusal().map_or_else(|| INTERNAL.to_owned(), ToString::to_string)
            }
            Self::UnsupportedCoding { name } => {
                format!("the content coding {name} is not supported; send the body uncompressed, without Content-Encoding")
            }
            Self::UpgradeRequired { has_other_version: false } => {
                "this path needs a WebSocket; connect with a WebSocket client (RFC 6455)".into()
            }
            Self::UpgradeRequired { has_other_version: true } => format!(
                "this path supports only version {WEBSOCKET_VERSION} of WebSocket (RFC 6455); send the header \
                Sec-WebSocket-Version: {WEBSOCKET_VERSION}"
            ),
            Self::UnsupportedMediaType => {
                "the content type of the body is not JSON; send JSON with Content-Type: application/json".into()
            }
            Self::Http(_) | Self::Lost => INTERNAL.to_owned(),
        }
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        status_and_title(self.code()).0
    }

    /// Returns only the status. The middleware renders the body, because only the middleware knows the request id.
    fn error_response(&self) -> HttpResponse<BoxBody> {
        HttpResponse::new(self.status_code())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service { error, .. } => f.write_str(&with_causes(error)),
            other => f.write_str(&other.detail()),
        }
    }
}

impl<E: Into<Error>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::Service { error: error.into(), limits: None }
    }
}

/// Describes the refusal of a request with another method than `allowed`. A path that accepts GET also accepts HEAD.
fn other_method(allowed: &Method, is_preflight: bool) -> String {
    let (accepted, advice) = if *allowed == Method::GET {
        ("GET and HEAD", "use one of these methods")
    } else {
        (allowed.as_str(), "use that method")
    };
    if is_preflight {
        format!(
            "this path accepts only {accepted}: the API has no CORS, because web pages must not hold its secrets; call \
            it from your server"
        )
    } else {
        format!("this path accepts only {accepted}; {advice}")
    }
}

/// Returns a duration in whole seconds for `Retry-After`: at least 1, and rounded up so that a client does not retry
/// too early.
pub fn whole_seconds(span: Duration) -> u64 {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    millis.div_ceil(1000).max(1)
}

/// The only version of the WebSocket protocol that the service supports (RFC 6455).
pub(crate) const WEBSOCKET_VERSION: &str = "13";
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");
const INTERNAL: &str = "the service failed unexpectedly; report the request_id if this persists";
const IN_DOUBT: &str = "the database did not confirm the request, which may have been stored; \
                        repeat a send with its Idempotency-Key, and look at the result of anything else first";
