//! What every exchange has in common: a request id, headers that forbid caching and sniffing, problem documents
//! for whatever failed, and a line in the log for what is our fault.

use actix_web::{
    Error, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, HeaderName, HeaderValue},
    middleware::Next,
    web,
};
use sealpost_domain::{RequestId, Timestamp};

use super::{App, Problem};

/// Wraps every request and answer.
pub(crate) async fn envelope(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let app = request.app_data::<web::Data<App>>().cloned();
    let app = app.as_deref().map(AsRef::as_ref);
    let id = request_name(&request, app);
    // Extractors and handlers fail into an answer; an error here comes from outside of both and stays one.
    let (request, answer) = next.call(request).await?.into_parts();
    let base_url = app.map_or("", |app: &App| app.base_url.as_str());
    let mut answer = explain(answer.map_into_boxed_body(), base_url, &id);
    let headers = answer.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(X_REQUEST_ID, value);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(ServiceResponse::new(request, answer))
}

/// Puts a problem document into an answer that is an error.
fn explain(answer: HttpResponse<BoxBody>, base_url: &str, id: &str) -> HttpResponse<BoxBody> {
    let status = answer.status();
    if !status.is_client_error() && !status.is_server_error() || is_page(&answer) {
        return answer;
    }
    let other = Problem::Http(status);
    let problem = answer.error().and_then(|error| error.as_error()).unwrap_or(&other);
    if problem.is_fault() {
        tracing::error!(request.id = id, error = %problem, "a request failed");
    } else {
        tracing::debug!(request.id = id, status = status.as_u16(), "a request was refused");
    }
    problem.render(base_url, id)
}

/// Pages say themselves what went wrong.
fn is_page(answer: &HttpResponse<BoxBody>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

/// The client's own name for the request where it is a sane one, else a fresh id.
fn request_name(request: &ServiceRequest, app: Option<&App>) -> String {
    let theirs = request.headers().get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
    if let Some(theirs) = theirs.filter(|text| is_sane(text)) {
        return theirs.to_owned();
    }
    let now = app.map_or(Timestamp::from_millis(0), |app| app.clock.now());
    // Without randomness the id is less unique, which is no reason to refuse the request.
    RequestId::new(now, sealpost_wallet::random().unwrap_or_default()).to_string()
}

fn is_sane(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
