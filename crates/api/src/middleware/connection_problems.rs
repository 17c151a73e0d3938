//! Error responses that are sent without a handler: for bytes that are no HTTP request, and for all requests while the
//! service cannot work, for example because it waits for its key-encryption key.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{HeaderValue, HttpDate},
};
use sealpost_domain::{Clock, Refusal};

use super::{HSTS, X_REQUEST_ID, access_log::count_refusal, add_headers, valid_or_new_id};
use crate::{
    response::{Problem, status_and_title},
    settings::ApiSettings,
    state::ApiState,
};

/// Creates the error responses that a server sends without a handler.
pub struct ConnectionProblems {
    base_url: String,
    clock: Arc<dyn Clock>,
    /// True if callers can reach the service only over HTTPS.
    is_secure: bool,
}

impl fmt::Debug for ConnectionProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionProblems").finish_non_exhaustive()
    }
}

impl From<&ApiState> for ConnectionProblems {
    fn from(app: &ApiState) -> Self {
        let ApiSettings { base_url, is_secure, .. } = &app.settings;
        Self { base_url: base_url.clone(), clock: Arc::clone(&app.clock), is_secure: *is_secure }
    }
}

impl ConnectionProblems {
    /// Returns the error responses of the service with the public URL `base_url`.
    pub fn new(base_url: String, clock: Arc<dyn Clock>) -> Self {
        let is_secure = base_url.starts_with("https://");
        Self { base_url, clock, is_secure }
    }

    /// Renders a whole HTTP response that closes the connection. `received` is the input that is refused. A valid
    /// `X-Request-Id` in the input is kept.
    pub fn message(&self, problem: &Problem, received: &[u8]) -> Vec<u8> {
        self.render(problem, received, self.is_secure)
    }

    /// Renders a response like [`message`](Self::message), but without `Strict-Transport-Security`, which a connection
    /// without TLS must not carry (RFC 6797, section 7.2).
    pub fn message_without_tls(&self, problem: &Problem, received: &[u8]) -> Vec<u8> {
        self.render(problem, received, false)
    }

    fn render(&self, problem: &Problem, received: &[u8], is_secure: bool) -> Vec<u8> {
        count_refusal(problem);
        let now = self.clock.now();
        let id = valid_or_new_id(sent_id(received), || now);
        let millis = u64::try_from(now.as_millis()).unwrap_or_default();
        let date = HttpDate::from(UNIX_EPOCH + Duration::from_millis(millis));
        let (status, document) =
            (status_and_title(problem.code()).0, problem.document(&self.base_url, &id));
        let body = serde_json::to_string(&document).unwrap_or_default();
        let length = body.len();
        let body = if received.starts_with(b"HEAD ") { "" } else { &*body };
        let hsts = if is_secure {
            format!("strict-transport-security: {HSTS}\r\n")
        } else {
            String::new()
        };
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\n\
             connection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n\
             {hsts}{X_REQUEST_ID}: {id}\r\ndate: {date}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// Returns a response with status 503, for any request while the service cannot work.
    pub fn unavailable(&self, request: &HttpRequest) -> HttpResponse {
        let sent = request.headers().get(X_REQUEST_ID).map(HeaderValue::as_bytes);
        let id = valid_or_new_id(sent, || self.clock.now());
        let problem = Problem::Service { error: Refusal::Unavailable.into(), limits: None };
        let mut response = problem.render(&self.base_url, &id);
        add_headers(response.headers_mut(), &id, self.is_secure);
        response
    }
}

/// Returns the value of the first `X-Request-Id` in a request head that may be invalid or incomplete.
fn sent_id(received: &[u8]) -> Option<&[u8]> {
    received.split(|byte| *byte == b'\n').take_while(|line| *line != b"\r").find_map(|line| {
        let (name, value) = line.split_at_checked(X_REQUEST_ID.as_str().len())?;
        let value = value.strip_prefix(b":")?;
        name.eq_ignore_ascii_case(X_REQUEST_ID.as_ref()).then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use actix_web::{http::header::STRICT_TRANSPORT_SECURITY, test::TestRequest};
    use sealpost_domain::Timestamp;

    use super::*;

    struct FixedClock;

    impl Clock for FixedClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(0)
        }
    }

    #[test]
    fn only_the_responses_of_a_secure_service_require_https() {
        for (base_url, is_secure) in [("https://a.example", true), ("http://a.example", false)] {
            let problems = ConnectionProblems::new(base_url.to_owned(), Arc::new(FixedClock));
            let unavailable = problems.unavailable(&TestRequest::default().to_http_request());
            assert_eq!(unavailable.headers().contains_key(STRICT_TRANSPORT_SECURITY), is_secure);
            let has_hsts = |message: Vec<u8>| {
                String::from_utf8(message).unwrap().contains("\r\nstrict-transport-security: ")
            };
            assert_eq!(has_hsts(problems.message(&Problem::HeadTimeout, b"")), is_secure);
            assert!(!has_hsts(problems.message_without_tls(&Problem::HeadTimeout, b"")));
        }
    }
}
