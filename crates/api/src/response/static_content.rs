//! Content that is the same for all clients, such as a page or a stylesheet. The content is rendered once, and has an
//! `ETag` so that browsers can cache it.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderMap, HeaderValue},
    },
    web::Bytes,
};
use sha2::{Digest as _, Sha256};

/// Rendered content with its `ETag`, which identifies the version of the content (RFC 9110, section 8.8.3).
pub struct StaticContent {
    body: Bytes,
    etag: HeaderValue,
    content_type: HeaderValue,
    cache_control: HeaderValue,
    build: fn(StatusCode) -> HttpResponseBuilder,
}

impl StaticContent {
    /// Creates JSON content. Clients may cache it for five minutes.
    pub fn json(text: String) -> Self {
        let content_type = HeaderValue::from_static("application/json");
        Self::new(content_type, FIVE_MINUTES, text.into(), HttpResponse::build)
    }

    /// Creates content with the given headers `Content-Type` and `Cache-Control`. `build` creates each response with
    /// its status, and may add further headers.
    pub fn new(
        content_type: HeaderValue,
        cache_control: HeaderValue,
        body: Bytes,
        build: fn(StatusCode) -> HttpResponseBuilder,
    ) -> Self {
        let etag = HeaderValue::try_from(format!("\"{}\"", content_hash(&body)));
        Self { body, etag: etag.unwrap_or(NO_ETAG), content_type, cache_control, build }
    }

    /// Returns the content. Returns 304 if `If-None-Match` shows that the client has the same content.
    pub fn respond(&self, request: &HttpRequest) -> HttpResponse {
        if self.is_cached_by(request.headers()) {
            return self.head(StatusCode::NOT_MODIFIED).finish();
        }
        self.head(StatusCode::OK).body(self.body.clone())
    }

    fn head(&self, status: StatusCode) -> HttpResponseBuilder {
        let mut response = (self.build)(status);
        response
            .insert_header((header::CONTENT_TYPE, self.content_type.clone()))
            .insert_header((header::CACHE_CONTROL, self.cache_control.clone()))
            .insert_header((header::ETAG, self.etag.clone()));
        response
    }

    fn is_cached_by(&self, headers: &HeaderMap) -> bool {
        let Ok(etag) = self.etag.to_str() else { return false };
        let is_match =
            |tag: &str| matches!(tag.trim(), "*") || tag.trim().trim_start_matches("W/") == etag;
        let mut lines =
            headers.get_all(header::IF_NONE_MATCH).filter_map(|line| line.to_str().ok());
        lines.any(|line| line.split(',').any(is_match))
    }
}

/// Returns the first 16 hexadecimal digits of the SHA-256 hash of the content.
pub fn content_hash(content: &[u8]) -> String {
    let mut hash = hex::encode(Sha256::digest(content));
    hash.truncate(16);
    hash
}

/// The content type of HTML pages. [`middleware`](fn@crate::middleware) replaces the body of an error response by a
/// problem document, except if the response has this content type.
pub const PAGE_TYPE: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
const NO_ETAG: HeaderValue = HeaderValue::from_static("\"\"");

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn status(page: &StaticContent, cached: &str) -> u16 {
        let request = TestRequest::get().insert_header((header::IF_NONE_MATCH, cached));
        page.respond(&request.to_http_request()).status().as_u16()
    }

    #[test]
    fn cached_content_is_not_sent_again() {
        let page = StaticContent::json("<p>Hello".to_owned());
        let etag = page.etag.to_str().unwrap().to_owned();
        assert_eq!(status(&page, &etag), 304);
        assert_eq!(status(&page, &format!("\"old\", W/{etag}")), 304);
        assert_eq!(status(&page, "\"old\""), 200);
        assert_eq!(status(&StaticContent::json("<p>Bye".to_owned()), &etag), 200);
    }
}
