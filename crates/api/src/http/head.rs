//! HEAD, wherever there is GET, but for the API, whose paths know one method each. In one place, so that no page can
//! lack it: such a request goes the way of GET, and the HTTP library, which has seen what it was, sends no body.

use actix_web::{
    dev::ServiceRequest,
    http::{
        Method,
        header::{self, HeaderMap, HeaderValue},
    },
};

/// Has a HEAD answered as a GET.
pub(super) fn route_as_get(request: &mut ServiceRequest) {
    if *request.method() == Method::HEAD && !is_api(request.path()) {
        request.head_mut().method = Method::GET;
    }
}

/// Names HEAD beside GET among the methods that a path takes.
pub(super) fn name_beside_get(headers: &mut HeaderMap, path: &str) {
    let allowed = match headers.get(header::ALLOW).map(HeaderValue::as_bytes) {
        Some(b"GET") => "GET, HEAD",
        Some(b"GET, POST") => "GET, HEAD, POST",
        _ => return,
    };
    if !is_api(path) {
        headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
}

fn is_api(path: &str) -> bool {
    path.starts_with("/v1/")
}
