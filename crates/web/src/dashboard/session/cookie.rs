//! The cookie that contains the session token. Over HTTPS, its name starts with `__Host-`, which binds the cookie to
//! this host (RFC 6265bis, section 4.1.3.2). Over plain HTTP, the name has no such prefix, because browsers reject the
//! prefix there.

use actix_web::{
    HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
};

use crate::state::WebState;

/// Returns the session token in the cookie of a request. Returns `None` if the request does not have this cookie.
pub(in crate::dashboard) fn session_token(app: &WebState, request: &HttpRequest) -> Option<String> {
    request.cookie(name(app)).map(|cookie| cookie.value().to_owned())
}

/// Creates the cookie of a new session. The cookie has no expiry, so the browser deletes it when the user closes the
/// browser.
pub(in crate::dashboard) fn set(app: &WebState, token: String) -> Cookie<'static> {
    Cookie::build(name(app), token)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(app.api.is_secure)
        .finish()
}

/// Creates a cookie that makes the browser delete the session cookie.
pub(in crate::dashboard) fn delete(app: &WebState) -> Cookie<'static> {
    let mut cookie = set(app, String::new());
    cookie.set_max_age(CookieAge::ZERO);
    cookie
}

fn name(app: &WebState) -> &'static str {
    if app.api.is_secure { "__Host-sealpost" } else { "sealpost" }
}
