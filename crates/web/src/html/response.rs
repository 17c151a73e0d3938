//! The headers of a page: what a browser may load for it, and from whom; to whom it may tell that it was here.

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};
use sealpost_api::PAGE_TYPE;

/// A page that is one caller's own, or that says that something is not there: nobody keeps it.
pub(crate) fn private(status: StatusCode, html: String) -> HttpResponse {
    let mut answer = page(status);
    answer.insert_header((header::CACHE_CONTROL, "no-store")).body(html)
}

/// The beginning of every answer that is a page.
pub(super) fn page(status: StatusCode) -> HttpResponseBuilder {
    let mut answer = HttpResponse::build(status);
    answer.insert_header((header::CONTENT_TYPE, PAGE_TYPE));
    for (name, value) in GUARDS {
        answer.insert_header((name, value));
    }
    answer
}

/// Nothing inline, nothing from elsewhere, nothing around it.
const GUARDS: [(HeaderName, HeaderValue); 4] = [
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
