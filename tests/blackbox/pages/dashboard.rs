//! Tests of every page and form of the dashboard in a real browser, and of the protection against other sites and other
//! accounts.

use sealpost_wallet::{FormId, RecoveryCode};
use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Reaction, Receiver, Response, SOON, Server, eventually, on_both,
    on_embedded, run_in_browser, sign_in, text, wait_until, within_one_minute,
};

on_both!(
    the_chart_includes_the_newest_messages,
    the_event_log_lists_all_webhooks_of_a_key,
    a_form_acts_once_also_on_another_node,
);
on_embedded!(
    page_views_and_forms_are_rate_limited_by_session,
    identities_made_on_the_dashboard_count_as_activations_of_the_address,
    the_page_of_an_inactive_key_explains_why_it_cannot_be_changed,
    a_rejected_form_has_the_status_of_its_fault,
    the_events_of_a_webhook_are_chosen_and_shown_with_v1_1,
    links_and_redirects_include_the_path_of_the_base_url,
    the_cookie_is_restricted_to_this_service,
    the_owner_decides_whose_messages_a_key_accepts,
    a_failing_webhook_is_marked_on_all_pages_until_it_succeeds,
    a_redelivery_of_no_event_or_too_many_events_says_why,
    a_redelivery_returns_to_the_page_of_its_form,
    an_old_tab_says_that_a_token_or_a_webhook_is_deleted,
    the_page_of_an_event_shows_its_request_as_it_was_sent,
    a_recovery_that_is_sent_twice_shows_its_secrets_twice,
    a_key_that_governance_blocks_is_offered_no_webhook,
    every_page_works_in_a_browser,
    the_event_log_is_followed_live_in_a_browser,
    forms_show_their_errors_and_act_once_in_a_browser,
    a_recovery_code_and_a_deep_link_work_in_a_browser,
);

fn every_page_works_in_a_browser(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms,10ms,10ms"]);
    let known = identity_with_history(database, &server).to_string();
    run_in_browser("dashboard.mjs", &server.url, &[&known]);
}

fn the_event_log_is_followed_live_in_a_browser(database: &Database) {
    let settings = ["--live-logs-per-account", "1", "--webhook-retry-schedule", "10ms,10ms"];
    let server = database.serve_with(&settings);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth < 2 { 500 } else { 204 }));
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    let event = text(&server.send(&alice, &alice.key, "x").ok(), "envelope_id");
    wait_until("all attempts are logged", || database.count("attempts") == 3);
    let known = json!({
        "id": alice.account, "secret": alice.login_secret, "key": alice.key, "token": alice.token,
        "hook": hook, "event": event,
    });
    run_in_browser("live.mjs", &server.url, &[&known.to_string()]);
    // An open stream does not delay the stop.
    server.stop();
}

/// Creates an identity that governance blocks, with two days of activity for the pages. Deletes the real sends, and
/// writes the daily counts directly into the database, because counting runs minutes later.
fn identity_with_history(database: &Database, client: &Client) -> Value {
    let identity = client.new_identity_with_handle("herodotus");
    for _ in 0..3 {
        client.send(&identity, &identity.key, "x").ok();
    }
    database.by_hand("DELETE FROM envelopes");
    for (days_ago, sent, received, delivered) in [(0, 5, 4, 2), (1, 10, 0, 0)] {
        database.by_hand(&format!(
            "INSERT INTO daily_counts (api_key_id, day, sent, received, delivered)
            SELECT id, created_at - created_at % 86400000 - {days_ago} * 86400000, {sent}, {received}, {delivered}
            FROM api_keys WHERE id = '{}'",
            identity.key
        ));
    }
    database.operate(&["governance", "enforce", &identity.key, "--reason", "the council decided"]);
    let status = client.status(&identity).ok();
    json!({
        "id": identity.account, "secret": identity.login_secret, "key": identity.key, "did": identity.did, "handle": "@herodotus",
        "plan": status["plan"], "usage": status["usage"],
    })
}

#[test]
fn a_cross_site_form_changes_nothing() {
    let server = Server::shared();
    let (alice, mallory) = (server.new_identity(), server.new_identity());
    for headers in
        [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example"), ("Origin", "null")]
    {
        let response = sign_in(&server, &alice, &[headers]);
        assert_eq!((response.status, response.header("set-cookie")), (403, None), "{headers:?}");
    }
    // Without `Sec-Fetch-Site`, the own origin is accepted. With the policy `no-referrer`, a browser would send `null`.
    assert_eq!(sign_in(&server, &alice, &[("Origin", server.url.as_str())]).status, 303);
    let page = server.get("/dashboard/sign-in");
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    let browser = Browser::sign_in(&server, &alice);
    let (own, other) = (browser.form_token(), Browser::sign_in(&server, &mallory).form_token());
    assert_ne!(own, other);
    let revoke = format!("/dashboard/keys/{}/revoke", alice.key);
    let form = |token: &str| format!("form_token={token}&typed={}", alice.key);
    for (token, site) in
        [("", "same-origin"), (other.as_str(), "same-origin"), (own.as_str(), "cross-site")]
    {
        let response = browser.post(&revoke, &form(token), site);
        assert_eq!(response.status, 403, "{token} {site}");
        assert!(String::from_utf8_lossy(&response.body).contains("Nothing was done"));
    }
    assert_eq!(server.status(&alice).ok()["status"], "active");
    assert_eq!(browser.post(&revoke, &form(&own), "same-origin").status, 303);
    server.status(&alice).refused(403, "KEY_INACTIVE");
}

#[test]
fn another_account_is_not_shown() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let hook = text(&server.register(&bob, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
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
    assert_eq!(server.status(&bob).ok()["status"], "active");
    assert!(!browser.page("/dashboard").contains(&bob.key));
}

#[test]
fn page_views_use_no_plan_limits() {
    let server = Server::shared();
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let before = server.status(&alice).ok();
    for _ in 0..5 {
        browser.page("/dashboard");
        browser.page(&format!("/dashboard/keys/{}", alice.key));
    }
    let used = |status: &Value| status["usage"]["day"]["used"].as_u64().unwrap();
    assert_eq!(used(&server.status(&alice).ok()), used(&before) + 1);
}

fn page_views_and_forms_are_rate_limited_by_session(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=9"]);
    // Each run creates a new account without earlier requests.
    let (looked, acted, other) = within_one_minute(|| {
        let (alice, bob) = (server.new_identity(), server.new_identity());
        let browser = Browser::sign_in(&server, &alice);
        let token = browser.form_token();
        let make = format!("form_token={token}&label=");
        let acted: Vec<Response> =
            (0..2).map(|_| browser.post("/dashboard/keys", &make, "same-origin")).collect();
        let looked: Vec<Response> = (0..2).map(|_| browser.get("/dashboard")).collect();
        (looked, acted, Browser::sign_in(&server, &bob).get("/dashboard"))
    });
    let statuses =
        |responses: &[Response]| responses.iter().map(|one| one.status).collect::<Vec<_>>();
    assert_eq!(statuses(&acted), [422, 422], "a form counts as four pages");
    assert_eq!(statuses(&looked), [429, 429]);
    assert_eq!(other.status, 200);
    for response in looked {
        response.check_wait();
        assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(String::from_utf8_lossy(&response.body).contains("Too many requests"));
    }
}

fn identities_made_on_the_dashboard_count_as_activations_of_the_address(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    server.stop();
    let made = within_one_minute(|| {
        let server = database.serve_with(&["--activations-per-minute=2"]);
        let browser = Browser::sign_in(&server, &alice);
        let form = format!("form_token={}&label=another", browser.form_token());
        let make = |_| browser.post("/dashboard/keys", &form, "same-origin");
        (0..3).map(make).collect::<Vec<_>>()
    });
    let is_made = made.iter().map(|response| response.header("location").is_some());
    assert_eq!(is_made.collect::<Vec<_>>(), [true, true, false]);
    assert!(String::from_utf8_lossy(&made[2].body).contains("client address may do this"));
}

/// Pages show handles with `@`.
#[test]
fn a_handle_may_be_typed_with_an_at_sign() {
    let server = Server::shared();
    let browser = Browser::sign_in(&server, &server.new_identity());
    let shown = browser.submit("/dashboard/keys", "label=Orders&handle=%40orders");
    assert!(shown.contains("@orders") && !shown.contains("role=\"alert\""), "{shown}");
}

fn the_page_of_an_inactive_key_explains_why_it_cannot_be_changed(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    let page = format!("{key}/webhooks/{hook}");
    let form = |what: &str| format!("form_token={}&do={what}&hours=1", browser.form_token());
    let change = "Make a new signing secret";
    let webhooks = format!("{key}/webhooks");
    assert!(browser.page(&page).contains(change) && browser.page(&webhooks).contains("Register"));
    database.operate(&["key", "deactivate", &alice.key]);
    for shown in [browser.page(&webhooks), browser.page(&page)] {
        assert!(shown.contains("This key is deactivated"), "{shown}");
        assert!(!shown.contains(change) && !shown.contains(">Register<"), "{shown}");
    }
    for what in ["rotate_secret", "recover"] {
        let response = browser.post(&page, &form(what), "same-origin");
        assert_eq!(response.status, 403, "{what}");
        assert!(String::from_utf8_lossy(&response.body).contains("ask the operator"));
    }
    assert_eq!(browser.post(&page, &form("delete"), "same-origin").status, 303);
    assert_eq!(browser.get(&page).status, 404);
}

fn a_rejected_form_has_the_status_of_its_fault(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    let mut wrong = alice.clone();
    wrong.login_secret.clone_from(&bob.login_secret);
    let response = sign_in(&server, &wrong, &[]);
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")));
    let browser = Browser::sign_in(&server, &alice);
    let own = format!("form_token={}", browser.form_token());
    let hooks = format!("/dashboard/keys/{}/webhooks", alice.key);
    for (path, form, status, why) in [
        ("/dashboard/keys", "label=&handle=", 422, "The label"),
        ("/dashboard/keys", "label=a&handle=bob", 409, "belongs to another account"),
        (&*hooks, "url=nowhere", 400, "URL"),
    ] {
        let response = browser.post(path, &format!("{own}&{form}"), "same-origin");
        let page = String::from_utf8(response.body).unwrap();
        assert_eq!(response.status, status, "{path} {form}");
        let (_, reported) = page.split_once("role=\"alert\"").unwrap();
        assert!(reported.split("</div>").next().unwrap().contains(why), "{reported}");
    }
    for (path, allowed) in [("/dashboard/sign-out", "POST"), ("/dashboard/keys", "GET, HEAD, POST")]
    {
        let response = server.request("PUT", path).response();
        assert_eq!((response.status, response.header("allow")), (405, Some(allowed)), "{path}");
    }
    server.stop();
    let throttled = within_one_minute(|| {
        let server = database.serve_with(&["--logins-per-minute=1"]);
        [sign_in(&server, &alice, &[]), sign_in(&server, &alice, &[])]
    });
    assert_eq!(throttled.each_ref().map(|response| response.status), [303, 429]);
    throttled[1].check_wait();
}

fn the_events_of_a_webhook_are_chosen_and_shown_with_v1_1(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1"]);
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    let page = browser.page(&format!("{key}/webhooks"));
    for event in ["envelope.bounced", "envelope.received", "identity.rotated", "usage.threshold"] {
        assert!(page.contains(&format!("name=\"events\" value=\"{event}\"")), "{page}");
    }
    let own = format!("form_token={}&url=http://127.0.0.1:9999/hook", browser.form_token());
    let post = |form: &str| {
        browser.post(&format!("{key}/webhooks"), &format!("{own}{form}"), "same-origin")
    };
    let response = post("");
    assert_eq!(response.status, 422);
    assert!(String::from_utf8_lossy(&response.body).contains("Choose at least one event."));
    assert_eq!(post("&events=envelope.sent").status, 400);
    assert_eq!(post("&events=usage.threshold&events=identity.rotated").status, 303);
    let listed = server.manage(&alice, &json!({"action": "list"})).ok();
    let hook = &listed["webhooks"][0];
    assert_eq!(hook["events"], json!(["usage.threshold", "identity.rotated"]));
    let shown = browser.page(&format!("{key}/webhooks/{}", text(hook, "webhook_id")));
    assert!(
        shown.contains("<code>usage.threshold</code> <code>identity.rotated</code>"),
        "{shown}"
    );
    server.stop();
    let server = database.serve();
    let page = Browser::sign_in(&server, &alice).page(&format!("{key}/webhooks"));
    assert!(!page.contains("name=\"events\""), "{page}");
}

#[test]
fn results_are_shown_only_after_a_form_and_never_through_a_link() {
    let server = Server::shared();
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/hook"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let page = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    let linked = browser.page(&format!("{page}?done=recovered&count=4321"));
    assert!(!linked.contains("4321") && !linked.contains("role=\"status\""), "{linked}");
    let reported = browser.submit(&page, "do=recover&hours=1");
    assert!(reported.contains("role=\"status\">No delivery failed in that time."), "{reported}");
}

fn links_and_redirects_include_the_path_of_the_base_url(database: &Database) {
    let server = database.serve_with(&["--base-url", "https://example.org/seal/"]);
    let alice = server.new_identity();
    let location = |response: &Response| response.header("location").unwrap().to_owned();
    let stranger = server.get("/dashboard");
    assert_eq!(location(&stranger), "/seal/dashboard/sign-in");
    assert_eq!(location(&sign_in(&server, &alice, &[])), "/seal/dashboard");
    let browser = Browser::sign_in(&server, &alice);
    let hook = server.register(&alice, "http://127.0.0.1:9999/hook");
    let key = format!("/dashboard/keys/{}", alice.key);
    let hook = format!("{key}/webhooks/{}", text(&hook, "webhook_id"));
    let revoke = format!("{key}/revoke");
    let [webhooks, senders] = ["webhooks", "senders"].map(|tab| format!("{key}/{tab}"));
    let pages = ["/dashboard", "/dashboard/account", "/dashboard/keys", &key, &hook, &revoke];
    for path in pages.into_iter().chain([&*webhooks, &*senders]) {
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

fn the_cookie_is_restricted_to_this_service(database: &Database) {
    let cookie_of = |server: &Server| {
        let response = sign_in(server, &server.new_identity(), &[]);
        response.header("set-cookie").unwrap().to_owned()
    };
    let server = database.serve();
    let cookie = cookie_of(&server);
    assert!(cookie.starts_with("sealpost="), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure"), "{cookie}");
    server.stop();
    let behind_proxy = ["--behind-tls-proxy", "--trusted-proxy=none"];
    for https in [["--base-url", "https://seal.example.org"], behind_proxy] {
        let server = database.serve_with(&https);
        let cookie = cookie_of(&server);
        assert!(cookie.starts_with("__Host-sealpost=") && cookie.contains("Secure"), "{cookie}");
        server.stop();
    }
}

fn the_owner_decides_whose_messages_a_key_accepts(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let browser = Browser::sign_in(&server, &bob);
    let token = browser.form_token();
    let submit = |fields: &str| {
        let form = format!("form_token={token}&{fields}");
        browser.post(&format!("/dashboard/keys/{}/senders", bob.key), &form, "same-origin")
    };
    let page = || browser.page(&format!("/dashboard/keys/{}/senders", bob.key));
    assert!(page().contains(r#"<option value="anyone" selected>"#));
    let saved = submit("do=accept&accept=allowlist&receipts=none");
    assert!(browser.follow(&saved).contains("The settings are saved."));
    assert!(page().contains(r#"<option value="allowlist" selected>"#));
    server.send(&alice, &bob.key, "x").refused(403, "RECIPIENT_REFUSES");
    assert_eq!(submit("do=allow&names=%40alice").status, 303);
    server.send(&alice, &bob.key, "x").ok();
    assert!(page().contains("@alice"), "a listed sender has its name");
    assert_eq!(submit(&format!("do=unallow&names={}", alice.key)).status, 303);
    server.send(&alice, &bob.key, "x").refused(403, "RECIPIENT_REFUSES");
    let policy = json!({
        "accept": "allowlist", "receipts": "none", "listed": false, "allowed": [], "blocked": [],
    });
    assert_eq!(server.act(&bob, "/v1/did/policy", &json!({})).ok(), policy);
    // A form of an older page changes only the setting that its user changed.
    let was = "was_accept=anyone&was_receipts=notified&was_listed=yes";
    assert_eq!(
        submit(&format!("do=accept&accept=anyone&receipts=opened&listed=yes&{was}")).status,
        303
    );
    let changed = server.act(&bob, "/v1/did/policy", &json!({})).ok();
    assert_eq!(
        (&changed["accept"], &changed["receipts"], &changed["listed"]),
        (&json!("allowlist"), &json!("opened"), &json!(false))
    );
    let many = submit(&format!("do=block&names={}", "alice+".repeat(101)));
    assert_eq!(many.status, 400);
    assert!(String::from_utf8_lossy(&many.body).contains("at most 100 keys"));
    for names in ["", "+++", "%2C+%2C"] {
        let without = submit(&format!("do=block&names={names}"));
        assert_eq!(without.status, 422, "{names}");
        let page = String::from_utf8_lossy(&without.body);
        assert!(page.contains("id=\"block-error\">Give at least one API key or handle."), "{page}");
    }
    let unknown = submit("do=block&names=stranger");
    assert_eq!(unknown.status, 404);
    assert!(String::from_utf8_lossy(&unknown.body).contains("API key or handle has this name"));
    assert_eq!(submit("do=accept&accept=everyone&receipts=none").status, 400);
}

#[test]
fn the_sender_of_a_logged_envelope_can_be_blocked() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.register(&bob, "http://127.0.0.1:9999/");
    let envelope = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let browser = Browser::sign_in(&server, &bob);
    let page = |event: &str| format!("/dashboard/keys/{}/events/{event}", bob.key);
    let shown = browser.page(&page(&envelope));
    assert!(
        shown.contains("Block <strong><bdi>somebody</bdi>") && shown.contains(&alice.key),
        "{shown}"
    );
    let form = format!("do=block&form_token={}", browser.form_token());
    for other in ["env_01h455vb4pex5vsknk084sn02q", "evt_01h455vb4pex5vsknk084sn02q"] {
        assert_eq!(browser.post(&page(other), &form, "same-origin").status, 404, "{other}");
    }
    let shown = browser.submit(&page(&envelope), "do=block");
    assert!(shown.contains("\u{2068}somebody\u{2069} is blocked"), "{shown}");
    server.send(&alice, &bob.key, "x").refused(403, "RECIPIENT_REFUSES");
}

fn a_failing_webhook_is_marked_on_all_pages_until_it_succeeds(database: &Database) {
    let settings = ["--webhook-retry-schedule=10ms", "--dashboard-per-minute=0"];
    let server = database.serve_with(&settings);
    let alice = server.new_identity();
    let receiver = Receiver::reacting(|nth| match nth {
        0 | 1 => Reaction::Status(500),
        _ => Reaction::Status(204),
    });
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    server.send(&alice, &alice.key, "x").ok();
    let browser = Browser::sign_in(&server, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    let tab = format!("{key}/webhooks");
    let pages = ["/dashboard".to_owned(), tab.clone(), format!("{tab}/{hook}")];
    let failing = "class=\"badge bad\">failing";
    wait_until("all pages show the failing webhook", || {
        pages.iter().all(|page| browser.page(page).contains(failing))
    });
    assert!(browser.page("/dashboard").contains("1 webhook needs attention"));
    wait_until("both attempts are counted", || browser.page(&tab).contains("2 failed"));
    server.send(&alice, &alice.key, "x").ok();
    receiver.await_requests(3);
    wait_until("the webhook is healthy", || {
        !browser.page("/dashboard").contains("needs attention")
    });
    assert!(browser.page(&pages[2]).contains("33 %"));
}

fn the_chart_includes_the_newest_messages(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for _ in 0..3 {
        server.send(&alice, &bob.key, "x").ok();
    }
    let page = |identity| {
        Browser::sign_in(&server, identity).page(&format!("/dashboard/keys/{}", identity.key))
    };
    let shown = page(&alice);
    assert!(shown.contains("3 of 1,000 messages this month"), "{shown}");
    assert!(shown.contains("3 messages sent"), "{shown}");
    assert!(page(&bob).contains("<td>0</td><td>3</td><td>0</td>"));
}

fn the_event_log_lists_all_webhooks_of_a_key(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, mallory) = (server.new_identity(), server.new_identity());
    let (first, second) = (Receiver::start(), Receiver::start());
    let hook = text(&server.register(&alice, &first.url), "webhook_id");
    server.register(&alice, &second.url);
    let envelope = text(&server.send(&alice, &alice.key, "x").ok(), "envelope_id");
    let browser = Browser::sign_in(&server, &alice);
    let log = format!("/dashboard/keys/{}/events", alice.key);
    let entries = |page: &str| page.matches("class=\"tag succeeded\"").count();
    wait_until("both attempts are listed", || entries(&browser.page(&log)) == 2);
    assert_eq!(entries(&browser.page(&format!("{log}?webhook={hook}&state=succeeded"))), 1);
    assert_eq!(entries(&browser.page(&format!("{log}?state=exhausted"))), 0);
    assert_eq!(entries(&browser.page(&format!("{log}?before=2099-01-31T12:00"))), 2);
    assert_eq!(entries(&browser.page(&format!("{log}?before=2020-01-31T12:00:01"))), 0);
    assert!(browser.page(&format!("{log}?before=noon")).contains("This is not a time."));
    let found = browser.get(&format!("{log}?id={envelope}"));
    assert_eq!(found.header("location"), Some(&*format!("{log}/{envelope}")));
    assert!(browser.page(&format!("{log}?id=rubbish")).contains("This is not the id of an event"));
    let unknown = browser.page(&format!("{log}?id=env_01h455vb4pex5vsknk084sn02q"));
    assert!(unknown.contains("This identity has no event with this id."), "{unknown}");
    let select = |id: &str| browser.submit(&log, &format!("selected={}+{hook}+{id}", alice.key));
    assert!(select(&envelope).contains("1 event is sent again now."));
    assert_eq!(first.await_requests(2).len(), 2);
    assert!(select("env_01h455vb4pex5vsknk084sn02q").contains("role=\"alert\""));
    let stranger = Browser::sign_in(&server, &mallory);
    for path in [log.clone(), format!("{log}/{envelope}")] {
        assert_eq!(stranger.get(&path).status, 404, "{path}");
    }
    let own = format!("/dashboard/keys/{}/events/{envelope}", mallory.key);
    assert_eq!(stranger.get(&own).status, 404);
}

fn a_redelivery_of_no_event_or_too_many_events_says_why(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let log = format!("/dashboard/keys/{}/events", alice.key);
    let webhook = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    // These ids have the length of real ones, so the form with 150 events is the longest form of the page.
    let value = |n| format!("selected={}+{hook}+env_01h455vb4pex5vsknk084s{n:04}", alice.key);
    for (number, why) in [
        (0, "No event is selected."),
        (150, ""),
        (151, "At most 150 events can be sent again at once."),
    ] {
        let selected = (0..number).map(value).collect::<Vec<_>>().join("&");
        let shown = browser.submit(&log, &selected);
        let problem = format!("class=\"problem\" role=\"alert\" tabindex=\"-1\" autofocus>{why}");
        assert!(shown.contains(&problem), "{number}: {shown}");
        let shown = browser.submit(&webhook, &format!("do=redeliver&{selected}"));
        let problem = format!("class=\"problem\" role=\"status\">{why}");
        assert!(shown.contains(&problem), "{number}: {shown}");
    }
}

/// Each form that sends events again leads back to its page of the list, or to its event.
fn a_redelivery_returns_to_the_page_of_its_form(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, receiver) = (server.new_identity(), Receiver::start());
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    let envelope = text(&server.send(&alice, &alice.key, "x").ok(), "envelope_id");
    let browser = Browser::sign_in(&server, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    let position = "?state=succeeded&cursor=999";
    let log = format!("{key}/events{position}");
    wait_until("the attempt is listed", || browser.page(&log).contains("class=\"tag succeeded\""));
    let shown = browser.submit(&log, "");
    assert!(shown.contains("No event is selected."), "{shown}");
    let action = format!("action=\"{}\"", log.replace('&', "&#38;"));
    assert!(shown.contains(&action), "{action} is not in {shown}");
    let form = format!(
        "form_token={}&do=redeliver&selected={}+{hook}+{envelope}",
        browser.form_token(),
        alice.key
    );
    for page in [format!("{key}/webhooks/{hook}{position}"), format!("{key}/events/{envelope}")] {
        let sent = browser.post(&page, &form, "same-origin");
        assert_eq!((sent.status, sent.header("location")), (303, Some(&*page)));
    }
}

fn an_old_tab_says_that_a_token_or_a_webhook_is_deleted(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/"), "webhook_id");
    let token = text(&server.new_token(&alice, &["read"]), "token_id");
    let browser = Browser::sign_in(&server, &alice);
    let revoke = format!("/dashboard/tokens/{token}/revoke");
    assert!(browser.submit(&revoke, "").contains("The API token is revoked."));
    assert!(browser.submit(&revoke, "").contains("The account has no such API token"));
    let webhook = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    assert!(browser.submit(&webhook, "do=delete").contains("The webhook is deleted."));
    let change = format!("{webhook}/change");
    for (page, form) in [
        (&webhook, "do=delete"),
        (&webhook, "do=pause"),
        (&webhook, "do=test"),
        (&change, "description=orders"),
    ] {
        let shown = browser.submit(page, form);
        assert!(shown.contains("This webhook does not exist: it was deleted."), "{form}: {shown}");
    }
}

fn the_page_of_an_event_shows_its_request_as_it_was_sent(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let client = server.client();
    let alice = client.new_identity();
    let receiver =
        Receiver::reacting(move |_| Reaction::Exactly("200 OK".to_owned(), b"<b>ok</b>".to_vec()));
    let secret = text(&client.register(&alice, &receiver.url), "secret");
    let envelope = text(&client.send(&alice, &alice.key, "x").ok(), "envelope_id");
    let request = receiver.await_requests(1).remove(0);
    let browser = Browser::sign_in(client, &alice);
    let path = format!("/dashboard/keys/{}/events/{envelope}", alice.key);
    let page = eventually("the attempt is listed", SOON, || {
        Some(browser.page(&path)).filter(|page| page.contains("tag succeeded"))
    });
    let body = String::from_utf8(request.body.clone()).unwrap().replace('"', "&#34;");
    assert!(page.contains(&body), "{body} is not in {page}");
    assert!(page.contains("  &#34;event&#34;: &#34;envelope.received&#34;,\n"), "{page}");
    for name in ["webhook-timestamp", "webhook-signature"] {
        let header = format!("{name}: {}", request.header(name));
        assert!(page.contains(&header), "{header} is not in {page}");
    }
    assert!(page.contains("&#60;b&#62;ok"), "{page}");
    assert!(!page.contains(&secret) && !page.contains("whsec_"));
}

#[test]
fn a_test_event_is_sent_from_the_page_of_a_webhook() {
    let server = Server::shared();
    let alice = server.new_identity();
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 204 } else { 500 }));
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let page = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    let test = || browser.submit(&page, "do=test");
    assert!(test().contains("arrived: the receiver responded 204"));
    assert!(test().contains("failed: the receiver responded 500"));
    assert_eq!(receiver.requests()[0].json()["event"], "webhook.test");
}

fn forms_show_their_errors_and_act_once_in_a_browser(database: &Database) {
    browse(database, "forms.mjs");
}

fn a_recovery_code_and_a_deep_link_work_in_a_browser(database: &Database) {
    browse(database, "way_back.mjs");
}

/// Runs a program that uses the dashboard of a fresh server in a browser.
fn browse(database: &Database, program: &str) {
    let server = database.serve_with(&["--dashboard-per-minute=0", "--events", "v1.1"]);
    run_in_browser(program, &server.url, &[]);
}

/// A second click sends the form again, and the browser drops the first response.
fn a_recovery_that_is_sent_twice_shows_its_secrets_twice(database: &Database) {
    let server = database.serve();
    let activated = server.activate(&json!({"label": "somebody"})).ok();
    let id = FormId::generate().unwrap();
    let recover = |code: &str| {
        let form = format!(
            "account_id={}&recovery_code={code}&form_id={}",
            text(&activated, "account_id"),
            id.expose()
        );
        let request = server.post("/dashboard/recover").header("Sec-Fetch-Site", "same-origin");
        request.body("application/x-www-form-urlencoded", form.as_bytes()).response()
    };
    let wrong = recover(RecoveryCode::generate().unwrap().expose());
    assert_eq!(wrong.status, 401);
    assert_eq!(database.count("used_forms"), 0, "a wrong code stores nothing");
    let code = text(&activated, "recovery_code");
    let [first, second] = [recover(&code), recover(&code)];
    assert_eq!([first.status, second.status], [303, 303]);
    assert_eq!(first.header("location"), Some("/dashboard/recovered"));
    assert_eq!(first.header("set-cookie"), second.header("set-cookie"), "the same secrets");
}

#[test]
fn a_form_of_another_site_ends_no_session() {
    let server = Server::shared();
    // The browser sends no `SameSite=Lax` cookie with a form of another site.
    let request = server.post("/dashboard/keys").header("Sec-Fetch-Site", "cross-site");
    let response = request.body("application/x-www-form-urlencoded", b"label=x").response();
    assert_eq!(response.status, 303);
    assert_eq!(response.header("location"), Some("/dashboard/sign-in"));
    assert_eq!(response.header("set-cookie"), None);
}

#[test]
fn a_sign_out_is_confirmed_on_the_sign_in_page() {
    let server = Server::shared();
    let alice = server.new_identity();
    for (path, form, notice) in [
        ("/dashboard/sign-out", "", "You are signed out."),
        ("/dashboard/account/sessions", "session=all", "All sessions of the account have ended."),
    ] {
        let browser = Browser::sign_in(&server, &alice);
        let form = format!("form_token={}&{form}", browser.form_token());
        let response = browser.post(path, &form, "same-origin");
        assert_eq!(response.header("location"), Some("/dashboard/sign-in"));
        let shown = browser.follow(&response);
        assert!(shown.contains(&format!("role=\"status\">{notice}")), "{shown}");
        assert_eq!(browser.get("/dashboard").header("location"), Some("/dashboard/sign-in"));
    }
}

#[test]
fn a_form_of_an_ended_session_says_that_nothing_was_done() {
    let server = Server::shared();
    let page = format!("{}/dashboard/keys/new", server.url);
    let request = server.post("/dashboard/keys").header("Sec-Fetch-Site", "same-origin");
    let request = request.header("Referer", &page);
    let response = request.body("application/x-www-form-urlencoded", b"label=x").response();
    let sign_in = "/dashboard/sign-in?ended=1&next=%2Fdashboard%2Fkeys%2Fnew";
    assert_eq!((response.status, response.header("location")), (303, Some(sign_in)));
    let shown = String::from_utf8(server.get(sign_in).body).unwrap();
    assert!(shown.contains("Your session has ended. Nothing was done"), "{shown}");
    assert!(shown.contains("name=\"next\" value=\"/dashboard/keys/new\""), "{shown}");
}

fn a_key_that_governance_blocks_is_offered_no_webhook(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let pages =
        [format!("/dashboard/keys/{}/webhooks", alice.key), "/dashboard/webhooks".to_owned()];
    let offers = |page: &String| browser.page(page).contains("Register a webhook");
    assert!(pages.iter().all(offers));
    database.operate(&["governance", "enforce", &alice.key, "--reason", "the council decided"]);
    wait_until("no page offers a webhook", || !pages.iter().any(offers));
}

fn a_form_acts_once_also_on_another_node(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let browser = Browser::sign_in(client, &alice);
    let path = format!("/dashboard/keys/{}/webhooks", alice.key);
    let fields = format!(
        "form_token={}&form_id={}&url=http%3A%2F%2F127.0.0.1%3A9999%2F",
        browser.form_token(),
        browser.form_id()
    );
    // A rejected form can be sent again.
    let rejected =
        browser.post_as_is(&path, &fields.replace("127.0.0.1", "10.0.0.1"), "same-origin");
    assert_eq!(rejected.status, 400);
    let first = browser.post_as_is(&path, &fields, "same-origin");
    assert_eq!(first.status, 303);
    let page = browser.follow(&first);
    assert!(page.contains("whsec_") && page.contains("Save the secret now"), "{page}");
    let cookie = browser.cookie.clone();
    server.stop();
    let server = database.serve();
    let browser = Browser::with_cookie(server.client(), cookie);
    let again = browser.post_as_is(&path, &fields, "same-origin");
    assert_eq!(again.header("location"), first.header("location"));
    // The browser may have dropped the first response, so the secret is shown again for two minutes.
    assert_eq!(browser.follow(&again), page);
    database.by_hand("UPDATE used_forms SET used_at = used_at - 120000");
    let late = browser.post_as_is(&path, &fields, "same-origin");
    let page = browser.follow(&late);
    assert!(page.contains("This form was sent before"), "{page}");
    assert!(page.contains("The secret was shown once") && !page.contains("whsec_"), "{page}");
    let listed = server.manage(&alice, &json!({"action": "list"})).ok();
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
    let unknown = fields.replace("form_id=fm_", "form_id=fm_x");
    assert_eq!(browser.post_as_is(&path, &unknown, "same-origin").status, 403);
}
