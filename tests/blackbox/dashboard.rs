//! The dashboard: every page and form in a real browser, and what keeps others' pages and others' accounts out.

use crate::support::{
    Answer, Client, Database, Identity, Server, chromium, on_both, root, run_node, text,
    within_one_minute,
};

on_both!(
    a_person_walks_through_every_page_in_a_browser,
    a_form_of_somebody_else_does_nothing,
    another_account_is_not_shown,
    looking_counts_against_no_plan,
    an_account_looks_and_acts_only_so_often,
    identities_are_made_as_often_as_an_address_may_activate,
    a_key_that_is_not_active_is_shown_and_says_why_it_cannot_be_changed,
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

fn an_account_looks_and_acts_only_so_often(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=9"]);
    let client = server.client();
    // Each run has an account of its own, which has asked for nothing yet.
    let (looked, acted, other) = within_one_minute(|| {
        let (alice, bob) = (client.newcomer(), client.newcomer());
        // A second session is no second allowance.
        let browsers = [Browser::sign_in(client, &alice), Browser::sign_in(client, &alice)];
        let token = browsers[0].form_token();
        let make = format!("form_token={token}&label=");
        let acted: Vec<Answer> =
            (0..2).map(|_| browsers[0].post("/dashboard/keys", &make, "same-origin")).collect();
        let looked: Vec<Answer> = browsers.iter().map(|one| one.get("/dashboard")).collect();
        (looked, acted, Browser::sign_in(client, &bob).get("/dashboard"))
    });
    let statuses = |answers: &[Answer]| answers.iter().map(|one| one.status).collect::<Vec<_>>();
    assert_eq!(statuses(&acted), [422, 422], "a form counts as four pages");
    assert_eq!(statuses(&looked), [429, 429]);
    assert_eq!(other.status, 200);
    for answer in looked {
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(String::from_utf8_lossy(&answer.body).contains("Too many requests"));
    }
}

fn identities_are_made_as_often_as_an_address_may_activate(database: &Database) {
    let server = database.serve();
    let alice = server.client().newcomer();
    server.stop();
    let made = within_one_minute(|| {
        let server = database.serve_with(&["--activations-per-minute=2"]);
        let browser = Browser::sign_in(server.client(), &alice);
        let form = format!("form_token={}&label=another", browser.form_token());
        let make = |_| browser.post("/dashboard/keys", &form, "same-origin");
        (0..3).map(make).collect::<Vec<_>>()
    });
    let is_made = made.iter().map(|answer| answer.header("location").is_some());
    assert_eq!(is_made.collect::<Vec<_>>(), [true, true, false]);
    assert!(String::from_utf8_lossy(&made[2].body).contains("from one address is too often"));
}

fn a_key_that_is_not_active_is_shown_and_says_why_it_cannot_be_changed(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let hook = text(&client.register(&alice, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(client, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    let page = format!("{key}/webhooks/{hook}");
    let form = |what: &str| format!("form_token={}&do={what}&hours=1", browser.form_token());
    let change = "Make a new signing secret";
    assert!(browser.page(&page).contains(change) && browser.page(&key).contains("Register"));
    database.operate(&["key", "deactivate", &alice.key]);
    for shown in [browser.page(&key), browser.page(&page)] {
        assert!(shown.contains("This key is deactivated"), "{shown}");
        assert!(!shown.contains(change) && !shown.contains(">Register<"), "{shown}");
    }
    for what in ["rotate_secret", "recover"] {
        let answer = browser.post(&page, &form(what), "same-origin");
        assert_eq!(answer.status, 403, "{what}");
        assert!(String::from_utf8_lossy(&answer.body).contains("ask the operator"));
    }
    assert_eq!(browser.post(&page, &form("delete"), "same-origin").status, 303);
    assert_eq!(browser.get(&page).status, 404);
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
    for https in [&["--base-url", "https://seal.example.org"][..], &["--behind-tls-proxy"]] {
        let server = database.serve_with(https);
        let cookie = cookie_of(&server);
        assert!(cookie.starts_with("__Host-sealpost=") && cookie.contains("Secure"), "{cookie}");
        server.stop();
    }
}

const FORM: &str = "application/x-www-form-urlencoded";
