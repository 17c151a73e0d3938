//! Pages and assets that are the same for all readers, so that browsers may cache them.

use actix_web::{HttpResponse, http::header::HeaderValue, web::Bytes};
use sealpost_api::{PAGE_TYPE, StaticContent};

use super::response;

/// Prepares the response with a rendered page once for all requests. Browsers may cache the page for five minutes.
pub(crate) fn cached_page(html: String) -> StaticContent {
    StaticContent::new(PAGE_TYPE, FIVE_MINUTES, html.into(), response::page)
}

/// Prepares the response with a file of the documentation once for all requests. Browsers may cache the file for five
/// minutes.
pub(crate) fn cached_file(content_type: HeaderValue, text: impl Into<Bytes>) -> StaticContent {
    StaticContent::new(content_type, FIVE_MINUTES, text.into(), HttpResponse::build)
}

/// Prepares the response with an asset once for all requests. Browsers may cache the asset permanently, because its
/// name contains a hash of its content.
pub(crate) fn cached_asset(content_type: &'static str, text: &'static str) -> StaticContent {
    let body = Bytes::from_static(text.as_bytes());
    StaticContent::new(HeaderValue::from_static(content_type), ONE_YEAR, body, HttpResponse::build)
}

const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
const ONE_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
