//! Whether a form was sent by a page of ours. The session's cookie does not travel with forms of other sites, and every
//! form of ours carries a token; this holds even where neither can tell, such as at signing in.

use actix_web::http::header::{self, HeaderMap, HeaderName};

/// By what the browser says about where the form came from: `Sec-Fetch-Site`, else `Origin`. Nothing of either comes
/// from browsers so old, or from programs, that nobody else steers them.
pub(super) fn is_ours(headers: &HeaderMap, base_url: &str) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match (text(SEC_FETCH_SITE), text(header::ORIGIN)) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => origin == origin_of(base_url),
        (None, None) => true,
    }
}

/// Scheme, host and port.
fn origin_of(base_url: &str) -> &str {
    let after_scheme = base_url.find("://").map_or(0, |at| at + 3);
    let end = base_url.get(after_scheme..).and_then(|rest| rest.find('/'));
    end.and_then(|end| base_url.get(..after_scheme + end)).unwrap_or(base_url)
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn judged(lines: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        is_ours(&headers, "https://seal.example:8443/post")
    }

    #[test]
    fn what_the_browser_calls_another_site_is_refused() {
        assert!(judged(&[("sec-fetch-site", "same-origin")]));
        assert!(judged(&[("sec-fetch-site", "none")]));
        for other in ["cross-site", "same-site", "", "rubbish"] {
            assert!(!judged(&[("sec-fetch-site", other)]), "{other}");
        }
    }

    #[test]
    fn an_older_browser_is_judged_by_the_origin() {
        assert!(judged(&[("origin", "https://seal.example:8443")]));
        for other in ["https://seal.example", "http://seal.example:8443", "null", ""] {
            assert!(!judged(&[("origin", other)]), "{other}");
        }
        assert!(!judged(&[
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://seal.example:8443")
        ]));
        assert!(judged(&[]));
    }
}
