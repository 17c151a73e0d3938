//! Cookies that browsers send only to this host, and that no script can read. These cookies have no expiry, so browsers
//! delete them at the end of the browser session.

use actix_web::{
    HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
};

/// The name and the attributes of a cookie.
#[derive(Clone, Copy)]
pub(crate) struct HostCookie {
    /// The name without the prefix.
    pub(crate) name: &'static str,
    /// Whether the service has an https URL. If true, the name starts with `__Host-`, so that browsers bind the cookie
    /// to this host (RFC 6265bis, section 4.1.3.2). Over plain HTTP, browsers reject cookies with this prefix.
    pub(crate) is_secure: bool,
    /// With `Strict`, browsers do not send the cookie with requests from pages of other sites.
    pub(crate) same_site: SameSite,
}

impl HostCookie {
    /// Returns the value in a request. Returns `None` if the request does not have this cookie.
    pub(crate) fn value_in(self, request: &HttpRequest) -> Option<String> {
        request.cookie(&self.full_name()).map(|cookie| cookie.value().to_owned())
    }

    /// Creates a cookie with this value.
    pub(crate) fn with_value(self, value: String) -> Cookie<'static> {
        Cookie::build(self.full_name(), value)
            .path("/")
            .http_only(true)
            .same_site(self.same_site)
            .secure(self.is_secure)
            .finish()
    }

    /// Creates a cookie that makes the browser delete this cookie.
    pub(crate) fn deletion(self) -> Cookie<'static> {
        let mut cookie = self.with_value(String::new());
        cookie.set_max_age(CookieAge::ZERO);
        cookie
    }

    fn full_name(self) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        format!("{prefix}{}", self.name)
    }
}
