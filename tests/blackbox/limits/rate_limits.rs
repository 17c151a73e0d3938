//! What answers say about limits, that it is true, and that a change of plan holds on servers that run.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    Answer, Client, Database, Identity, SOON, Server, eventually, on_both, within_one_minute,
};

on_both!(
    a_change_of_plan_holds_within_five_seconds_and_keeps_what_was_used,
    every_answer_after_the_rate_check_tells_what_is_left,
    no_answer_before_the_rate_check_tells_of_limits,
    who_waits_as_long_as_is_said_succeeds,
    who_waits_for_the_next_minute_is_told_how_long,
);

fn every_answer_after_the_rate_check_tells_what_is_left(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (answers, status, refused) = within_one_minute(|| {
        let alice = client.newcomer();
        let mut answers: Vec<_> = ADMITTED
            .iter()
            .map(|(path, body, status)| {
                let body = body.replace("MYSELF", &alice.key);
                (*path, *status, post(client, &alice, path, &body))
            })
            .collect();
        let status = client.status(&alice);
        answers.push(("/v1/did/status", 429, use_up_the_minute(client, &alice)));
        answers.push(("/v1/channel/send", 429, client.send(&alice, &alice.key, "x")));
        (answers, status, client.status(&alice))
    });
    let mut remaining = 20;
    for (path, expected, answer) in &answers {
        assert_eq!(answer.status, *expected, "{path}");
        remaining = if *expected == 429 { 0 } else { remaining - 1 };
        let is_send = *path == "/v1/channel/send";
        let policy = answer.header("ratelimit-policy").unwrap();
        let month = if is_send { r#", "month";q=1000"# } else { "" };
        assert_eq!(policy, format!(r#""minute";q=20;w=60, "day";q=1000;w=86400{month}"#), "{path}");
        let left = items(answer);
        assert_eq!(left.len(), if is_send { 3 } else { 2 }, "{path}");
        assert_eq!(left["minute"]["r"], remaining, "{path}");
        assert!((1..=60).contains(&left["minute"]["t"]) && left["day"]["t"] <= 86_400);
        let messages = answers[0].2.ok();
        assert!(messages["envelope_id"].is_string());
        assert!(left.get("month").is_none_or(|month| month["r"] == 999), "{path}");
    }
    let left = items(&status);
    let usage = &status.ok()["usage"];
    for window in ["minute", "day"] {
        assert_eq!(usage[window]["remaining"], left[window]["r"], "{window}");
    }
    let wait: u64 = refused.refused(429, "RATE_LIMIT_EXCEEDED")["status"]
        .as_u64()
        .map_or(0, |_| refused.header("retry-after").unwrap().parse().unwrap());
    assert_eq!(wait, items(&refused)["minute"]["t"], "both say when there is more");
}

fn no_answer_before_the_rate_check_tells_of_limits(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let sibling = client.sibling(&alice);
    let post = |path: &str| client.post(path).json(&json!({"to": bob.key, "message": "x"}));
    database.operate(&["key", "deactivate", &sibling.key]);
    database.operate(&["governance", "enforce", &bob.key, "--reason", "x"]);
    for path in ["/v1/did/status", "/v1/channel/send", "/v1/channel/open", "/v1/webhooks"] {
        for answer in [
            post(path).answer(),
            post(path).key(&alice.key).answer(),
            post(path).token(&alice.token).answer(),
            post(path).token(&alice.token).key("ak_x").answer(),
            post(path).token(&bob.token).key(&alice.key).answer(),
            post(path).by(&sibling).answer(),
            client.request("GET", path).by(&alice).answer(),
            client.post(path).by(&alice).body("text/plain", b"x").answer(),
        ] {
            assert!(matches!(answer.status, 401 | 403 | 404 | 405 | 415), "{path}");
            tells_nothing(&answer);
        }
    }
    tells_nothing(&post("/v1/channel/send").by(&bob).answer());
    tells_nothing(&client.login(&alice.account, alice.login_secret.as_ref().unwrap()));
    tells_nothing(&client.request("GET", "/v1/ping").answer());
}

fn who_waits_as_long_as_is_said_succeeds(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1]);
    client.send(&alice, &alice.key, "nothing is looked up any more").ok();
    for _ in 0..2 {
        let refused = eventually("a second message is too much", WITHIN, || {
            let answer = client.send(&alice, &alice.key, "x");
            (answer.status == 429).then_some(answer)
        });
        let problem = refused.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(problem["detail"].as_str().unwrap().contains("second"), "{problem}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        thread::sleep(retry_after(&refused));
        client.send(&alice, &alice.key, "x").ok();
    }
}

fn who_waits_for_the_next_minute_is_told_how_long(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, refused) = within_one_minute(|| {
        let alice = client.newcomer();
        let refused = use_up_the_minute(client, &alice);
        (alice, refused)
    });
    refused.refused(429, "RATE_LIMIT_EXCEEDED");
    // `Sat, 21 Nov 2026 03:39:05 GMT`; the date of an answer is a moment old.
    let date = refused.header("date").unwrap();
    let second: u64 = date.rsplit([':', ' ']).nth(1).unwrap().parse().unwrap();
    let wait = retry_after(&refused);
    assert!((1..=60).contains(&wait.as_secs()), "{date} {wait:?}");
    // Of the minute before, where the next has just begun.
    assert!((wait.as_secs() + second + 2) % 60 <= 2, "{date} {wait:?}");
    if wait <= Duration::from_secs(4) {
        thread::sleep(wait);
        client.status(&alice).ok();
    }
}

fn a_change_of_plan_holds_within_five_seconds_and_keeps_what_was_used(database: &Database) {
    let nodes = database.serve_on_every_node();
    let clients: Vec<&Client> = nodes.iter().map(Server::client).collect();
    let (more, fewer) = within_one_minute(|| {
        let alice = clients[0].newcomer();
        clients[0].send(&alice, &alice.key, "x").ok();
        for client in &clients {
            use_up_the_minute(client, &alice);
        }
        database.operate(&["plan", "set", &alice.key, "builder"]);
        let more: Vec<Value> =
            clients.iter().map(|client| within_five_seconds(client, &alice, 200)).collect();
        database.set_enterprise(&alice.key, [7, 1000, 500, 10]);
        let fewer: Vec<_> =
            clients.iter().map(|client| within_five_seconds(client, &alice, 429)).collect();
        (more, fewer)
    });
    for (used, status) in (21..).zip(&more) {
        assert_eq!(status["plan"], "builder");
        let expected = json!({"used": used, "limit": 200, "remaining": 200 - used});
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(status["usage"]["minute"][name], *value, "{name}");
        }
        assert_eq!(status["usage"]["month"]["used"], 1);
        assert_eq!(status["usage"]["month"]["limit"], 10_000);
    }
    for problem in fewer {
        assert!(problem["detail"].as_str().unwrap().contains('7'), "{problem}");
    }
}

#[test]
fn two_nodes_admit_two_hundred_at_once_exactly_up_to_the_limit() {
    let database = Database::postgres();
    let nodes = [database.serve(), database.serve()];
    let admitted = within_one_minute(|| {
        let alice = nodes[0].client().newcomer();
        database.set_enterprise(&alice.key, [20, 1000, 1000, 1000]);
        let admitted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for node in nodes.iter().cycle().take(20) {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let answer = node.client().send(&alice, &alice.key, "x");
                        if answer.status == 200 {
                            admitted.fetch_add(1, Ordering::Relaxed);
                        } else {
                            answer.refused(429, "RATE_LIMIT_EXCEEDED");
                        }
                    }
                });
            }
        });
        admitted.into_inner()
    });
    assert_eq!(admitted, 20);
}

fn post(client: &Client, who: &Identity, path: &str, body: &str) -> Answer {
    client.post(path).by(who).body("application/json", body.as_bytes()).answer()
}

/// The first refusal.
fn use_up_the_minute(client: &Client, who: &Identity) -> Answer {
    let mut answers = (0..45).map(|_| client.status(who));
    answers.find(|answer| answer.status == 429).expect("the minute has an end")
}

#[track_caller]
fn within_five_seconds(client: &Client, who: &Identity, status: u16) -> Value {
    let began = Instant::now();
    eventually("the plan holds", SOON, || {
        let asked = began.elapsed();
        let answer = client.status(who);
        if answer.status == status {
            return Some(answer.json());
        }
        assert!(asked <= Duration::from_secs(5), "{asked:?}");
        None
    })
}

/// The parameters of each item of `RateLimit`.
#[track_caller]
fn items(answer: &Answer) -> BTreeMap<String, BTreeMap<String, u64>> {
    let value = answer.header("ratelimit").expect("RateLimit");
    let item = |item: &str| {
        let (name, parameters) = item.split_once(';').unwrap();
        let parameter = |parameter: &str| {
            let (name, value) = parameter.split_once('=').unwrap();
            (name.to_owned(), value.parse().unwrap())
        };
        (name.trim_matches('"').to_owned(), parameters.split(';').map(parameter).collect())
    };
    value.split(", ").map(item).collect()
}

fn retry_after(answer: &Answer) -> Duration {
    Duration::from_secs(answer.header("retry-after").unwrap().parse().unwrap())
}

#[track_caller]
fn tells_nothing(answer: &Answer) {
    for name in ["ratelimit", "ratelimit-policy"] {
        assert_eq!(answer.header(name), None, "{}", answer.status);
    }
}

/// Path, body and status of requests that are admitted, the first of them stored.
const ADMITTED: [(&str, &str, u16); 9] = [
    ("/v1/channel/send", r#"{"to":"MYSELF","message":"x"}"#, 200),
    ("/v1/channel/send", "{", 400),
    ("/v1/channel/send", r#"{"to":"nobody","message":"x"}"#, 404),
    ("/v1/did/status", "{}", 200),
    ("/v1/channel/open", "{}", 400),
    ("/v1/channel/open", r#"{"envelope_id":"env_x"}"#, 404),
    ("/v1/webhooks/register", "{}", 400),
    ("/v1/webhooks", r#"{"action":"list"}"#, 200),
    ("/v1/webhooks", r#"{"action":"burn"}"#, 400),
];
const WITHIN: Duration = Duration::from_secs(6);
