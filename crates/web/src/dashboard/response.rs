//! The responses of the dashboard: pages, redirects and error pages.

mod flash;
mod frame;

use std::{fmt, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse, Responder, ResponseError,
    body::BoxBody,
    cookie::Cookie,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
    web,
};
use askama::Template;
use sealpost_api::whole_seconds;
use sealpost_domain::with_causes;
use sealpost_service::Error;

pub(crate) use flash::Flash;
pub(super) use frame::{Frame, FrameSession};

use super::forms::{Draft, Rejection};
use crate::{
    html::{SiteAddress, private_page},
    state::WebState,
};

/// A response to a browser. Handlers return this type for success, and also as their error.
pub(crate) struct PageResponse {
    status: StatusCode,
    body: String,
    headers: Vec<(HeaderName, String)>,
}

/// The result of a handler or of a step of a handler, whose error is a response too.
pub(crate) type PageResult = Result<PageResponse, PageResponse>;

#[derive(Template)]
#[template(path = "dashboard/error.html")]
struct ErrorPage<'a> {
    base: &'a str,
    title: &'a str,
    detail: &'a str,
}

impl PageResponse {
    /// Responds with a page and status 200.
    pub(super) fn ok(frame: Frame<'_>, title: &str, main: &impl Template) -> Self {
        Self::new(StatusCode::OK, frame.render(title, main))
    }

    /// Responds with the page of a form. After a rejection, the response has the status and the headers of the
    /// rejection.
    pub(super) fn of_form(
        frame: Frame<'_>,
        title: &str,
        draft: Draft<'_>,
        main: &impl Template,
    ) -> Self {
        let page = |status| Self::new(status, frame.render(title, main));
        match draft.rejection() {
            None => page(StatusCode::OK),
            Some(rejection) => page(rejection.status).with_headers_of(rejection),
        }
    }

    /// Redirects with 303 to the page at `path`, which does not contain the path of the base URL.
    pub(crate) fn redirect(site: &SiteAddress, path: &str) -> Self {
        let location = format!("{}{path}", site.base_path);
        Self::new(StatusCode::SEE_OTHER, String::new()).with(header::LOCATION, location)
    }

    /// Redirects to the sign-in page, and deletes the cookie of the ended session. `path` is the path of the sign-in
    /// page with its query.
    pub(super) fn redirect_to_sign_in(app: &WebState, path: &str) -> Self {
        Self::redirect(&app.site, path).with_cookie(&app.session_cookie().deletion())
    }

    pub(crate) fn with_cookie(self, cookie: &Cookie<'static>) -> Self {
        self.with(header::SET_COOKIE, cookie.to_string())
    }

    pub(super) fn not_found(frame: Frame<'_>) -> Self {
        let detail = "This page does not exist, or it belongs to another account.";
        Self::error_page(frame, StatusCode::NOT_FOUND, "Not found", detail)
    }

    pub(super) fn method_not_allowed(frame: Frame<'_>, allowed: &str) -> Self {
        let detail = "This address does not support this kind of request. Go back and use the buttons of the page.";
        Self::error_page(frame, StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", detail)
            .with(header::ALLOW, allowed.to_owned())
    }

    /// Rejects an address whose query has a repeated parameter or an invalid value.
    pub(super) fn invalid_query(frame: Frame<'_>) -> Self {
        Self::error_page(frame, StatusCode::BAD_REQUEST, "Wrong address", INVALID_QUERY)
    }

    /// Rejects a form that does not come from a page of this session.
    pub(super) fn foreign_form(frame: Frame<'_>) -> Self {
        let detail = "The form was not sent from a page of your current session. Nothing was done. Open the page again \
            and repeat the action.";
        Self::error_page(frame, StatusCode::FORBIDDEN, NOTHING_DONE, detail)
    }

    /// Rejects a form that was sent before, if the result of its first use is not known yet.
    pub(super) fn repeated_form(frame: Frame<'_>) -> Self {
        let detail = "This form was sent before, and it acts only once. Its first result is not known yet: look at your \
            identities before you open the form again.";
        Self::error_page(frame, StatusCode::CONFLICT, NOTHING_DONE, detail)
    }

    /// Rejects a request because the account has reached the rate limit of the dashboard.
    pub(super) fn too_many_requests(frame: Frame<'_>, retry_after: Duration) -> Self {
        let seconds = whole_seconds(retry_after);
        let text = format!(
            "Your account requested too many pages within a minute. Nothing was done. Try again in {seconds} s."
        );
        Self::error_page(frame, StatusCode::TOO_MANY_REQUESTS, "Too many requests", &text)
            .with(header::RETRY_AFTER, seconds.to_string())
    }

    /// Refuses a live stream because a limit is reached.
    pub(super) fn live_limit(frame: Frame<'_>) -> Self {
        let detail = "The service has its largest number of live logs. Reload the page instead.";
        Self::error_page(frame, StatusCode::SERVICE_UNAVAILABLE, "Too many live logs", detail)
            .with(header::RETRY_AFTER, "60".to_owned())
    }

    pub(super) fn unreadable_form(frame: Frame<'_>) -> Self {
        let detail = "The form was incomplete, too long, or arrived too slowly. Nothing was done. Try again.";
        Self::error_page(frame, StatusCode::BAD_REQUEST, NOTHING_DONE, detail)
    }

    pub(super) fn internal_error(frame: Frame<'_>) -> Self {
        let detail = "The service failed to process the request. It may have been processed in part: look at \
            your identities, then try again.";
        Self::error_page(frame, StatusCode::INTERNAL_SERVER_ERROR, "Internal error", detail)
    }

    /// Responds with an error page for an error of the service. If the service refused the request, the page has the
    /// status and the text of the refusal. Any other error is logged, and the page has status 500.
    pub(super) fn service_error(frame: Frame<'_>, error: &Error) -> Self {
        let Some(refusal) = error.refusal() else {
            tracing::error!(
                error = with_causes(error),
                "the service failed to process a request of the dashboard"
            );
            return Self::internal_error(frame);
        };
        let rejection = Rejection::from(refusal);
        match rejection.status {
            StatusCode::NOT_FOUND => Self::not_found(frame),
            status => Self::error_page(frame, status, NOTHING_DONE, &rejection.text)
                .with_headers_of(&rejection),
        }
    }

    fn error_page(frame: Frame<'_>, status: StatusCode, title: &str, detail: &str) -> Self {
        let main = ErrorPage { base: &frame.site.base_path, title, detail };
        Self::new(status, frame.render(title, &main))
    }

    /// Creates a response with a status and the HTML of a page.
    pub(crate) fn new(status: StatusCode, body: String) -> Self {
        Self { status, body, headers: Vec::new() }
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

/// Returns the shared state of the pages, or an error page if the server was built without this state. Extractors use
/// this function, because they receive only the request.
pub(super) fn web_state(request: &HttpRequest) -> Result<web::Data<WebState>, PageResponse> {
    let app = request.app_data::<web::Data<WebState>>().cloned();
    app.ok_or_else(|| PageResponse::internal_error(Frame::public(&SiteAddress::new(""))))
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

const NOTHING_DONE: &str = "Nothing was done";
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

    #[derive(Template)]
    #[template(source = "{{ secret }}", ext = "html")]
    struct SecretPage {
        secret: &'static str,
    }

    #[test]
    fn debug_and_display_contain_no_content_and_no_cookie() {
        let site = SiteAddress::new("http://127.0.0.1:8080");
        let page =
            PageResponse::ok(Frame::public(&site), "Hello", &SecretPage { secret: "whsec_x" });
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
            PageResponse::not_found(Frame::public(&site)),
            PageResponse::redirect(&site, "/dashboard"),
        ] {
            let response = page.response();
            let policies: Vec<_> = response.headers().get_all(header::REFERRER_POLICY).collect();
            assert_eq!(policies, ["same-origin"]);
        }
    }
}
