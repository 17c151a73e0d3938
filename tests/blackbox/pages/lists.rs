//! Tests of the lists of the dashboard: sent envelopes, events and webhooks, of one identity and of the whole account,
//! and the page that changes a webhook.

use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Identity, Reaction, Receiver, SOON, Server, eventually, on_both,
    on_embedded, run_in_browser, text, wait_until,
};

on_both!(
    the_sent_page_filters_by_recipient_state_thread_and_day,
    a_page_of_sent_envelopes_leads_to_the_next,
    the_pages_of_an_account_list_all_its_identities,
    the_event_log_filters_by_kind_with_counts,
    lists_of_another_account_are_not_shown,
);
on_embedded!(
    a_receipt_has_states_times_and_context,
    a_webhook_is_changed_on_its_page,
    a_webhook_is_paused_and_resumed_on_its_page,
    a_row_of_the_event_log_has_its_sender_and_its_attempts,
    the_title_of_a_page_names_its_identity_or_webhook,
    the_lists_work_in_a_browser,
    a_webhook_without_a_response_is_shown_in_a_browser,
    the_deliveries_of_an_event_stand_together_in_a_browser,
    long_names_fit_into_each_page_in_a_browser,
);

fn the_lists_work_in_a_browser(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0", "--events", "v1.1"]);
    let (alice, bob) =
        (server.new_identity_with_handle("alice"), server.new_identity_with_handle("bob"));
    let receiver = Receiver::start();
    server.register(&alice, &receiver.url);
    send(&server, &alice, &bob.key, &json!({"thread": "orders", "type": "order.created"}));
    send(&server, &bob, &alice.key, &json!({}));
    wait_until("the attempt is logged", || database.count("attempts") == 1);
    // The table of tokens, with its buttons, must be wholly visible on a narrow screen.
    server.new_token(&alice, &["read", "send", "open", "webhooks"]);
    let known = json!({"id": alice.account, "secret": alice.login_secret, "key": alice.key});
    run_in_browser("lists.mjs", &server.url, &[&known.to_string()]);
}

fn a_webhook_without_a_response_is_shown_in_a_browser(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, receiver) = (server.new_identity(), Receiver::reacting(|_| Reaction::Close));
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    let pending = 7;
    for _ in 0..pending {
        send(&server, &alice, &alice.key, &json!({}));
    }
    // The circuit breaker may defer the others without an attempt.
    wait_until("an attempt is logged", || database.count("attempts") > 0);
    let known = json!({
        "id": alice.account, "secret": alice.login_secret, "key": alice.key, "hook": hook, "pending": pending,
    });
    run_in_browser("pending.mjs", &server.url, &[&known.to_string()]);
}

fn the_deliveries_of_an_event_stand_together_in_a_browser(database: &Database) {
    let server =
        database.serve_with(&["--dashboard-per-minute=0", "--webhook-retry-schedule", "10ms,1h"]);
    let client = server.client();
    let alice = client.new_identity();
    let sender = client.sibling(&alice);
    let register = |receiver: &Receiver, path: &str, description: Value| {
        let url = receiver.url.replace("/hook", path);
        let events = ["envelope.received"];
        let body = json!({"url": url, "events": events, "description": description});
        text(&client.act(&alice, "/v1/webhooks/register", &body).ok(), "webhook_id")
    };
    let receivers =
        [204, 500, 410].map(|status| Receiver::reacting(move |_| Reaction::Status(status)));
    let good = register(&receivers[0], "/orders", json!("Orders of the shop"));
    let long = register(
        &receivers[1],
        "/hooks/notifications/legacy/version/received/envelopes",
        json!(null),
    );
    let gone = register(&receivers[2], "/gone", json!(null));
    send(client, &sender, &alice.key, &json!({}));
    wait_until("the webhook is disabled", || {
        database.count("webhooks WHERE status = 'disabled'") == 1
    });
    // A later attempt would place the first event above the second.
    wait_until("the first event is logged", || database.count("attempts") == 4);
    send(client, &sender, &alice.key, &json!({}));
    wait_until("all attempts are logged", || database.count("attempts") == 7);
    let known = json!({
        "id": alice.account, "secret": alice.login_secret, "key": alice.key, "sender": sender.key,
        "good": good, "long": long, "gone": gone,
    });
    run_in_browser("events.mjs", &server.url, &[&known.to_string()]);
}

fn long_names_fit_into_each_page_in_a_browser(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--dashboard-per-minute=0"]), Receiver::start());
    let names = json!({"label": "W".repeat(100), "handle": "w".repeat(32)});
    let alice = server.activate_and_log_in(&names);
    server.register(&alice, &receiver.url);
    let envelope = send(&server, &alice, &alice.key, &json!({"thread": "T".repeat(64)}));
    wait_until("the attempt is logged", || database.count("attempts") == 1);
    let key = format!("/dashboard/keys/{}", alice.key);
    let own = ["events", "senders", "sent", "webhooks"].map(|tab| format!("{key}/{tab}"));
    let mut paths = ["", "/events", "/keys", "/sent", "/webhooks"]
        .map(|page| format!("/dashboard{page}"))
        .to_vec();
    paths.extend(own);
    paths.push(format!("{key}/events/{envelope}"));
    let known = json!({"id": alice.account, "secret": alice.login_secret, "paths": paths});
    run_in_browser("long_names.mjs", &server.url, &[&known.to_string()]);
}

fn the_title_of_a_page_names_its_identity_or_webhook(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let alice = server.activate_and_log_in(&json!({"label": "Orders"}));
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let key = format!("/dashboard/keys/{}", alice.key);
    for (path, title) in [
        ("/dashboard/events".to_owned(), "Events"),
        (format!("{key}/events"), "Events · Orders"),
        (format!("{key}/sent"), "Sent · Orders"),
        (format!("{key}/webhooks/{hook}"), "Webhook 127.0.0.1:9999"),
    ] {
        let page = browser.page(&path);
        assert!(page.contains(&format!("<title>{title} · Sealpost</title>")), "{page}");
    }
}

/// Sends a message with further members. Returns the id of the envelope.
fn send(client: &Client, from: &Identity, to: &str, members: &Value) -> String {
    let mut message = json!({"to": to, "message": "x"});
    message.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    text(&client.act(from, "/v1/channel/send", &message).ok(), "envelope_id")
}

fn the_sent_page_filters_by_recipient_state_thread_and_day(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    server.new_identity_with_handle("bob");
    let alice = server.new_identity();
    let (carol, receiver) = (server.new_identity(), Receiver::start());
    server.register(&carol, &receiver.url);
    let to_bob = send(&server, &alice, "bob", &json!({"thread": "orders"}));
    let to_carol = send(&server, &alice, &carol.key, &json!({}));
    receiver.await_requests(1);
    let browser = Browser::sign_in(&server, &alice);
    let page = format!("/dashboard/keys/{}/sent", alice.key);
    wait_until("the delivery is recorded", || browser.page(&page).contains("tag notified"));
    let listed = |filter: &str| {
        let page = browser.page(&format!("{page}?{filter}"));
        [&to_bob, &to_carol].map(|id| page.contains(&format!("title=\"{id}\"")))
    };
    let resets_at = text(&server.status(&alice).ok()["usage"]["day"], "resets_at");
    let (tomorrow, _) = resets_at.split_once('T').unwrap();
    for (filter, expected) in [
        ("", [true, true]),
        ("recipient=bob", [true, false]),
        ("recipient=%40bob", [true, false]),
        (&*format!("recipient={}", carol.key), [false, true]),
        ("thread=orders", [true, false]),
        ("state=waiting", [true, false]),
        ("state=notified", [false, true]),
        ("state=opened", [false, false]),
        ("day=2020-01-31", [false, false]),
        (&*format!("day={tomorrow}"), [false, false]),
    ] {
        assert_eq!(listed(filter), expected, "{filter}");
    }
    for (filter, field, why) in [
        ("recipient=nobody-at-all", "recipient", "No API key or handle has this name"),
        ("day=noon", "day", "This is not a day"),
        ("thread=a+b", "thread", "The thread must have"),
    ] {
        let page = browser.page(&format!("{page}?{filter}"));
        assert!(page.contains(&format!("<a href=\"#{field}\">{why}")), "{filter}: {page}");
    }
}

fn a_page_of_sent_envelopes_leads_to_the_next(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let account = server.sibling(&alice);
    for key in [&alice.key, &account.key] {
        database.operate(&["plan", "set", key, "builder"]);
    }
    let sent: Vec<_> = (0..53)
        .map(|number| {
            let from = if number % 2 == 0 { &alice } else { &account };
            eventually("the new plan admits the message", SOON, || {
                let sent = server.send(from, &bob.key, "x");
                (sent.status == 200).then(|| text(&sent.ok(), "envelope_id"))
            })
        })
        .collect();
    let browser = Browser::sign_in(&server, &alice);
    for filter in ["", "state=waiting"] {
        let first = browser.page(&format!("/dashboard/sent?{filter}"));
        let (_, next) = first.split_once("cursor=").unwrap();
        let next = next.split('"').next().unwrap();
        let second = browser.page(&format!("/dashboard/sent?{filter}&cursor={next}"));
        let on = |page: &str| sent.iter().filter(|id| page.contains(*id)).count();
        assert_eq!((on(&first), on(&second)), (50, 3), "{filter}");
        assert!(!second.contains("cursor="), "{second}");
    }
}

fn a_receipt_has_states_times_and_context(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "opened"})).ok();
    let first = send(&server, &alice, "bob", &json!({}));
    let reply = json!({"thread": "orders", "type": "order.created", "reply_to": first});
    let second = send(&server, &alice, "bob", &reply);
    server.open(&bob, &second).ok();
    let browser = Browser::sign_in(&server, &alice);
    let receipt = |id: &str| browser.page(&format!("/dashboard/keys/{}/sent/{id}", alice.key));
    let page = receipt(&second);
    for part in ["The recipient opened the envelope.", "@bob", "orders", "order.created", &*first] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert_eq!(page.matches("<li class=\"done\">").count(), 2, "sent and opened: {page}");
    assert!(receipt(&first).contains("The envelope waits"), "{}", receipt(&first));
    let unknown = format!("/dashboard/keys/{}/sent/env_01h455vb4pex5vsknk084sn02q", alice.key);
    assert_eq!(browser.get(&unknown).status, 404);
}

fn the_pages_of_an_account_list_all_its_identities(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let (first, second) = (Receiver::start(), Receiver::start());
    server.register(&alice, &first.url);
    server.register(&sibling, &second.url);
    let to_alice = send(&server, &sibling, &alice.key, &json!({}));
    let to_sibling = send(&server, &alice, &sibling.key, &json!({}));
    let browser = Browser::sign_in(&server, &alice);
    wait_until("both attempts are listed", || {
        let page = browser.page("/dashboard/events");
        page.matches("tag succeeded").count() == 2
    });
    let listed = |path: &str| {
        let page = browser.page(path);
        [&to_alice, &to_sibling].map(|id| page.contains(&format!("title=\"{id}\"")))
    };
    for (path, expected) in [
        ("/dashboard/sent".to_owned(), [true, true]),
        (format!("/dashboard/sent?identity={}", alice.key), [false, true]),
        (format!("/dashboard/events?identity={}", alice.key), [true, false]),
        (format!("/dashboard/keys/{}/events", sibling.key), [false, true]),
    ] {
        assert_eq!(listed(&path), expected, "{path}");
    }
    let webhooks = browser.page("/dashboard/webhooks");
    for url in [&first.url, &second.url] {
        assert!(webhooks.contains(&format!("title=\"{url}\"")), "{webhooks}");
    }
    let found = browser.get(&format!("/dashboard/events?id={to_sibling}"));
    let expected = format!("/dashboard/keys/{}/events/{to_sibling}", sibling.key);
    assert_eq!(found.header("location"), Some(&*expected));
    let hooks = server.manage(&sibling, &json!({"action": "list"})).ok();
    let hook = text(&hooks["webhooks"][0], "webhook_id");
    let selected = format!("selected={}+{hook}+{to_sibling}", sibling.key);
    let again = browser.submit("/dashboard/events", &selected);
    assert!(again.contains("1 event is sent again now."), "{again}");
    second.await_requests(2);
    let identities = browser.page("/dashboard/keys");
    assert_eq!(identities.matches(">1 message this month").count(), 2, "{identities}");
}

fn a_webhook_is_changed_on_its_page(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1", "--dashboard-per-minute=0"]);
    let alice = server.new_identity();
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/old"), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let page = format!("/dashboard/keys/{}/webhooks/{hook}/change", alice.key);
    let shown = browser.page(&page);
    assert!(shown.contains("value=\"http://127.0.0.1:9999/old\""), "{shown}");
    let own = format!("form_token={}", browser.form_token());
    let url = "url=http%3A%2F%2F127.0.0.1%3A9999%2Fnew";
    let long = "x".repeat(201);
    for (fields, field) in [
        ("url=http%3A%2F%2F10.0.0.1%2F&events=envelope.received".to_owned(), "url"),
        (url.to_owned(), "events"),
        (format!("{url}&events=envelope.received&description={long}"), "description"),
    ] {
        let response = browser.post(&page, &format!("{own}&{fields}"), "same-origin");
        let body = String::from_utf8(response.body).unwrap();
        assert!((400..500).contains(&response.status), "{fields}");
        assert!(body.contains(&format!("<a href=\"#{field}\">")), "{field}: {body}");
        assert!(body.contains(&format!("id=\"{field}-error\"")), "{field}: {body}");
    }
    let changed = browser
        .submit(&page, &format!("{url}&events=usage.threshold&description=orders+of+the+shop"));
    assert!(changed.contains("role=\"status\">The webhook is changed."), "{changed}");
    let listed = server.manage(&alice, &json!({"action": "list"})).ok()["webhooks"][0].clone();
    assert_eq!(
        (&listed["url"], &listed["events"], &listed["description"]),
        (
            &json!("http://127.0.0.1:9999/new"),
            &json!(["usage.threshold"]),
            &json!("orders of the shop")
        )
    );
    for list in
        [format!("/dashboard/keys/{}/webhooks", alice.key), "/dashboard/webhooks".to_owned()]
    {
        assert!(browser.page(&list).contains("orders of the shop"), "{list}");
    }
    // A form of an older page changes only the field that its user changed.
    let old = "url=http%3A%2F%2F127.0.0.1%3A9999%2Fold&events=envelope.received";
    let was = "was_url=http%3A%2F%2F127.0.0.1%3A9999%2Fold&was_events=envelope.received";
    browser.submit(&page, &format!("{old}&{was}&description=orders&was_description="));
    let changed = server.manage(&alice, &json!({"action": "list"})).ok()["webhooks"][0].clone();
    assert_eq!(
        (&changed["url"], &changed["events"], &changed["description"]),
        (&listed["url"], &listed["events"], &json!("orders"))
    );
    let count = || database.count("activity WHERE kind = 'webhook_updated'");
    let acts = count();
    let same = browser.submit(&page, &format!("{old}&{was}&description=&was_description="));
    assert!(same.contains("role=\"status\">Nothing was changed."), "{same}");
    assert_eq!(count(), acts, "no change is recorded");
    browser.submit(&page, &format!("{url}&events=usage.threshold&description="));
    let listed = server.manage(&alice, &json!({"action": "list"})).ok();
    assert_eq!(listed["webhooks"][0]["description"], json!(null));
}

fn a_webhook_is_paused_and_resumed_on_its_page(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, receiver) = (server.new_identity(), Receiver::start());
    let hook = text(&server.register(&alice, &receiver.url), "webhook_id");
    let browser = Browser::sign_in(&server, &alice);
    let page = format!("/dashboard/keys/{}/webhooks/{hook}", alice.key);
    let paused = browser.submit(&page, "do=pause");
    assert!(paused.contains("role=\"status\">The webhook is paused."), "{paused}");
    let lists =
        ["/dashboard/webhooks".to_owned(), format!("/dashboard/keys/{}/webhooks", alice.key)];
    for list in &lists {
        assert!(browser.page(list).contains("badge warn\">paused"), "{list}");
    }
    let envelope = send(&server, &alice, &alice.key, &json!({}));
    let waiting = browser.page(&page);
    assert!(waiting.contains("tag pending") && waiting.contains(&envelope), "{waiting}");
    assert!(receiver.requests().is_empty());
    let is_offered = ["Send failed again", "Send the selected", "name=\"selected\""]
        .map(|offer| waiting.contains(offer));
    assert_eq!(is_offered, [false; 3], "{waiting}");
    let refused = browser.submit(&page, "do=recover&hours=1");
    assert!(
        refused.contains("role=\"status\">The webhook is paused; resume it first"),
        "{refused}"
    );
    let resumed = browser.submit(&page, "do=resume");
    assert!(resumed.contains("role=\"status\">The webhook is resumed."), "{resumed}");
    receiver.await_requests(1);
}

fn the_event_log_filters_by_kind_with_counts(database: &Database) {
    let settings =
        ["--events", "v1.1", "--webhook-retry-schedule", "10ms", "--dashboard-per-minute=0"];
    let server = database.serve_with(&settings);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (failing, informed) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    server.register(&bob, &failing.url);
    let events = ["envelope.bounced", "envelope.received"];
    let body = json!({"url": informed.url, "events": events});
    server.act(&alice, "/v1/webhooks/register", &body).ok();
    send(&server, &alice, &bob.key, &json!({}));
    let received = send(&server, &bob, &alice.key, &json!({}));
    informed.await_requests(2);
    let browser = Browser::sign_in(&server, &alice);
    let log = format!("/dashboard/keys/{}/events", alice.key);
    let counted = |kind: &str| format!("{kind} <span class=\"count\">1</span>");
    wait_until("both events are counted", || {
        let page = browser.page(&log);
        events.iter().all(|kind| page.contains(&counted(kind)))
    });
    for (kind, is_listed) in [("envelope.received", true), ("envelope.bounced", false)] {
        let page = browser.page(&format!("{log}?kind={kind}"));
        assert_eq!(page.matches("<tr data-webhook").count(), 1, "{kind}: {page}");
        assert_eq!(page.contains(&format!("title=\"{received}\"")), is_listed, "{kind}");
    }
    assert!(browser.page(&format!("{log}?kind=usage.threshold")).contains("No event matches"));
    server.stop();
    let server = database.serve();
    let page = Browser::sign_in(&server, &alice).page(&log);
    assert!(!page.contains("class=\"count\""), "one kind needs no filter: {page}");
}

fn a_row_of_the_event_log_has_its_sender_and_its_attempts(database: &Database) {
    let settings = ["--webhook-retry-schedule", "10ms,10ms", "--dashboard-per-minute=0"];
    let server = database.serve_with(&settings);
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let receiver = Receiver::reacting(|_| Reaction::Status(500));
    let hook = text(&server.register(&bob, &receiver.url), "webhook_id");
    let envelope = send(&server, &alice, &bob.key, &json!({}));
    receiver.await_requests(3);
    let browser = Browser::sign_in(&server, &bob);
    let page = eventually("the last attempt is listed", SOON, || {
        let page = browser.page(&format!("/dashboard/keys/{}/events", bob.key));
        page.contains("tag exhausted").then_some(page)
    });
    assert_eq!(page.matches("<tr data-webhook").count(), 1, "one row for one event: {page}");
    assert!(page.contains("2 earlier attempts") && page.contains("@alice"), "{page}");
    assert!(!page.contains("Block"), "{page}");
    let event = browser.page(&format!("/dashboard/keys/{}/events/{envelope}", bob.key));
    assert!(event.contains("Block <strong>"), "{event}");
    let webhook = browser.page(&format!("/dashboard/keys/{}/webhooks/{hook}", bob.key));
    assert!(webhook.contains("half within") && webhook.contains("3 responses"), "{webhook}");
}

fn lists_of_another_account_are_not_shown(database: &Database) {
    let server = database.serve_with(&["--dashboard-per-minute=0"]);
    let (alice, mallory) = (server.new_identity(), server.new_identity());
    let hook = text(&server.register(&alice, "http://127.0.0.1:9999/hook"), "webhook_id");
    let envelope = send(&server, &alice, &alice.key, &json!({}));
    let browser = Browser::sign_in(&server, &mallory);
    for (key, rest) in [
        (&alice.key, "/sent".to_owned()),
        (&alice.key, format!("/sent/{envelope}")),
        (&mallory.key, format!("/sent/{envelope}")),
        (&alice.key, format!("/webhooks/{hook}/change")),
        (&mallory.key, format!("/webhooks/{hook}/change")),
    ] {
        let path = format!("/dashboard/keys/{key}{rest}");
        assert_eq!(browser.get(&path).status, 404, "{path}");
    }
    for path in ["sent", "events"] {
        let path = format!("/dashboard/{path}?identity={}", alice.key);
        let page = browser.get(&path);
        assert_eq!(page.status, 404, "{path}");
    }
    let found = browser.page(&format!("/dashboard/events?id={envelope}"));
    assert!(found.contains("No identity of this account has an event"), "{found}");
    let form = format!("form_token={}&url=http%3A%2F%2F127.0.0.1%3A9999%2F", browser.form_token());
    let change = format!("/dashboard/keys/{}/webhooks/{hook}/change", alice.key);
    assert_eq!(browser.post(&change, &form, "same-origin").status, 404);
}

#[test]
fn a_wrong_parameter_in_an_address_shows_an_error_page() {
    let server = Server::shared();
    let browser = Browser::sign_in(&server, &server.new_identity());
    for path in [
        "/dashboard/sign-in?next=a&next=b",
        "/dashboard/activity?cursor=a&cursor=b",
        "/dashboard/sent?state=a&state=b",
    ] {
        let response = browser.get(path);
        let kind = response.header("content-type");
        assert_eq!((response.status, kind), (400, Some("text/html; charset=utf-8")), "{path}");
        let page = String::from_utf8(response.body).unwrap();
        assert!(page.contains("has a wrong parameter"), "{page}");
        assert!(page.contains("href=\"/dashboard\""), "{page}");
    }
}
