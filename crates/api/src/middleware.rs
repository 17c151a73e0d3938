//! The middleware around every request: request id, response headers, error documents, access log and metrics.

mod access_log;
mod connection_problems;
mod head;
mod request_span;

use actix_web::{
    Error, HttpRequest, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web,
};
use sealpost_domain::{RequestId, Timestamp};
use sealpost_service::random;

use crate::{
    connection_record::ConnectionRecord,
    response::{PAGE_TYPE, Problem},
    state::ApiState,
};
use access_log::RequestTimer;
use request_span::RequestSpan;

pub use connection_problems::ConnectionProblems;
pub use head::support_head;

/// Adds the request id, security headers and `Cache-Control: no-store` to each response. Keeps a `Cache-Control` that a
/// response already has. Replaces the body of each error response by a problem document (RFC 9457), except for HTML
/// pages, which have the content type [`PAGE_TYPE`].
pub async fn middleware(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let span = RequestSpan::begin(request.request());
    let timer = RequestTimer::start(request.method(), span);
    let id = request_id(request.request());
    head::route_as_get(&mut request);
    let connection = request.request().conn_data::<ConnectionRecord>().cloned();
    connection.iter().for_each(ConnectionRecord::begin_request);
    let responded = next.call(request).await;
    connection.iter().for_each(ConnectionRecord::end_request);
    // Three kinds of requests prove that the client is authenticated. After any other request, the connection is
    // anonymous again.
    //
    // - A successful POST, because every POST endpoint needs a token or a secret, or creates an account.
    // - A refused request that counted against the limits of an API key.
    // - The upgrade to a WebSocket, which needs a token.
    let is_authenticated = responded.as_ref().is_ok_and(|response| {
        let status = response.status();
        let problem = response.response().error().and_then(|error| error.as_error::<Problem>());
        let is_counted = matches!(problem, Some(Problem::Service { limits: Some(_), .. }))
            && status != StatusCode::TOO_MANY_REQUESTS;
        is_counted || (response.request().method() == Method::POST && status.is_success())
    });
    if let Some(connection) = &connection {
        connection.set_authenticated(is_authenticated || connection.is_upgraded());
    }
    // Only inner middleware returns `Err`. Errors of extractors and handlers are responses here, because actix-web has
    // converted them.
    let (request, response) = responded?.into_parts();
    let app = app_of(&request);
    let base_url = app.map_or("", |app: &ApiState| app.settings.base_url.as_str());
    let mut response = into_problem(response.map_into_boxed_body(), base_url, &id);
    head::allow_beside_get(response.headers_mut());
    add_headers(response.headers_mut(), &id, app.is_some_and(|app| app.settings.is_secure));
    timer.record(&request, app, &id, response.status());
    Ok(ServiceResponse::new(request, response))
}

fn app_of(request: &HttpRequest) -> Option<&ApiState> {
    request.app_data::<web::Data<ApiState>>().map(|app| &***app)
}

/// Adds the headers that each response has.
fn add_headers(headers: &mut HeaderMap, id: &str, is_secure: bool) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(X_REQUEST_ID, value);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HSTS));
    }
}

/// Replaces the body of an error response by a problem document, unless the body is an HTML page.
fn into_problem(
    response: HttpResponse<BoxBody>,
    base_url: &str,
    id: &str,
) -> HttpResponse<BoxBody> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || is_page(response.headers()) {
        return response;
    }
    let other = Problem::Http(status);
    let problem = response.error().and_then(|error| error.as_error()).unwrap_or(&other);
    access_log::count_refusal(problem);
    if problem.is_fault() {
        tracing::error!(request.id = id, error = %problem, "request failed");
    } else {
        tracing::debug!(request.id = id, status = status.as_u16(), "request refused");
    }
    problem.render(base_url, id)
}

/// Returns true if a response is an HTML page, which shows its own error text.
fn is_page(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| *kind == PAGE_TYPE)
}

/// Returns the `X-Request-Id` of the client if it is valid and sent once, otherwise a new id.
fn request_id(request: &HttpRequest) -> String {
    let mut sent = request.headers().get_all(X_REQUEST_ID).map(HeaderValue::as_bytes);
    let sent = sent.next().filter(|_| sent.next().is_none());
    let now = || app_of(request).map_or(Timestamp::from_millis(0), |app| app.clock.now());
    valid_or_new_id(sent, now)
}

/// Returns the id that the client sent if it is valid, otherwise a new id.
fn valid_or_new_id(sent: Option<&[u8]>, now: impl FnOnce() -> Timestamp) -> String {
    let sent = sent.and_then(|bytes| str::from_utf8(bytes).ok());
    if let Some(sent) = sent.filter(|text| is_request_id(text)) {
        return sent.to_owned();
    }
    // If the random source fails, the random part of the id is zeros. The request must not fail only because it has no
    // random id.
    RequestId::new(now(), random().unwrap_or_default()).to_string()
}

fn is_request_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Requires HTTPS for one year. Excludes subdomains, because they may belong to other services.
const HSTS: &str = "max-age=31536000";
