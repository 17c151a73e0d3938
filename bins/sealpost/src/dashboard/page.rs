//! Answers to a browser: pages with headers that let nothing in from elsewhere, redirects, and pages that say what went
//! wrong.

use std::fmt;

use actix_web::{
    HttpRequest, HttpResponse, Responder, ResponseError,
    body::BoxBody,
    cookie::Cookie,
    http::{StatusCode, header},
};
use askama::Template;
use sealpost_service::Error;

use super::cookie;
use crate::{
    http::{App, Problem},
    pages,
};

/// An answer to a browser. As an error it is one that ends a handler early.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    status: StatusCode,
    body: String,
    location: Option<String>,
    cookie: Option<Box<Cookie<'static>>>,
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
        let (status, location) = (StatusCode::SEE_OTHER, Some(location.into()));
        Self { status, body: String::new(), location, cookie: None }
    }

    /// To where one signs in; a session that has ended is forgotten.
    pub(super) fn to_sign_in(app: &App) -> Self {
        Self::to("/dashboard/sign-in").with_cookie(cookie::end(app))
    }

    pub(super) fn with_cookie(self, cookie: Cookie<'static>) -> Self {
        Self { cookie: Some(Box::new(cookie)), ..self }
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
            Ok(body) => Self { status, body, location: None, cookie: None },
            Err(error) => {
                tracing::error!(%error, "a page cannot be rendered");
                let (status, body) = (StatusCode::INTERNAL_SERVER_ERROR, String::new());
                Self { status, body, location: None, cookie: None }
            }
        }
    }

    fn answer(&self) -> HttpResponse {
        let mut answer = pages::private(self.status, self.body.clone());
        if let Some(location) = self.location.as_deref().and_then(|to| to.try_into().ok()) {
            answer.headers_mut().insert(header::LOCATION, location);
        }
        if let Some(cookie) = &self.cookie
            && answer.add_cookie(cookie).is_err()
        {
            tracing::error!("a cookie cannot be written");
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

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a page with status {}", self.status)
    }
}
