//! Requests that a browser sends to the dashboard, with its cookie and the hidden fields of its forms.

use crate::support::{Client, Identity, Response};

/// A browser that is signed in to the dashboard.
pub(crate) struct Browser<'a> {
    client: &'a Client,
    /// The session cookie as `name=value`, in the form of the `Cookie` header.
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    #[track_caller]
    pub(crate) fn sign_in(client: &'a Client, identity: &Identity) -> Self {
        let response = sign_in(client, identity, &[("Sec-Fetch-Site", "same-origin")]);
        let location = response.header("location").unwrap_or_default();
        assert!(response.status == 303 && location.ends_with("/dashboard"), "{response:?}");
        let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { client, cookie }
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
        between(&self.page("/dashboard"), "name=\"form_token\" value=\"", "\"")
    }

    /// Submits a form. `site` is the value of the header `Sec-Fetch-Site`.
    pub(crate) fn post(&self, path: &str, form: &str, site: &str) -> Response {
        let request = self.client.post(path).header("Cookie", &self.cookie);
        request.header("Sec-Fetch-Site", site).body(FORM, form.as_bytes()).response()
    }

    /// Submits a form from the same origin, and returns the secret in the response page.
    #[track_caller]
    pub(crate) fn secret(&self, path: &str, form: &str) -> String {
        let form = format!("form_token={}&{form}", self.form_token());
        let response = self.post(path, &form, "same-origin");
        assert_eq!(response.status, 200, "{path}");
        between(&String::from_utf8(response.body).unwrap(), "class=\"secret\">", "<")
    }
}

/// Submits the sign-in form of the dashboard.
pub(crate) fn sign_in(client: &Client, identity: &Identity, headers: &[(&str, &str)]) -> Response {
    let form = format!(
        "account_id={}&login_secret={}",
        identity.account,
        identity.login_secret.as_deref().unwrap()
    );
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
