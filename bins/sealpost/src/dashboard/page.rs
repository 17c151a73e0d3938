//! Answers to a browser: pages with headers that let nothing in from elsewhere, redirects, and pages that say what went
//! wrong.

use std::{fmt, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse, Responder, ResponseError,
    body::BoxBody,
    cookie::Cookie,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
};
use askama::Template;
use sealpost_service::Error;

use super::cookie;
use crate::{
    http::{App, Problem, whole_seconds},
    pages,
};

/// An answer to a browser. As an error it is one that ends a handler early.
pub(crate) struct Page {
    status: StatusCode,
    body: String,
    headers: Vec<(HeaderName, String)>,
}

/// What went wrong.
#[derive(Template)]
#[template(path = "dashboard/fault.html")]
struct FaultPage<'a> {
    title: &'a str,
    detail: &'a str,
}

impl Page {
    /// A page that was asked for.
    pub(super) fn show(page: &impl Template) -> Self {
        Self::render(StatusCode::OK, page)
    }

    /// The page again, because something in its form was refused.
    pub(super) fn again(page: &impl Template) -> Self {
        Self::render(StatusCode::UNPROCESSABLE_ENTITY, page)
    }

    /// To another page, after a form was carried out.
    pub(super) fn to(location: impl Into<String>) -> Self {
        Self { status: StatusCode::SEE_OTHER, body: String::new(), headers: Vec::new() }
            .with(header::LOCATION, location.into())
    }

    /// To where one signs in; a session that has ended is forgotten.
    pub(super) fn to_sign_in(app: &App) -> Self {
        Self::to("/dashboard/sign-in").with_cookie(&cookie::end(app))
    }

    pub(super) fn with_cookie(self, cookie: &Cookie<'static>) -> Self {
        self.with(header::SET_COOKIE, cookie.to_string())
    }

    pub(super) fn not_found() -> Self {
        Self::fault(StatusCode::NOT_FOUND, "Not found", "There is no such page in your account.")
    }

    pub(super) fn wrong_method() -> Self {
        let detail = "This address takes no such request. Go back and use the page's own buttons.";
        Self::fault(StatusCode::METHOD_NOT_ALLOWED, "Not possible here", detail)
    }

    /// A form that did not come from a page of this session.
    pub(super) fn forged() -> Self {
        let detail = "This form was not sent from your own dashboard, or your session has changed \
            since the page was opened. Nothing was done. Open the page again and repeat what you did.";
        Self::fault(StatusCode::FORBIDDEN, "Nothing was done", detail)
    }

    /// Whoever is signed in asks more often than people do.
    pub(super) fn throttled(retry_after: Duration) -> Self {
        let seconds = whole_seconds(retry_after);
        let detail = format!(
            "Your account has asked for more pages in a minute than one may. Nothing was done; try again in {seconds} s."
        );
        Self::fault(StatusCode::TOO_MANY_REQUESTS, "Too many requests", &detail)
            .with(header::RETRY_AFTER, seconds.to_string())
    }

    pub(super) fn unreadable() -> Self {
        let detail = "The form could not be read, or came too slowly. Nothing was done; try again.";
        Self::fault(StatusCode::BAD_REQUEST, "Nothing was done", detail)
    }

    pub(super) fn broken() -> Self {
        let detail = "Something went wrong on our side. Nothing is lost; try again in a moment.";
        Self::fault(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong", detail)
    }

    /// What the service said.
    pub(super) fn of(error: &Error) -> Self {
        let Some(refusal) = error.refusal() else {
            let error: &dyn std::error::Error = error;
            tracing::error!(error, "a page failed");
            return Self::broken();
        };
        let status = Problem::status_of(refusal.code());
        match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            _ => Self::fault(status, "Nothing was done", &refusal.to_string()),
        }
    }

    pub(super) fn fault(status: StatusCode, title: &str, detail: &str) -> Self {
        Self::render(status, &FaultPage { title, detail })
    }

    fn render(status: StatusCode, page: &impl Template) -> Self {
        match page.render() {
            Ok(body) => Self { status, body, headers: Vec::new() },
            Err(error) => {
                tracing::error!(%error, "a page cannot be rendered");
                let (status, body) = (StatusCode::INTERNAL_SERVER_ERROR, String::new());
                Self { status, body, headers: Vec::new() }
            }
        }
    }

    fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn answer(&self) -> HttpResponse {
        let mut answer = pages::private(self.status, self.body.clone());
        for (name, value) in &self.headers {
            if let Ok(value) = HeaderValue::from_str(value) {
                answer.headers_mut().append(name.clone(), value);
            } else {
                tracing::error!(%name, "a header of a page cannot be written");
            }
        }
        answer
    }
}

impl Responder for Page {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        self.answer()
    }
}

impl ResponseError for Page {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        self.answer()
    }
}

/// Neither what it shows nor its cookie: both may be secrets.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("status", &self.status).finish_non_exhaustive()
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a page with status {}", self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "{{ secret }}", ext = "html")]
    struct Secret {
        secret: &'static str,
    }

    #[test]
    fn what_a_page_shows_and_sets_stays_out_of_logs() {
        let page = Page::show(&Secret { secret: "whsec_x" });
        let page = page.with_cookie(&Cookie::new("sealpost", "st_x"));
        for written in [format!("{page:?}"), page.to_string()] {
            assert!(!written.contains("whsec_x") && !written.contains("st_x"), "{written}");
            assert!(written.contains("200"), "{written}");
        }
        let answer = page.answer();
        assert_eq!(answer.headers().get(header::SET_COOKIE).unwrap(), "sealpost=st_x");
    }
}
