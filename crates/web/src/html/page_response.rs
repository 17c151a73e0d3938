//! A response of the dashboard or the console: a page, an error page or a redirect.

use std::fmt;

use actix_web::{
    HttpRequest, HttpResponse, Responder, ResponseError,
    body::BoxBody,
    cookie::Cookie,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};

use super::{flash::Flash, layout::SiteAddress, rejection::Rejection, response::private_page};
use crate::host_cookie::HostCookie;

/// A response to a browser. Handlers return this type for success, and also as their error.
pub(crate) struct PageResponse {
    status: StatusCode,
    body: String,
    headers: Vec<(HeaderName, String)>,
}

/// The result of a handler or of a step of a handler, whose error is a response too.
pub(crate) type PageResult = Result<PageResponse, PageResponse>;

impl PageResponse {
    /// Creates a response with a status and the HTML of a page.
    pub(crate) fn new(status: StatusCode, body: String) -> Self {
        Self { status, body, headers: Vec::new() }
    }

    /// Redirects with 303 to the page at `path`, which does not contain the path of the base URL.
    pub(crate) fn redirect(site: &SiteAddress, path: &str) -> Self {
        let location = format!("{}{path}", site.base_path);
        Self::new(StatusCode::SEE_OTHER, String::new()).with(header::LOCATION, location)
    }

    /// Redirects to the page that shows the result of a form. `cookie` carries the result.
    pub(crate) fn redirect_to_result(
        site: &SiteAddress,
        result: &Flash,
        cookie: HostCookie,
    ) -> Self {
        let value = hex::encode(result.to_json());
        Self::redirect(site, result.path()).with_cookie(&cookie.with_value(value))
    }

    pub(crate) fn with_cookie(self, cookie: &Cookie<'static>) -> Self {
        self.with(header::SET_COOKIE, cookie.to_string())
    }

    /// Adds `Retry-After` if the rejection has a value for it, and `WWW-Authenticate` if the status is 401.
    pub(crate) fn with_headers_of(mut self, rejection: &Rejection) -> Self {
        if let Some(seconds) = rejection.retry_after_s {
            self = self.with(header::RETRY_AFTER, seconds.to_string());
        }
        if rejection.status == StatusCode::UNAUTHORIZED {
            self = self.with(header::WWW_AUTHENTICATE, "Bearer".to_owned());
        }
        self
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn response(&self) -> HttpResponse {
        let mut response = private_page(self.status, self.body.clone());
        response.headers_mut().insert(header::REFERRER_POLICY, REFERRER_POLICY);
        for (name, value) in &self.headers {
            if let Ok(value) = HeaderValue::from_str(value) {
                response.headers_mut().append(name.clone(), value);
            } else {
                tracing::error!(%name, "the value of a response header is invalid: the header was left out");
            }
        }
        response
    }
}

impl Responder for PageResponse {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        match Flash::deletion(request, self.status) {
            Some(cookie) => self.with_cookie(&cookie).response(),
            None => self.response(),
        }
    }
}

impl ResponseError for PageResponse {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        self.response()
    }
}

/// Omits body and headers, because the pages and the cookies in them may contain secrets.
impl fmt::Debug for PageResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

impl fmt::Display for PageResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a page with status {}", self.status)
    }
}

/// The text of the error page for an address with a wrong query, in the dashboard and in the console.
pub(crate) const INVALID_QUERY: &str = "The address of this page has a wrong parameter after the question mark: it is \
    given twice, or its value is not possible. Correct the address, or follow the link below.";
/// The referrer policy of the dashboard. The policy of all other pages, `no-referrer`, would break forms in some
/// browsers: they would send forms with `Origin: null` (Fetch standard, "append a request `Origin` header"), which the
/// service rejects if `Sec-Fetch-Site` is absent.
const REFERRER_POLICY: HeaderValue = HeaderValue::from_static("same-origin");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_and_display_contain_no_content_and_no_cookie() {
        let page = PageResponse::new(StatusCode::OK, "whsec_x".to_owned());
        let page = page.with_cookie(&Cookie::new("sealpost", "st_x"));
        for written in [format!("{page:?}"), page.to_string()] {
            assert!(!written.contains("whsec_x") && !written.contains("st_x"), "{written}");
            assert!(written.contains("200"), "{written}");
        }
        let response = page.response();
        assert_eq!(response.headers().get(header::SET_COOKIE).unwrap(), "sealpost=st_x");
    }

    #[test]
    fn pages_let_the_browser_name_their_origin_to_this_service_alone() {
        let site = SiteAddress::new("http://127.0.0.1:8080");
        for page in [
            PageResponse::new(StatusCode::NOT_FOUND, String::new()),
            PageResponse::redirect(&site, "/dashboard"),
        ] {
            let response = page.response();
            let policies: Vec<_> = response.headers().get_all(header::REFERRER_POLICY).collect();
            assert_eq!(policies, ["same-origin"]);
        }
    }
}
