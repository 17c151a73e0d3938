//! The cookie that contains the session token of an operator. Its name differs from the name of the dashboard's cookie,
//! because browsers send a cookie to all ports of a host.

use actix_web::{
    HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
};

use super::state::ConsoleState;
use crate::dashboard::response::FlashCookie;

/// Returns the session token in the cookie of a request. Returns `None` if the request does not have this cookie.
pub(super) fn session_token(state: &ConsoleState, request: &HttpRequest) -> Option<String> {
    request.cookie(name(state)).map(|cookie| cookie.value().to_owned())
}

/// Creates the cookie of a new session. It is `SameSite=Strict`, so browsers do not send it with requests from pages of
/// other sites.
pub(super) fn set(state: &ConsoleState, token: String) -> Cookie<'static> {
    Cookie::build(name(state), token)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(state.is_secure)
        .finish()
}

/// Creates a cookie that makes the browser delete the session cookie.
pub(super) fn delete(state: &ConsoleState) -> Cookie<'static> {
    let mut cookie = set(state, String::new());
    cookie.set_max_age(CookieAge::ZERO);
    cookie
}

/// Returns the cookie that carries the result of a form to the page after the redirect.
pub(super) fn result(state: &ConsoleState) -> FlashCookie {
    let is_secure = state.is_secure;
    let name = if is_secure { "__Host-sealpost-console-result" } else { "sealpost-console-result" };
    FlashCookie { name, is_secure }
}

fn name(state: &ConsoleState) -> &'static str {
    if state.is_secure { "__Host-sealpost-console" } else { "sealpost-console" }
}
