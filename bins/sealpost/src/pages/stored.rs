//! An answer that is the same for everybody: made once, named by a hash of its content, and kept by browsers.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderMap, HeaderValue},
    },
    web::Bytes,
};
use sha2::{Digest as _, Sha256};

use super::headers;

/// Content with its name.
pub(crate) struct Stored {
    body: Bytes,
    etag: HeaderValue,
    kind: HeaderValue,
    cache: HeaderValue,
}

impl Stored {
    /// A page, which may be some minutes old.
    pub(crate) fn page(html: String) -> Self {
        Self::new(headers::HTML, FOR_MINUTES, html.into())
    }

    /// A JSON document, which may be some minutes old.
    pub(crate) fn json(text: String) -> Self {
        Self::new(HeaderValue::from_static("application/json"), FOR_MINUTES, text.into())
    }

    /// What never changes under its address, because the address has the hash of it.
    pub(super) fn asset(kind: &'static str, text: &'static str) -> Self {
        let body = Bytes::from_static(text.as_bytes());
        Self::new(HeaderValue::from_static(kind), FOR_EVER, body)
    }

    fn new(kind: HeaderValue, cache: HeaderValue, body: Bytes) -> Self {
        let etag = HeaderValue::try_from(format!("\"{}\"", name_of(&body)));
        Self { body, etag: etag.unwrap_or(NO_NAME), kind, cache }
    }

    /// The content, or that what the browser has is still the same.
    pub(crate) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        if self.is_known_to(request.headers()) {
            return self.head(StatusCode::NOT_MODIFIED).finish();
        }
        self.head(StatusCode::OK).body(self.body.clone())
    }

    fn head(&self, status: StatusCode) -> HttpResponseBuilder {
        let mut answer = if self.kind == headers::HTML {
            headers::page(status)
        } else {
            HttpResponse::build(status)
        };
        answer
            .insert_header((header::CONTENT_TYPE, self.kind.clone()))
            .insert_header((header::CACHE_CONTROL, self.cache.clone()))
            .insert_header((header::ETAG, self.etag.clone()));
        answer
    }

    fn is_known_to(&self, headers: &HeaderMap) -> bool {
        let Ok(name) = self.etag.to_str() else { return false };
        let is_this =
            |tag: &str| matches!(tag.trim(), "*") || tag.trim().trim_start_matches("W/") == name;
        let mut lines =
            headers.get_all(header::IF_NONE_MATCH).filter_map(|line| line.to_str().ok());
        lines.any(|line| line.split(',').any(is_this))
    }
}

/// A short name that changes with the content.
pub(super) fn name_of(content: &[u8]) -> String {
    let mut name = hex::encode(Sha256::digest(content));
    name.truncate(16);
    name
}

const FOR_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const NO_NAME: HeaderValue = HeaderValue::from_static("\"\"");

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn asked(page: &Stored, known: &str) -> u16 {
        let request = TestRequest::get().insert_header((header::IF_NONE_MATCH, known));
        page.answer(&request.to_http_request()).status().as_u16()
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let page = Stored::page("<p>Hello".to_owned());
        let name = page.etag.to_str().unwrap().to_owned();
        assert_eq!(asked(&page, &name), 304);
        assert_eq!(asked(&page, &format!("\"old\", W/{name}")), 304);
        assert_eq!(asked(&page, "\"old\""), 200);
        assert_eq!(asked(&Stored::page("<p>Bye".to_owned()), &name), 200);
    }
}
