//! Requests that a browser sends to the dashboard, with its cookie and the hidden fields of its forms.

use std::sync::OnceLock;

use sealpost_wallet::FormId;

use crate::support::{Client, Identity, Response};

/// A browser that is signed in to the dashboard.
pub(crate) struct Browser<'a> {
    pub(crate) client: &'a Client,
    /// The session cookie as `name=value`, in the form of the `Cookie` header.
    pub(crate) cookie: String,
    /// The token of all forms of the session, once it is known.
    form_token: OnceLock<String>,
}

impl<'a> Browser<'a> {
    #[track_caller]
    pub(crate) fn sign_in(client: &'a Client, identity: &Identity) -> Self {
        let response = sign_in(client, identity, &[("Sec-Fetch-Site", "same-origin")]);
        let location = response.header("location").unwrap_or_default();
        assert!(response.status == 303 && location.ends_with("/dashboard"), "{response:?}");
        let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self::with_cookie(client, cookie)
    }

    /// Continues a session, such as one of another node.
    pub(crate) fn with_cookie(client: &'a Client, cookie: String) -> Self {
        Self { client, cookie, form_token: OnceLock::new() }
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.client.request("GET", path).header("Cookie", &self.cookie).response()
    }

    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body).unwrap()
    }

    pub(crate) fn form_token(&self) -> String {
        let read = || between(&self.page("/dashboard"), "name=\"form_token\" value=\"", "\"");
        self.form_token.get_or_init(read).clone()
    }

    /// Returns the id of a form on a page.
    pub(crate) fn form_id(&self) -> String {
        between(&self.page("/dashboard/account/secret"), "name=\"form_id\" value=\"", "\"")
    }

    /// Submits a form with a fresh id. `site` is the value of the header `Sec-Fetch-Site`.
    pub(crate) fn post(&self, path: &str, form: &str, site: &str) -> Response {
        let id = FormId::generate().unwrap();
        self.post_as_is(path, &format!("{form}&form_id={}", id.expose()), site)
    }

    /// Submits a form whose fields include its id.
    pub(crate) fn post_as_is(&self, path: &str, form: &str, site: &str) -> Response {
        let request = self.client.post(path).header("Cookie", &self.cookie);
        request.header("Sec-Fetch-Site", site).body(FORM, form.as_bytes()).response()
    }

    /// Follows a redirect after a form as a browser does: also sends the cookie of the redirect, which contains the
    /// result of the form. Returns the page.
    #[track_caller]
    pub(crate) fn follow(&self, response: &Response) -> String {
        let path = response.header("location").unwrap().split('#').next().unwrap();
        let result = response.header("set-cookie").unwrap_or_default().split(';').next().unwrap();
        let cookies = format!("{}; {result}", self.cookie);
        let page = self.client.request("GET", path).header("Cookie", &cookies).response();
        assert_eq!(page.status, 200, "{path}");
        String::from_utf8(page.body).unwrap()
    }

    /// Submits a form of this session, and returns the page with its result.
    #[track_caller]
    pub(crate) fn submit(&self, path: &str, form: &str) -> String {
        let form = format!("form_token={}&{form}", self.form_token());
        let response = self.post(path, &form, "same-origin");
        match response.status {
            303 => self.follow(&response),
            _ => String::from_utf8(response.body).unwrap(),
        }
    }

    /// Submits a form from the same origin, and returns the secret on the page with its result.
    #[track_caller]
    pub(crate) fn secret(&self, path: &str, form: &str) -> String {
        between(&self.submit(path, form), "class=\"secret\">", "<")
    }
}

/// Submits the sign-in form of the dashboard.
pub(crate) fn sign_in(client: &Client, identity: &Identity, headers: &[(&str, &str)]) -> Response {
    let form = format!("account_id={}&login_secret={}", identity.account, identity.secret());
    let mut request = client.post("/dashboard/sign-in");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(FORM, form.as_bytes()).response()
}

fn between(page: &str, before: &str, after: &str) -> String {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split(after).next().unwrap().to_owned()
}

const FORM: &str = "application/x-www-form-urlencoded";
