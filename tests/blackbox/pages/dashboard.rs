//! The dashboard: every page and form in a real browser, and what keeps others' pages and others' accounts out.

use serde_json::{Value, json};

use crate::support::{
    Answer, Browser, Client, Database, Server, chromium, on_both, root, run_node, sign_in, text,
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
    a_refused_form_has_the_status_that_says_why,
    what_was_done_is_said_to_whoever_did_it_and_by_no_link,
    links_and_redirects_go_through_the_path_that_a_proxy_serves,
    the_cookie_is_for_this_service_alone,
);

fn a_person_walks_through_every_page_in_a_browser(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms,10ms,10ms"]);
    let known = somebody_with_a_past(database, server.client()).to_string();
    let program = root().join("tests/blackbox/oracles/dashboard.mjs");
    let ran = run_node(&program, &[&server.url, &chromium(), &known]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}

/// Somebody whom governance blocks and who has two days in the chart, with what the pages have to show. Days are counted
/// minutes later, which nobody waits for here; so what was really sent goes, lest it is counted besides.
fn somebody_with_a_past(database: &Database, client: &Client) -> Value {
    let who = client.newcomer_named("herodotus");
    for _ in 0..3 {
        client.send(&who, &who.key, "x").ok();
    }
    database.by_hand("DELETE FROM envelopes");
    for (days_ago, sent, received, delivered) in [(0, 5, 4, 2), (1, 10, 0, 0)] {
        database.by_hand(&format!(
            "INSERT INTO daily_counts (api_key_id, day, sent, received, delivered)
            SELECT id, created_at - created_at % 86400000 - {days_ago} * 86400000, {sent}, {received}, {delivered}
            FROM api_keys WHERE id = '{}'",
            who.key
        ));
    }
    database.operate(&["governance", "enforce", &who.key, "--reason", "the council decided"]);
    let status = client.status(&who).ok();
    json!({
        "id": who.account, "secret": who.login_secret, "key": who.key, "did": who.did, "handle": "@herodotus",
        "plan": status["plan"], "usage": status["usage"],
    })
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
    let used = |status: &Value| status["usage"]["day"]["used"].as_u64().unwrap();
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

fn a_refused_form_has_the_status_that_says_why(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer_named("bob"));
    let mut wrong = alice.clone();
    wrong.login_secret.clone_from(&bob.login_secret);
    let answer = sign_in(client, &wrong, &[]);
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")));
    let browser = Browser::sign_in(client, &alice);
    let own = format!("form_token={}", browser.form_token());
    let hooks = format!("/dashboard/keys/{}/webhooks", alice.key);
    for (path, form, status, why) in [
        ("/dashboard/keys", "label=&handle=", 422, "The label"),
        ("/dashboard/keys", "label=a&handle=bob", 409, "belongs to another account"),
        (&*hooks, "url=nowhere", 400, "url"),
    ] {
        let answer = browser.post(path, &format!("{own}&{form}"), "same-origin");
        let page = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, status, "{path} {form}");
        let (_, said) = page.split_once("role=\"alert\">").unwrap();
        assert!(said.split('<').next().unwrap().contains(why), "{said}");
    }
    for (path, allowed) in [("/dashboard/sign-out", "POST"), ("/dashboard/keys", "GET, HEAD, POST")]
    {
        let answer = client.request("PUT", path).answer();
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{path}");
    }
    server.stop();
    let throttled = within_one_minute(|| {
        let server = database.serve_with(&["--logins-per-minute=1"]);
        [sign_in(server.client(), &alice, &[]), sign_in(server.client(), &alice, &[])]
    });
    assert_eq!(throttled.each_ref().map(|answer| answer.status), [303, 429]);
    let wait: u64 = throttled[1].header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

fn what_was_done_is_said_to_whoever_did_it_and_by_no_link(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let hook = text(&client.register(&alice, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(client, &alice);
    let page = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    let linked = browser.page(&format!("{page}?done=recovered&count=4321"));
    assert!(!linked.contains("4321") && !linked.contains("role=\"status\""), "{linked}");
    let form = format!("form_token={}&do=recover&hours=1", browser.form_token());
    let answer = browser.post(&page, &form, "same-origin");
    let said = String::from_utf8(answer.body).unwrap();
    assert!(said.contains("role=\"status\">No notice has failed in that time."), "{said}");
}

fn links_and_redirects_go_through_the_path_that_a_proxy_serves(database: &Database) {
    let server = database.serve_with(&["--base-url", "https://example.org/seal/"]);
    let client = server.client();
    let alice = client.newcomer();
    let location = |answer: &Answer| answer.header("location").unwrap().to_owned();
    let stranger = client.request("GET", "/dashboard").answer();
    assert_eq!(location(&stranger), "/seal/dashboard/sign-in");
    assert_eq!(location(&sign_in(client, &alice, &[])), "/seal/dashboard");
    let browser = Browser::sign_in(client, &alice);
    let hook = client.register(&alice, "http://127.0.0.1:9999/hook");
    let key = format!("/dashboard/keys/{}", alice.key);
    let hook = format!("{key}/webhooks/{}", text(&hook, "webhook_id"));
    let revoke = format!("{key}/revoke");
    for path in ["/dashboard", "/dashboard/account", "/dashboard/keys", &key, &hook, &revoke] {
        let page = browser.page(path);
        let to = page.split(['\'', '"']).filter(|value| value.starts_with('/'));
        let strays: Vec<&str> = to.filter(|link| !link.starts_with("/seal/")).collect();
        assert_eq!(strays, [""; 0], "{path}");
        assert!(page.contains("\"/seal/assets/dashboard."), "{page}");
    }
    let form = format!("form_token={}&label=another", browser.form_token());
    let made = browser.post("/dashboard/keys", &form, "same-origin");
    assert!(location(&made).starts_with("/seal/dashboard/keys/ak_"));
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
