//! The cookies of the dashboard.

use actix_web::cookie::SameSite;

use crate::{host_cookie::HostCookie, state::WebState};

/// Returns the cookie that contains the session token.
pub(in crate::dashboard) fn session(app: &WebState) -> HostCookie {
    HostCookie { name: "sealpost", is_secure: app.api.is_secure, same_site: SameSite::Lax }
}

/// Returns the cookie that carries the result of a form to the page after the redirect.
pub(in crate::dashboard) fn result(app: &WebState) -> HostCookie {
    HostCookie { name: "sealpost-result", same_site: SameSite::Strict, ..session(app) }
}
