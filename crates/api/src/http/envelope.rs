//! What every exchange has in common: a request id, headers that forbid sniffing, and caching unless the answer says
//! otherwise, problem documents for whatever failed and is no page, a line in the log for what is our fault, and a count
//! of everything.

use actix_web::{
    Error, HttpRequest, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    web,
};
use sealpost_domain::{RequestId, Timestamp};

use super::{
    ApiState, Problem,
    access::{self, Access},
    head,
};

/// Wraps every request and answer.
pub async fn envelope(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let access = Access::begin(request.method());
    let id = request_name(request.request());
    head::route_as_get(&mut request);
    // Extractors and handlers fail into an answer; an error here comes from outside of both and stays one.
    let (request, answer) = next.call(request).await?.into_parts();
    let app = app_of(&request);
    let base_url = app.map_or("", |app: &ApiState| app.base_url.as_str());
    let mut answer = explain(answer.map_into_boxed_body(), base_url, &id);
    let headers = answer.headers_mut();
    head::name_beside_get(headers, request.path());
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(X_REQUEST_ID, value);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if app.is_some_and(|app| app.is_secure) {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    access.end(&request, app, &id, answer.status());
    Ok(ServiceResponse::new(request, answer))
}

fn app_of(request: &HttpRequest) -> Option<&ApiState> {
    request.app_data::<web::Data<ApiState>>().map(|app| &***app)
}

/// Puts a problem document into an answer that is an error.
fn explain(answer: HttpResponse<BoxBody>, base_url: &str, id: &str) -> HttpResponse<BoxBody> {
    let status = answer.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || is_page(answer.headers()) {
        return answer;
    }
    let other = Problem::Http(status);
    let problem = answer.error().and_then(|error| error.as_error()).unwrap_or(&other);
    access::refused(problem);
    if problem.is_fault() {
        tracing::error!(request.id = id, error = %problem, "a request failed");
    } else {
        tracing::debug!(request.id = id, status = status.as_u16(), "a request was refused");
    }
    problem.render(base_url, id)
}

/// Whether an answer is a page already: what went wrong is then said in it, and not in a problem document.
fn is_page(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| *kind == PAGE_TYPE)
}

/// The client's own name for the request where it is a sane one, else a fresh id.
fn request_name(request: &HttpRequest) -> String {
    let theirs = request.headers().get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
    if let Some(theirs) = theirs.filter(|text| is_sane(text)) {
        return theirs.to_owned();
    }
    let now = app_of(request).map_or(Timestamp::from_millis(0), |app| app.clock.now());
    // Without randomness the id is less unique, which is no reason to refuse the request.
    RequestId::new(now, sealpost_wallet::random().unwrap_or_default()).to_string()
}

fn is_sane(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

/// The content type of pages. An error with this type keeps its body.
pub const PAGE_TYPE: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// For a year; whether names below this one have TLS too is not for this service to say.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
