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

/// Content with its name.
pub struct Stored {
    body: Bytes,
    etag: HeaderValue,
    kind: HeaderValue,
    cache: HeaderValue,
    begin: fn(StatusCode) -> HttpResponseBuilder,
}

impl Stored {
    /// A JSON document, which may be some minutes old.
    pub fn json(text: String) -> Self {
        let kind = HeaderValue::from_static("application/json");
        Self::new(kind, FOR_MINUTES, text.into(), HttpResponse::build)
    }

    /// Content of this type with this `Cache-Control`. `begin` makes the response, with headers of its own.
    pub fn new(
        kind: HeaderValue,
        cache: HeaderValue,
        body: Bytes,
        begin: fn(StatusCode) -> HttpResponseBuilder,
    ) -> Self {
        let etag = HeaderValue::try_from(format!("\"{}\"", content_name(&body)));
        Self { body, etag: etag.unwrap_or(NO_NAME), kind, cache, begin }
    }

    /// The content, or that what the browser has is still the same.
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        if self.is_known_to(request.headers()) {
            return self.head(StatusCode::NOT_MODIFIED).finish();
        }
        self.head(StatusCode::OK).body(self.body.clone())
    }

    fn head(&self, status: StatusCode) -> HttpResponseBuilder {
        let mut answer = (self.begin)(status);
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
pub fn content_name(content: &[u8]) -> String {
    let mut name = hex::encode(Sha256::digest(content));
    name.truncate(16);
    name
}

const FOR_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
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
        let page = Stored::json("<p>Hello".to_owned());
        let name = page.etag.to_str().unwrap().to_owned();
        assert_eq!(asked(&page, &name), 304);
        assert_eq!(asked(&page, &format!("\"old\", W/{name}")), 304);
        assert_eq!(asked(&page, "\"old\""), 200);
        assert_eq!(asked(&Stored::json("<p>Bye".to_owned()), &name), 200);
    }
}
