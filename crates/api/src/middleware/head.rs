//! Support for HEAD on all paths that are not below `/v1/`: routes HEAD as GET, and actix-web omits the body. Paths
//! below `/v1/` are excluded, because each of them accepts only one method.

use actix_web::{
    dev::ServiceRequest,
    http::{
        Method,
        header::{self, HeaderMap, HeaderValue},
    },
};

/// Changes the method of a request from HEAD to GET, unless the path is below `/v1/`.
pub(super) fn route_as_get(request: &mut ServiceRequest) {
    if *request.method() == Method::HEAD && !is_api(request.path()) {
        request.head_mut().method = Method::GET;
    }
}

/// Adds HEAD to the `Allow` header of a page that accepts GET.
pub(super) fn allow_beside_get(headers: &mut HeaderMap, path: &str) {
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
