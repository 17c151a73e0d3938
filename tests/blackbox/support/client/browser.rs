//! A browser on the dashboard, as far as requests go: its cookie, and what its own forms carry.

use crate::support::{Answer, Client, Identity};

/// A browser that is signed in.
pub(crate) struct Browser<'a> {
    client: &'a Client,
    /// Name and value.
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    #[track_caller]
    pub(crate) fn sign_in(client: &'a Client, who: &Identity) -> Self {
        let answer = sign_in(client, who, &[("Sec-Fetch-Site", "same-origin")]);
        let location = answer.header("location").unwrap_or_default();
        assert!(answer.status == 303 && location.ends_with("/dashboard"), "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { client, cookie }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.client.request("GET", path).header("Cookie", &self.cookie).answer()
    }

    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body).unwrap()
    }

    pub(crate) fn form_token(&self) -> String {
        between(&self.page("/dashboard"), "name=\"form_token\" value=\"", "\"")
    }

    /// Sends a form from a page of this site, or of another.
    pub(crate) fn post(&self, path: &str, form: &str, site: &str) -> Answer {
        let request = self.client.post(path).header("Cookie", &self.cookie);
        request.header("Sec-Fetch-Site", site).body(FORM, form.as_bytes()).answer()
    }

    /// Sends a form of its own, and gives the secret that it is shown.
    #[track_caller]
    pub(crate) fn secret(&self, path: &str, form: &str) -> String {
        let form = format!("form_token={}&{form}", self.form_token());
        let answer = self.post(path, &form, "same-origin");
        assert_eq!(answer.status, 200, "{path}");
        between(&String::from_utf8(answer.body).unwrap(), "class=\"secret\">", "<")
    }
}

/// The form of somebody who signs in.
pub(crate) fn sign_in(client: &Client, who: &Identity, headers: &[(&str, &str)]) -> Answer {
    let form =
        format!("account_id={}&login_secret={}", who.account, who.login_secret.as_deref().unwrap());
    let mut request = client.post("/dashboard/sign-in");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(FORM, form.as_bytes()).answer()
}

fn between(page: &str, before: &str, after: &str) -> String {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split(after).next().unwrap().to_owned()
}

const FORM: &str = "application/x-www-form-urlencoded";
