//! The result of a form, which the page after the redirect shows once. The result is in a cookie, which the response
//! with that page deletes. So a reload neither sends the form again nor shows a secret again. The result is not in the
//! URL, so a link cannot make a page show a false result.
//!
//! The application data of the pages has the [`HostCookie`] of results. The result is also stored for a repetition of
//! the form.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    future::{Ready, ready},
    time::Duration,
};

use actix_web::{FromRequest, HttpRequest, cookie::Cookie, dev::Payload, http::StatusCode};
use sealpost_domain::with_causes;
use sealpost_service::{Error, Sealpost, SentForm};
use serde::{Deserialize, Serialize};

use super::layout::Notice;
use crate::host_cookie::HostCookie;

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

    /// Returns the result as JSON.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a result from JSON. `None` if the JSON is no result.
    pub(crate) fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// Reads the result for the requested page. Returns `None` if there is no result, or if it is for another page.
    pub(crate) fn read(request: &HttpRequest) -> Option<Self> {
        let cookie = request.app_data::<HostCookie>()?.value_in(request)?;
        let flash = Self::from_json(&hex::decode(cookie).ok()?)?;
        let path = flash.path.split(['?', '#']).next();
        (path == Some(request.path())).then_some(flash)
    }

    /// Returns a cookie that deletes the result if this response shows it: the status is 200, and the result is for the
    /// requested page. Otherwise returns `None`, so that a later response can show the result.
    pub(super) fn deletion(request: &HttpRequest, status: StatusCode) -> Option<Cookie<'static>> {
        let is_shown = status == StatusCode::OK && Self::read(request).is_some();
        request.app_data::<HostCookie>().filter(|_| is_shown).map(|cookie| cookie.deletion())
    }
}

impl FromRequest for Flash {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::read(request).unwrap_or_default()))
    }
}

/// Returns the stored result of a form that was sent before. Waits up to `wait` for the first use to store it. `None`
/// if no result is stored by then.
///
/// Later than two minutes after the first use, returns only a notice instead of the whole result.
pub(crate) async fn first_result(
    sealpost: &Sealpost,
    form: &SentForm,
    wait: Duration,
) -> Option<Flash> {
    let stored = sealpost.accounts.form_result(form, wait).await;
    let result = stored.inspect_err(log_lost_result).ok().flatten()?;
    let flash = Flash::from_json(&result.content)?;
    Some(if result.is_recent { flash } else { Flash::notice(flash.path(), REPEATED) })
}

/// Stores the result of a used form, in case the browser sends the form again. Only logs an error, because the action
/// has been performed.
pub(crate) async fn store_result(sealpost: &Sealpost, form: &SentForm, flash: &Flash) {
    let stored = sealpost.accounts.set_form_result(form, &flash.to_json()).await;
    if let Err(error) = stored {
        log_lost_result(&error);
    }
}

/// Logs that the result of a form is not available for a repetition of the form.
pub(crate) fn log_lost_result(error: &Error) {
    tracing::error!(
        error = with_causes(error),
        "the result of a form is not stored or not found for a repetition"
    );
}

/// Maximum time for which a repeated form waits for the result of the first use.
pub(crate) const RESULT_WAIT: Duration = Duration::from_secs(10);
const REPEATED: &str = "This form was sent before. It acted once, and nothing was done now.";
