//! Support for HEAD on each path that accepts GET (RFC 9110, section 9.1): routes HEAD as GET, and actix-web omits the
//! body.

use actix_web::{
    Error,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderMap, HeaderValue},
    },
    middleware::Next,
};

/// Supports HEAD in a server that does not use [`middleware`](fn@crate::middleware) for all routes.
pub async fn support_head(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    route_as_get(&mut request);
    let mut response = next.call(request).await?;
    allow_beside_get(response.headers_mut());
    Ok(response)
}

/// Changes the method of a request from HEAD to GET. Also removes the header `Upgrade`, because only a client that
/// sends GET can open a WebSocket (RFC 6455, section 4.1).
pub(super) fn route_as_get(request: &mut ServiceRequest) {
    if *request.method() == Method::HEAD {
        request.head_mut().method = Method::GET;
        request.headers_mut().remove(header::UPGRADE);
    }
}

/// Adds HEAD to an `Allow` header with GET.
pub(super) fn allow_beside_get(headers: &mut HeaderMap) {
    let allowed = match headers.get(header::ALLOW).map(HeaderValue::as_bytes) {
        Some(b"GET") => "GET, HEAD",
        Some(b"GET, POST") => "GET, HEAD, POST",
        _ => return,
    };
    headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn only_get_can_ask_for_a_websocket() {
        for method in [Method::GET, Method::HEAD] {
            let request = TestRequest::with_uri("/").method(method.clone());
            let request = request.insert_header((header::UPGRADE, "websocket"));
            let mut request = request.to_srv_request();
            route_as_get(&mut request);
            assert_eq!(request.method(), Method::GET);
            assert_eq!(request.headers().contains_key(header::UPGRADE), method == Method::GET);
        }
    }
}
