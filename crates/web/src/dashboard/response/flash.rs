//! The result of a form, for the page after the redirect. The result is in a cookie, and the page deletes the cookie. So
//! a reload repeats no form and shows no secret again. A link cannot carry a result.

use std::collections::BTreeMap;

use actix_web::{
    FromRequest, HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
    dev::Payload,
    http::StatusCode,
};
use serde::{Deserialize, Serialize};

use super::{PageResponse, web_state};
use crate::state::WebState;

/// The result of a form. Empty if the page was not reached from a form.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::dashboard) struct Flash {
    path: String,
    notice: String,
    shown_once: BTreeMap<String, String>,
}

impl Flash {
    /// Creates a result that the page at `path` shows as a notice.
    pub(in crate::dashboard) fn notice(path: &str, notice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), notice: notice.into(), shown_once: BTreeMap::new() }
    }

    /// Adds a value that the page shows once, such as a secret.
    pub(in crate::dashboard) fn show_once(mut self, name: &str, value: impl Into<String>) -> Self {
        self.shown_once.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the path of the page that shows the result, with its query and fragment.
    pub(in crate::dashboard) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the text of the notice. Empty if there is none.
    pub(in crate::dashboard) fn text(&self) -> &str {
        &self.notice
    }

    /// Returns a value that is shown once. `None` if the page was reloaded, or not reached from a form.
    pub(in crate::dashboard) fn value(&self, name: &str) -> Option<&str> {
        self.shown_once.get(name).map(String::as_str)
    }

    /// Redirects to the page that shows the result.
    pub(in crate::dashboard) fn redirect(&self, app: &WebState) -> PageResponse {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let hex = json.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        PageResponse::redirect(&app.site, &self.path).with_cookie(&cookie(app, hex))
    }

    /// Reads the result for the requested page.
    fn of(app: &WebState, request: &HttpRequest) -> Option<Self> {
        let cookie = request.cookie(name(app))?;
        let hex = cookie.value();
        let byte = |at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let json = (0..hex.len()).step_by(2).map(byte).collect::<Option<Vec<_>>>()?;
        let flash: Self = serde_json::from_slice(&json).ok()?;
        let path = flash.path.split(['?', '#']).next();
        (path == Some(request.path())).then_some(flash)
    }

    /// Returns the cookie that deletes the result, once the requested page has shown it.
    pub(super) fn deletion(request: &HttpRequest, status: StatusCode) -> Option<Cookie<'static>> {
        let app = web_state(request).ok()?;
        let is_shown = status == StatusCode::OK && Self::of(&app, request).is_some();
        is_shown.then(|| {
            let mut cookie = cookie(&app, String::new());
            cookie.set_max_age(CookieAge::ZERO);
            cookie
        })
    }
}

impl FromRequest for Flash {
    type Error = PageResponse;
    type Future = std::future::Ready<Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let app = web_state(request);
        std::future::ready(app.map(|app| Self::of(&app, request).unwrap_or_default()))
    }
}

/// Creates the cookie. It has no expiry, so that browsers keep it in memory only.
fn cookie(app: &WebState, value: String) -> Cookie<'static> {
    Cookie::build(name(app), value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(app.api.is_secure)
        .finish()
}

fn name(app: &WebState) -> &'static str {
    if app.api.is_secure { "__Host-sealpost-result" } else { "sealpost-result" }
}
