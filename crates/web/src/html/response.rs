//! The HTTP headers of all pages: they restrict what the browser may load, and how long it may cache the response.

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
    web::Bytes,
};
use sealpost_api::{PAGE_TYPE, StaticContent};

/// Responds with a page that must not be cached, such as a page of one user or an error page.
pub(crate) fn private_page(status: StatusCode, html: String) -> HttpResponse {
    let mut response = page(status);
    response.insert_header((header::CACHE_CONTROL, "no-store")).body(html)
}

/// Prepares a response with a rendered page, which all requests share. Browsers may cache the page for five minutes.
pub(crate) fn cached_page(html: String) -> StaticContent {
    StaticContent::new(PAGE_TYPE, FIVE_MINUTES, html.into(), page)
}

/// Prepares a response with a file of the documentation, which all requests share. Browsers may cache the file for five
/// minutes.
pub(crate) fn cached_file(content_type: HeaderValue, text: impl Into<Bytes>) -> StaticContent {
    StaticContent::new(content_type, FIVE_MINUTES, text.into(), HttpResponse::build)
}

/// Prepares a response with an asset, which all requests share. Browsers may cache the asset permanently, because its
/// name contains a hash of its content.
pub(crate) fn cached_asset(content_type: &'static str, text: &'static str) -> StaticContent {
    let body = Bytes::from_static(text.as_bytes());
    StaticContent::new(HeaderValue::from_static(content_type), ONE_YEAR, body, HttpResponse::build)
}

/// Starts the response of any page, with the headers that restrict the browser.
fn page(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CONTENT_TYPE, PAGE_TYPE));
    for (name, value) in RESTRICTIONS {
        response.insert_header((name, value));
    }
    response
}

const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
const ONE_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
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
