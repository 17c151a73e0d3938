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
use crate::{
    html::{Notice, SiteAddress},
    state::WebState,
};

/// The cookie that carries a result. Dashboard and console have one each.
#[derive(Clone, Copy)]
pub(crate) struct FlashCookie {
    pub(crate) name: &'static str,
    pub(crate) is_secure: bool,
}

/// The result of a form. Empty if the page was not reached from a form.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Flash {
    path: String,
    notice: String,
    is_failure: bool,
    shown_once: BTreeMap<String, String>,
}

impl Flash {
    /// Creates a result that the page at `path` shows as a notice.
    pub(crate) fn notice(path: &str, notice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), notice: notice.into(), ..Self::default() }
    }

    /// Creates a result that the page at `path` shows as a success or as a failure.
    pub(in crate::dashboard) fn outcome(path: &str, outcome: Result<String, String>) -> Self {
        let is_failure = outcome.is_err();
        let notice = outcome.unwrap_or_else(|problem| problem);
        Self { is_failure, ..Self::notice(path, notice) }
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

    /// Returns the notice.
    pub(crate) fn shown(&self) -> Notice<'_> {
        Notice { text: &self.notice, is_failure: self.is_failure }
    }

    /// Returns a value that is shown once. `None` if the page was reloaded, or not reached from a form.
    pub(in crate::dashboard) fn value(&self, name: &str) -> Option<&str> {
        self.shown_once.get(name).map(String::as_str)
    }

    /// Redirects to the page of the dashboard that shows the result.
    pub(in crate::dashboard) fn redirect(&self, app: &WebState) -> PageResponse {
        self.redirect_with(&app.site, cookie_of(app))
    }

    /// Redirects to the page that shows the result.
    pub(crate) fn redirect_with(&self, site: &SiteAddress, cookie: FlashCookie) -> PageResponse {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let hex = json.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        PageResponse::redirect(site, &self.path).with_cookie(&cookie.with_value(hex))
    }

    /// Reads the result for the requested page.
    pub(crate) fn read(cookie: FlashCookie, request: &HttpRequest) -> Option<Self> {
        let cookie = request.cookie(cookie.name)?;
        let hex = cookie.value();
        let byte = |at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let json = (0..hex.len()).step_by(2).map(byte).collect::<Option<Vec<_>>>()?;
        let flash: Self = serde_json::from_slice(&json).ok()?;
        let path = flash.path.split(['?', '#']).next();
        (path == Some(request.path())).then_some(flash)
    }

    /// Returns the cookie that deletes the result, once the requested page of the dashboard has shown it.
    pub(super) fn deletion(request: &HttpRequest, status: StatusCode) -> Option<Cookie<'static>> {
        let cookie = cookie_of(&*web_state(request).ok()?);
        let is_shown = status == StatusCode::OK && Self::read(cookie, request).is_some();
        is_shown.then(|| cookie.deletion())
    }
}

impl FlashCookie {
    /// Creates the cookie that deletes the result.
    pub(crate) fn deletion(self) -> Cookie<'static> {
        let mut cookie = self.with_value(String::new());
        cookie.set_max_age(CookieAge::ZERO);
        cookie
    }

    /// Creates the cookie. It has no expiry, so that browsers keep it in memory only.
    fn with_value(self, value: String) -> Cookie<'static> {
        Cookie::build(self.name, value)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(self.is_secure)
            .finish()
    }
}

impl FromRequest for Flash {
    type Error = PageResponse;
    type Future = std::future::Ready<Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let app = web_state(request);
        std::future::ready(app.map(|app| Self::read(cookie_of(&app), request).unwrap_or_default()))
    }
}

fn cookie_of(app: &WebState) -> FlashCookie {
    let is_secure = app.api.is_secure;
    let name = if is_secure { "__Host-sealpost-result" } else { "sealpost-result" };
    FlashCookie { name, is_secure }
}
