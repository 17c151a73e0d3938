//! The HTTP headers of all pages, which restrict what the browser may load.

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};
use sealpost_api::PAGE_TYPE;

/// Responds with a page that must not be cached, such as a page of one user or an error page.
pub(crate) fn private_page(status: StatusCode, html: String) -> HttpResponse {
    let mut response = page(status);
    response.insert_header((header::CACHE_CONTROL, "no-store")).body(html)
}

/// Starts the response of any page, with the headers that restrict the browser.
pub(super) fn page(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CONTENT_TYPE, PAGE_TYPE));
    for (name, value) in RESTRICTIONS {
        response.insert_header((name, value));
    }
    response
}

/// Headers that restrict the browser: no inline code, no content of other origins, no framing, no referrer.
const RESTRICTIONS: [(HeaderName, HeaderValue); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ),
    (header::CROSS_ORIGIN_OPENER_POLICY, HeaderValue::from_static("same-origin")),
    (
        header::PERMISSIONS_POLICY,
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];
