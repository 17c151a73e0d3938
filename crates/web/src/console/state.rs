//! The state that all pages of the console share.

use actix_web::{HttpRequest, cookie::SameSite, web};
use sealpost_api::AdminState;

use crate::{
    host_cookie::HostCookie,
    html::{PageResponse, SiteAddress},
};

/// The state that all pages of the console share.
pub struct ConsoleState {
    pub(super) admin: web::Data<AdminState>,
    /// The URL at which the console is served.
    pub(super) site: SiteAddress,
    /// True if browsers reach the console over HTTPS.
    pub(super) is_secure: bool,
}

impl ConsoleState {
    /// Creates the state. `admin` is the state of the API for operators. The console and this API share the list of
    /// operators and the rate limit of sign-ins.
    pub fn new(admin: web::Data<AdminState>) -> Self {
        let site = SiteAddress::new(&admin.url);
        let is_secure = admin.url.starts_with("https://");
        Self { admin, site, is_secure }
    }

    /// Returns the cookie with the session token of an operator. Its name differs from the name of the dashboard's
    /// cookie, because browsers send a cookie to all ports of a host.
    pub(super) fn session_cookie(&self) -> HostCookie {
        let is_secure = self.is_secure;
        HostCookie { name: "sealpost-console", is_secure, same_site: SameSite::Strict }
    }

    /// Returns the cookie that carries the result of a form to the page after the redirect.
    pub(super) fn result_cookie(&self) -> HostCookie {
        HostCookie { name: "sealpost-console-result", ..self.session_cookie() }
    }
}

/// Returns the shared state of the console, or an error page if the server was built without this state. Extractors use
/// this function, because they receive only the request.
pub(super) fn console_state(
    request: &HttpRequest,
) -> Result<web::Data<ConsoleState>, PageResponse> {
    let state = request.app_data::<web::Data<ConsoleState>>().cloned();
    state.ok_or_else(|| super::response::internal_error(&SiteAddress::new("")))
}
