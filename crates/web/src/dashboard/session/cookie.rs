//! The cookie with the session token. Over HTTPS its name has the prefix `__Host-`, which binds the cookie to this
//! host and to HTTPS (RFC 6265bis, section 4.1.3.2). Browsers reject this prefix over plain HTTP on loopback.

use actix_web::{
    HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
};

use crate::state::WebState;

/// Returns the session token of the request.
pub(in crate::dashboard) fn session_token(app: &WebState, request: &HttpRequest) -> Option<String> {
    request.cookie(name(app)).map(|cookie| cookie.value().to_owned())
}

/// Creates the cookie of a new session. The browser deletes it when the browser session ends.
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
