//! The dashboard: every page and form in a real browser, and what keeps others' pages and others' accounts out.

use crate::support::{
    Answer, Client, Database, Identity, Server, chromium, on_both, root, run_node, text,
};

on_both!(
    a_person_walks_through_every_page_in_a_browser,
    a_form_of_somebody_else_does_nothing,
    another_account_is_not_shown,
    looking_counts_against_no_plan,
    the_cookie_is_for_this_service_alone,
);

fn a_person_walks_through_every_page_in_a_browser(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms,10ms,10ms"]);
    let program = root().join("tests/blackbox/oracles/dashboard.mjs");
    let ran = run_node(&program, &[&server.url, &chromium()]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}

/// A browser that is signed in: its cookie, and what its own forms carry.
struct Browser<'a> {
    client: &'a Client,
    cookie: String,
}

impl<'a> Browser<'a> {
    fn sign_in(client: &'a Client, who: &Identity) -> Self {
        let answer = sign_in(client, who, &[("Sec-Fetch-Site", "same-origin")]);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/dashboard")));
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { client, cookie }
    }

    fn get(&self, path: &str) -> Answer {
        self.client.request("GET", path).header("Cookie", &self.cookie).answer()
    }

    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body).unwrap()
    }

    fn form_token(&self) -> String {
        let page = self.page("/dashboard");
        let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    fn post(&self, path: &str, form: &str, site: &str) -> Answer {
        let request = self.client.post(path).header("Cookie", &self.cookie);
        request.header("Sec-Fetch-Site", site).body(FORM, form.as_bytes()).answer()
    }
}

fn sign_in(client: &Client, who: &Identity, headers: &[(&str, &str)]) -> Answer {
    let form =
        format!("account_id={}&login_secret={}", who.account, who.login_secret.as_deref().unwrap());
    let mut request = client.post("/dashboard/sign-in");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(FORM, form.as_bytes()).answer()
}

fn a_form_of_somebody_else_does_nothing(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, mallory) = (client.newcomer(), client.newcomer());
    for headers in [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")] {
        let answer = sign_in(client, &alice, &[headers]);
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{headers:?}");
    }
    let browser = Browser::sign_in(client, &alice);
    let (own, other) = (browser.form_token(), Browser::sign_in(client, &mallory).form_token());
    assert_ne!(own, other);
    let revoke = format!("/dashboard/keys/{}/revoke", alice.key);
    let form = |token: &str| format!("form_token={token}&typed={}", alice.key);
    for (token, site) in
        [("", "same-origin"), (other.as_str(), "same-origin"), (own.as_str(), "cross-site")]
    {
        let answer = browser.post(&revoke, &form(token), site);
        assert_eq!(answer.status, 403, "{token} {site}");
        assert!(String::from_utf8_lossy(&answer.body).contains("Nothing was done"));
    }
    assert_eq!(client.status(&alice).ok()["status"], "active");
    assert_eq!(browser.post(&revoke, &form(&own), "same-origin").status, 303);
    client.status(&alice).refused(403, "KEY_INACTIVE");
}

fn another_account_is_not_shown(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let hook = text(&client.register(&bob, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(client, &alice);
    for path in [
        format!("/dashboard/keys/{}", bob.key),
        format!("/dashboard/keys/{}/revoke", bob.key),
        format!("/dashboard/keys/{}/webhooks/{hook}", bob.key),
        format!("/dashboard/keys/{}/webhooks/{hook}", alice.key),
        "/dashboard/keys/nobody".to_owned(),
    ] {
        assert_eq!(browser.get(&path).status, 404, "{path}");
    }
    let token = browser.form_token();
    let form = format!("form_token={token}&typed={}", bob.key);
    let revoke = format!("/dashboard/keys/{}/revoke", bob.key);
    assert_eq!(browser.post(&revoke, &form, "same-origin").status, 404);
    assert_eq!(client.status(&bob).ok()["status"], "active");
    assert!(!browser.page("/dashboard").contains(&bob.key));
}

fn looking_counts_against_no_plan(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let browser = Browser::sign_in(client, &alice);
    let before = client.status(&alice).ok();
    for _ in 0..5 {
        browser.page("/dashboard");
        browser.page(&format!("/dashboard/keys/{}", alice.key));
    }
    let used = |status: &serde_json::Value| status["usage"]["day"]["used"].as_u64().unwrap();
    assert_eq!(used(&client.status(&alice).ok()), used(&before) + 1);
}

fn the_cookie_is_for_this_service_alone(database: &Database) {
    let cookie_of = |server: &Server| {
        let client = server.client();
        let answer = sign_in(client, &client.newcomer(), &[]);
        answer.header("set-cookie").unwrap().to_owned()
    };
    let server = database.serve();
    let cookie = cookie_of(&server);
    assert!(cookie.starts_with("sealpost="), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure"), "{cookie}");
    server.stop();
    let server = database.serve_with(&["--base-url", "https://seal.example.org"]);
    let cookie = cookie_of(&server);
    assert!(cookie.starts_with("__Host-sealpost=") && cookie.contains("Secure"), "{cookie}");
}

const FORM: &str = "application/x-www-form-urlencoded";
