//! Pages and assets that are the same for everybody.

use actix_web::{HttpResponse, http::header::HeaderValue, web::Bytes};
use sealpost_api::{PAGE_TYPE, Stored};

use super::headers;

/// A page, which may be some minutes old.
pub(crate) fn page(html: String) -> Stored {
    Stored::new(PAGE_TYPE, FOR_MINUTES, html.into(), headers::page)
}

/// What never changes under its address, because the address has the hash of it.
pub(super) fn asset(kind: &'static str, text: &'static str) -> Stored {
    let body = Bytes::from_static(text.as_bytes());
    Stored::new(HeaderValue::from_static(kind), FOR_EVER, body, HttpResponse::build)
}

const FOR_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
