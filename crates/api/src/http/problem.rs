//! The one place where refusals become HTTP: the document and its headers.

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
use sealpost_domain::{Code, Refusal, Window};
use sealpost_service::{Error, Members};
use serde::Serialize;

use super::{rate_limit::RateLimit, status::status_and_title};

/// Why a request gets no 200.
#[derive(Debug)]
pub enum Problem {
    /// This account does this too often.
    AccountThrottled {
        /// How often it may.
        per_minute: u32,
        /// How long until it may again.
        retry_after: Duration,
    },
    /// This address does this too often.
    AddressThrottled {
        /// How often it may.
        per_minute: u32,
        /// How long until it may again.
        retry_after: Duration,
    },
    /// The body took too long.
    BodyTimeout,
    /// The body is over the limit.
    BodyTooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The body broke off, or could not be read for another reason.
    BodyUnreadable,
    /// What the HTTP library itself refused.
    Http(StatusCode),
    /// Another method is wanted.
    MethodNotAllowed {
        /// Which one.
        allowed: Method,
    },
    /// No such path.
    NotFound,
    /// A handler's thread was lost.
    Lost,
    /// What the service said.
    Service {
        /// Why not.
        error: Error,
        /// Where the caller's key stands, where the request came as far as that.
        limits: Option<Box<RateLimit>>,
    },
    /// The body is no JSON.
    UnsupportedMediaType,
}

/// RFC 9457, with the contract's members.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Problem", description = "Why a request was refused (RFC 9457).")]
pub struct ProblemDocument<'a> {
    /// The page of the code.
    #[schemars(extend("format" = "uri"))]
    r#type: String,
    /// What the code means, the same each time.
    pub(crate) title: &'a str,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this request, and what to do.
    detail: String,
    /// What programs look at; it never changes.
    code: Code,
    /// The name of the request, as in `X-Request-Id`.
    request_id: &'a str,
    /// The field at fault, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    field: Option<&'a str>,
    #[serde(flatten)]
    members: Option<Members>,
}

impl Problem {
    /// The status of a refusal with this code.
    pub fn status_of(code: Code) -> StatusCode {
        status_and_title(code).0
    }

    /// The whole answer.
    pub(crate) fn render(&self, base_url: &str, request_id: &str) -> HttpResponse {
        let document = self.document(base_url, request_id);
        let (status, _) = status_and_title(self.code());
        let mut answer = HttpResponse::build(status);
        if let Self::MethodNotAllowed { allowed } = self {
            answer.insert_header((header::ALLOW, allowed.as_str()));
        }
        if let Some(seconds) = self.retry_after_s() {
            answer.insert_header((header::RETRY_AFTER, seconds));
        }
        if let Self::Service { limits: Some(limits), .. } = self {
            for field in limits.headers() {
                answer.insert_header(field);
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            answer.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        let body = serde_json::to_string(&document).unwrap_or_default();
        answer.insert_header((header::CONTENT_TYPE, PROBLEM_JSON)).body(body)
    }

    /// What the answer says.
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
            field: self.refusal().and_then(Refusal::field),
            members: self.refusal().map(Members::of),
        }
    }

    /// Whether it is the service's fault, and so worth a line in the log.
    pub(crate) fn is_fault(&self) -> bool {
        match self {
            Self::Lost => true,
            Self::Service { error, .. } => !matches!(error, Error::Refused(_)),
            _ => false,
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Service { error, .. } => error.refusal(),
            _ => None,
        }
    }

    /// Whole seconds, rounded up and never zero.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::AccountThrottled { retry_after, .. }
            | Self::AddressThrottled { retry_after, .. } => Some(whole_seconds(*retry_after)),
            other => other.refusal().and_then(Refusal::retry_after_s),
        }
    }

    /// Which limit refused, where one did.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        match self {
            Self::AccountThrottled { .. } => return Some("account"),
            Self::AddressThrottled { .. } => return Some("address"),
            _ => {}
        }
        match self.refusal()? {
            Refusal::MonthlyLimitExceeded { .. } => Some("month"),
            Refusal::RateLimited { window, .. } => Some(match window {
                Window::Day => "day",
                Window::Minute => "minute",
                Window::Second => "second",
            }),
            _ => None,
        }
    }

    /// The contract's code.
    pub fn code(&self) -> Code {
        match self {
            Self::AccountThrottled { .. } | Self::AddressThrottled { .. } => {
                Code::RateLimitExceeded
            }
            Self::BodyTimeout | Self::Http(StatusCode::REQUEST_TIMEOUT) => Code::RequestTimeout,
            Self::BodyTooLarge { .. } | Self::Http(StatusCode::PAYLOAD_TOO_LARGE) => {
                Code::PayloadTooLarge
            }
            Self::Http(StatusCode::NOT_FOUND) | Self::NotFound => Code::NotFound,
            Self::BodyUnreadable => Code::InvalidJson,
            Self::Http(status) => {
                if status.is_client_error() {
                    Code::InvalidJson
                } else {
                    Code::InternalError
                }
            }
            Self::Lost => Code::InternalError,
            Self::MethodNotAllowed { .. } => Code::MethodNotAllowed,
            Self::Service { error, .. } => {
                error.refusal().map_or(Code::InternalError, Refusal::code)
            }
            Self::UnsupportedMediaType => Code::UnsupportedMediaType,
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::AccountThrottled { per_minute, retry_after } => format!(
                "more than {per_minute} times a minute by one account is too often; try again in {} s",
                whole_seconds(*retry_after)
            ),
            Self::AddressThrottled { per_minute, retry_after } => format!(
                "more than {per_minute} times a minute from one address is too often; try again in {} s",
                whole_seconds(*retry_after)
            ),
            Self::BodyTimeout => "the body did not arrive in time; send the request again".into(),
            Self::BodyTooLarge { limit } => {
                format!("the body is over the limit of {limit} bytes; send less")
            }
            Self::BodyUnreadable => "the body broke off; send the request again".into(),
            Self::Http(status) if status.is_client_error() => {
                "the request cannot be read as HTTP; check its form".into()
            }
            Self::MethodNotAllowed { allowed } => format!("only {allowed} is accepted here"),
            Self::NotFound => "there is nothing at this path; see the API's documentation".into(),
            Self::Service { error, .. } => {
                error.refusal().map_or_else(|| INTERNAL.to_owned(), ToString::to_string)
            }
            Self::UnsupportedMediaType => {
                "send the body as JSON, with Content-Type: application/json".into()
            }
            Self::Http(_) | Self::Lost => INTERNAL.to_owned(),
        }
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        status_and_title(self.code()).0
    }

    /// Only the status: the body names the request, and is rendered where that is known.
    fn error_response(&self) -> HttpResponse<BoxBody> {
        HttpResponse::new(self.status_code())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service { error, .. } => {
                write!(f, "{error}")?;
                let mut cause = std::error::Error::source(error);
                while let Some(source) = cause {
                    write!(f, ": {source}")?;
                    cause = source.source();
                }
                Ok(())
            }
            other => f.write_str(&other.detail()),
        }
    }
}

impl<E: Into<Error>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::Service { error: error.into(), limits: None }
    }
}

/// Rounded up and never zero, so that a wait that is kept is enough.
pub fn whole_seconds(span: Duration) -> u64 {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    millis.div_ceil(1000).max(1)
}

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");
const INTERNAL: &str = "something went wrong on our side; report the request_id if it persists";
