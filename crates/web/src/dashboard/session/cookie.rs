//! The cookie that carries a session token. Over HTTPS it is bound to this host and this scheme by its name's prefix
//! (RFC 6265bis, 4.1.3.2); over plain HTTP, which only loopback may use, browsers refuse such a name.

use actix_web::{
    HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
};

use crate::state::WebState;

/// The token of the request's cookie.
pub(super) fn token_of(app: &WebState, request: &HttpRequest) -> Option<String> {
    request.cookie(name(app)).map(|cookie| cookie.value().to_owned())
}

/// A cookie for a session that has begun. It ends with the browser's own session, or with the token.
pub(super) fn begin(app: &WebState, token: String) -> Cookie<'static> {
    Cookie::build(name(app), token)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(app.api.is_secure)
        .finish()
}

/// The same cookie without a session, gone at once.
pub(super) fn end(app: &WebState) -> Cookie<'static> {
    let mut cookie = begin(app, String::new());
    cookie.set_max_age(CookieAge::ZERO);
    cookie
}

fn name(app: &WebState) -> &'static str {
    if app.api.is_secure { "__Host-sealpost" } else { "sealpost" }
}
