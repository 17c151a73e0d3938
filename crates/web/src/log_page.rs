//! `/log/verify`: a page that verifies proofs of a transparency log in the browser. The page is a single file that
//! loads nothing, so that a saved copy works without the network.

use std::sync::LazyLock;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        Method, StatusCode,
        header::{self, HeaderValue},
    },
    web::{self, Bytes},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_api::{PAGE_TYPE, StaticContent, refuse_method};
use sha2::{Digest as _, Sha256};

/// Mounts the page.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    let page = web::resource("/log/verify").route(web::get().to(page));
    config.service(page.default_service(web::to(async || refuse_method(&Method::GET))));
}

async fn page(request: HttpRequest) -> HttpResponse {
    FILE.respond(&request)
}

static FILE: LazyLock<StaticContent> = LazyLock::new(|| {
    let body = Bytes::from_static(PAGE.as_bytes());
    StaticContent::new(PAGE_TYPE, FIVE_MINUTES, body, build)
});

fn build(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CONTENT_SECURITY_POLICY, POLICY.as_str()));
    response.insert_header((header::REFERRER_POLICY, "no-referrer"));
    response
}

/// The Content Security Policy of the page. Allows only the script and the style of the page, by their SHA-256 hashes.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |element: &str| {
        let (_, rest) = PAGE.split_once(&format!("<{element}>")).unwrap_or_default();
        let (content, _) = rest.split_once(&format!("</{element}>")).unwrap_or_default();
        format!("'sha256-{}'", STANDARD.encode(Sha256::digest(content)))
    };
    format!(
        "default-src 'none'; script-src {}; style-src {}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        hash("script"),
        hash("style")
    )
});

const PAGE: &str = include_str!("../assets/log_verify.html");
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_loads_nothing() {
        assert!(PAGE.len() <= 40 * 1024, "{}", PAGE.len());
        for forbidden in ["src=", "href=", "fetch(", "XMLHttpRequest", "WebSocket", "import("] {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
    }
}
