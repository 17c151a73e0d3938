//! The result of a form, which the page after the redirect shows once. The result is in a cookie, which the response
//! with that page deletes. So a reload neither sends the form again nor shows a secret again. The result is not in the
//! URL, so a link cannot make a page show a false result.

use std::{
    collections::BTreeMap,
    future::{Ready, ready},
};

use actix_web::{FromRequest, HttpRequest, cookie::Cookie, dev::Payload, http::StatusCode};
use serde::{Deserialize, Serialize};

use super::{PageResponse, web_state};
use crate::{
    host_cookie::HostCookie,
    html::{Notice, SiteAddress},
    state::WebState,
};

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
    pub(crate) fn outcome(path: &str, outcome: Result<String, String>) -> Self {
        let is_failure = outcome.is_err();
        let notice = outcome.unwrap_or_else(|problem| problem);
        Self { is_failure, ..Self::notice(path, notice) }
    }

    /// Adds a value that the page shows once, such as a secret.
    pub(crate) fn show_once(mut self, name: &str, value: impl Into<String>) -> Self {
        self.shown_once.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the path of the page that shows the result, with its query and fragment.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the notice.
    pub(crate) fn shown(&self) -> Notice<'_> {
        Notice { text: &self.notice, is_failure: self.is_failure }
    }

    /// Returns a value that is shown once. `None` if the page was reloaded, or not reached from a form.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.shown_once.get(name).map(String::as_str)
    }

    /// Redirects to the page of the dashboard that shows the result.
    pub(crate) fn redirect(&self, app: &WebState) -> PageResponse {
        self.redirect_with(&app.site, app.result_cookie())
    }

    /// Redirects to the page that shows the result.
    pub(crate) fn redirect_with(&self, site: &SiteAddress, cookie: HostCookie) -> PageResponse {
        let value = hex::encode(self.to_json());
        PageResponse::redirect(site, &self.path).with_cookie(&cookie.with_value(value))
    }

    /// Returns the result as JSON.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a result from JSON. `None` if the JSON is no result.
    pub(crate) fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// Reads the result for the requested page. Returns `None` if there is no result, or if it is for another page.
    pub(crate) fn read(cookie: HostCookie, request: &HttpRequest) -> Option<Self> {
        let flash = Self::from_json(&hex::decode(cookie.value_in(request)?).ok()?)?;
        let path = flash.path.split(['?', '#']).next();
        (path == Some(request.path())).then_some(flash)
    }

    /// Returns a cookie that deletes the result if this response shows it: the status is 200, and the result is for the
    /// requested page. Otherwise returns `None`, so that a later response can show the result.
    pub(super) fn deletion(request: &HttpRequest, status: StatusCode) -> Option<Cookie<'static>> {
        let cookie = web_state(request).ok()?.result_cookie();
        let is_shown = status == StatusCode::OK && Self::read(cookie, request).is_some();
        is_shown.then(|| cookie.deletion())
    }
}

impl FromRequest for Flash {
    type Error = PageResponse;
    type Future = Ready<Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let app = web_state(request);
        ready(app.map(|app| Self::read(app.result_cookie(), request).unwrap_or_default()))
    }
}
