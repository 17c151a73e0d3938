//! Checks that a form comes from a page of this service. This check also protects forms without a session, such as the
//! form to sign in. Forms in a session have two further protections: a token in the form, and a session cookie that is
//! `SameSite=Lax`.

use actix_web::http::header::{self, HeaderMap, HeaderName};

/// Returns true if the form comes from a page of this service. Decides by the header `Sec-Fetch-Site`, or by `Origin`
/// if `Sec-Fetch-Site` is absent.
///
/// Accepts a request with neither header. Such a request comes from a program, because current browsers send `Origin`
/// with each form that uses POST (Fetch standard, "append a request `Origin` header").
pub(crate) fn is_same_site(headers: &HeaderMap, base_url: &str) -> bool {
    if headers.contains_key(SEC_FETCH_SITE) {
        return headers.get_all(SEC_FETCH_SITE).all(|site| site == "same-origin" || site == "none");
    }
    headers.get_all(header::ORIGIN).all(|origin| origin == origin_of(base_url))
}

/// Returns scheme, host and port of a URL.
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

    fn accepted(lines: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        is_same_site(&headers, "https://seal.example:8443/post")
    }

    #[test]
    fn forms_of_other_sites_are_rejected() {
        assert!(accepted(&[("sec-fetch-site", "same-origin")]));
        assert!(accepted(&[("sec-fetch-site", "none")]));
        for other in ["cross-site", "same-site", "", "rubbish"] {
            assert!(!accepted(&[("sec-fetch-site", other)]), "{other}");
        }
    }

    #[test]
    fn the_origin_decides_without_sec_fetch_site() {
        assert!(accepted(&[("origin", "https://seal.example:8443")]));
        for other in ["https://seal.example", "http://seal.example:8443", "null", ""] {
            assert!(!accepted(&[("origin", other)]), "{other}");
        }
        assert!(!accepted(&[("origin", "https://seal.example:8443"), ("origin", "null")]));
        assert!(!accepted(&[("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]));
        assert!(!accepted(&[
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://seal.example:8443")
        ]));
        assert!(accepted(&[]));
    }
}
