//! The cookies of the console. Their names differ from those of the dashboard, because browsers send a cookie to all
//! ports of a host.

use actix_web::cookie::SameSite;

use super::state::ConsoleState;
use crate::host_cookie::HostCookie;

/// Returns the cookie that contains the session token of an operator.
pub(super) fn session(state: &ConsoleState) -> HostCookie {
    let is_secure = state.is_secure;
    HostCookie { name: "sealpost-console", is_secure, same_site: SameSite::Strict }
}

/// Returns the cookie that carries the result of a form to the page after the redirect.
pub(super) fn result(state: &ConsoleState) -> HostCookie {
    HostCookie { name: "sealpost-console-result", ..session(state) }
}
