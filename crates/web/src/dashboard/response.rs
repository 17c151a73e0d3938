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
    web,
};
use askama::Template;
use sealpost_api::whole_seconds;
use sealpost_service::Error;

use super::{cookie, frame::Frame, refused::Refused};
use crate::{
    pages::{self, Place},
    state::WebState,
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
    base: &'a str,
    title: &'a str,
    detail: &'a str,
}

impl Page {
    /// A page that was asked for.
    pub(super) fn show(frame: Frame<'_>, title: &str, main: &impl Template) -> Self {
        Self::new(StatusCode::OK, frame.around(title, main))
    }

    /// The page again, because its form was refused.
    pub(super) fn again(
        frame: Frame<'_>,
        title: &str,
        refused: &Refused,
        main: &impl Template,
    ) -> Self {
        Self::new(refused.status, frame.around(title, main)).refusing(refused)
    }

    /// To another page of the dashboard, after a form was carried out.
    pub(super) fn to(place: &Place, path: &str) -> Self {
        let location = format!("{}{path}", place.base_path);
        Self::new(StatusCode::SEE_OTHER, String::new()).with(header::LOCATION, location)
    }

    /// To where one signs in; a session that has ended is forgotten.
    pub(super) fn to_sign_in(app: &WebState) -> Self {
        Self::to(app.docs.place(), "/dashboard/sign-in").with_cookie(&cookie::end(app))
    }

    pub(super) fn with_cookie(self, cookie: &Cookie<'static>) -> Self {
        self.with(header::SET_COOKIE, cookie.to_string())
    }

    pub(super) fn not_found(place: &Place) -> Self {
        let detail = "There is no such page in your account.";
        Self::fault(place, StatusCode::NOT_FOUND, "Not found", detail)
    }

    pub(super) fn wrong_method(place: &Place, allowed: &str) -> Self {
        let detail = "This address takes no such request. Go back and use the page's own buttons.";
        Self::fault(place, StatusCode::METHOD_NOT_ALLOWED, "Not possible here", detail)
            .with(header::ALLOW, allowed.to_owned())
    }

    /// A form that did not come from a page of this session.
    pub(super) fn forged(place: &Place) -> Self {
        let detail = "This form was not sent from your own dashboard, or your session has changed \
            since the page was opened. Nothing was done. Open the page again and repeat what you did.";
        Self::fault(place, StatusCode::FORBIDDEN, NOTHING_DONE, detail)
    }

    /// Whoever is signed in asks more often than people do.
    pub(super) fn throttled(place: &Place, retry_after: Duration) -> Self {
        let seconds = whole_seconds(retry_after);
        let text = format!(
            "Your account has asked for more pages in a minute than one may. Nothing was done; try again in {seconds} s."
        );
        let status = StatusCode::TOO_MANY_REQUESTS;
        let refused = Refused { text, status, retry_after_s: Some(seconds) };
        Self::fault(place, status, "Too many requests", &refused.text).refusing(&refused)
    }

    pub(super) fn unreadable(place: &Place) -> Self {
        let detail = "The form could not be read, or came too slowly. Nothing was done; try again.";
        Self::fault(place, StatusCode::BAD_REQUEST, NOTHING_DONE, detail)
    }

    pub(super) fn broken(place: &Place) -> Self {
        let detail = "Something went wrong on our side. Nothing is lost; try again in a moment.";
        Self::fault(place, StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong", detail)
    }

    /// What the service said.
    pub(super) fn of(place: &Place, error: &Error) -> Self {
        let Some(refusal) = error.refusal() else {
            let error: &dyn std::error::Error = error;
            tracing::error!(error, "a page failed");
            return Self::broken(place);
        };
        let refused = Refused::from(refusal);
        match refused.status {
            StatusCode::NOT_FOUND => Self::not_found(place),
            status => Self::fault(place, status, NOTHING_DONE, &refused.text).refusing(&refused),
        }
    }

    fn fault(place: &Place, status: StatusCode, title: &str, detail: &str) -> Self {
        let main = FaultPage { base: &place.base_path, title, detail };
        Self::new(status, Frame::public(place).around(title, &main))
    }

    fn new(status: StatusCode, body: String) -> Self {
        Self { status, body, headers: Vec::new() }
    }

    /// With what belongs into the head of an answer that refuses.
    fn refusing(mut self, refused: &Refused) -> Self {
        if let Some(seconds) = refused.retry_after_s {
            self = self.with(header::RETRY_AFTER, seconds.to_string());
        }
        if refused.status == StatusCode::UNAUTHORIZED {
            self = self.with(header::WWW_AUTHENTICATE, "Bearer".to_owned());
        }
        self
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

/// What every handler can reach, for an extractor.
pub(super) fn app_of(request: &HttpRequest) -> Result<web::Data<WebState>, Page> {
    let app = request.app_data::<web::Data<WebState>>().cloned();
    app.ok_or_else(|| Page::broken(&Place::new("")))
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

const NOTHING_DONE: &str = "Nothing was done";

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
        let place = Place::new("http://127.0.0.1:8080");
        let page = Page::show(Frame::public(&place), "Hello", &Secret { secret: "whsec_x" });
        let page = page.with_cookie(&Cookie::new("sealpost", "st_x"));
        for written in [format!("{page:?}"), page.to_string()] {
            assert!(!written.contains("whsec_x") && !written.contains("st_x"), "{written}");
            assert!(written.contains("200"), "{written}");
        }
        let answer = page.answer();
        assert_eq!(answer.headers().get(header::SET_COOKIE).unwrap(), "sealpost=st_x");
    }
}
