//! Tests of the rate-limit headers of responses, and of plan changes while servers run.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Response, SOON, Server, eventually, on_both, on_embedded,
    until_limited, within_one_minute,
};

on_both!(a_plan_change_applies_within_five_seconds_and_keeps_the_usage,);
on_embedded!(
    no_response_before_the_rate_check_shows_limits,
    a_client_that_waits_for_retry_after_succeeds,
);

#[test]
fn every_response_after_the_rate_check_shows_what_remains() {
    let server = Server::shared();
    let (responses, status, refused) = within_one_minute(|| {
        let alice = server.new_identity();
        let mut responses: Vec<_> = ADMITTED
            .iter()
            .map(|(path, body, status)| {
                let body = body.replace("MYSELF", &alice.key);
                (*path, *status, post(&server, &alice, path, &body))
            })
            .collect();
        let status = server.status(&alice);
        responses.push(("/v1/did/status", 429, until_limited(|| server.status(&alice))));
        responses.push(("/v1/channel/send", 429, server.send(&alice, &alice.key, "x")));
        (responses, status, server.status(&alice))
    });
    let mut remaining = 20;
    for (path, expected, response) in &responses {
        assert_eq!(response.status, *expected, "{path}");
        remaining = if *expected == 429 { 0 } else { remaining - 1 };
        let is_send = *path == "/v1/channel/send";
        let policy = response.header("ratelimit-policy").unwrap();
        let month = if is_send { r#", "month";q=1000"# } else { "" };
        assert_eq!(policy, format!(r#""minute";q=20;w=60, "day";q=1000;w=86400{month}"#), "{path}");
        let left = items(response);
        assert_eq!(left.len(), if is_send { 3 } else { 2 }, "{path}");
        assert_eq!(left["minute"]["r"], remaining, "{path}");
        assert!(*expected == 429 || left["day"]["r"] == 980 + remaining, "{path}: {left:?}");
        assert!((1..=60).contains(&left["minute"]["t"]) && left["day"]["t"] <= 86_400);
        let messages = responses[0].2.ok();
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
    assert_eq!(wait, items(&refused)["minute"]["t"], "both headers name the same time");
}

fn no_response_before_the_rate_check_shows_limits(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let sibling = server.sibling(&alice);
    let post = |path: &str| server.post(path).json(&json!({"to": bob.key, "message": "x"}));
    database.operate(&["key", "deactivate", &sibling.key]);
    database.operate(&["governance", "enforce", &bob.key, "--reason", "x"]);
    for path in ["/v1/did/status", "/v1/channel/send", "/v1/channel/open", "/v1/webhooks"] {
        for response in [
            post(path).response(),
            post(path).key(&alice.key).response(),
            post(path).token(&alice.token).response(),
            post(path).token(&alice.token).key("ak_x").response(),
            post(path).token(&bob.token).key(&alice.key).response(),
            post(path).by(&sibling).response(),
            server.request("GET", path).by(&alice).response(),
            server.post(path).by(&alice).body("text/plain", b"x").response(),
        ] {
            assert!(matches!(response.status, 401 | 403 | 404 | 405 | 415), "{path}");
            check_no_limits(&response);
        }
    }
    check_no_limits(&post("/v1/channel/send").by(&bob).response());
    check_no_limits(&server.log_in(&alice));
    check_no_limits(&server.get("/v1/ping"));
}

fn a_client_that_waits_for_retry_after_succeeds(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1]);
    server.send(&alice, &alice.key, "nothing is looked up any more").ok();
    for _ in 0..2 {
        let refused = until_limited(|| server.send(&alice, &alice.key, "x"));
        let problem = refused.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(problem["detail"].as_str().unwrap().contains("second"), "{problem}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        thread::sleep(retry_after(&refused));
        server.send(&alice, &alice.key, "x").ok();
    }
}

#[test]
fn retry_after_points_at_the_end_of_the_minute() {
    let server = Server::shared();
    let (alice, refused) = within_one_minute(|| {
        let alice = server.new_identity();
        let refused = until_limited(|| server.status(&alice));
        (alice, refused)
    });
    refused.refused(429, "RATE_LIMIT_EXCEEDED");
    // For example `Sat, 21 Nov 2026 03:39:05 GMT`. The date of a response is slightly old.
    let date = refused.header("date").unwrap();
    let second: u64 = date.rsplit([':', ' ']).nth(1).unwrap().parse().unwrap();
    let wait = retry_after(&refused);
    assert!((1..=60).contains(&wait.as_secs()), "{date} {wait:?}");
    // The date may belong to the previous minute.
    assert!((wait.as_secs() + second + 2) % 60 <= 2, "{date} {wait:?}");
    if wait <= Duration::from_secs(4) {
        thread::sleep(wait);
        server.status(&alice).ok();
    }
}

fn a_plan_change_applies_within_five_seconds_and_keeps_the_usage(database: &Database) {
    let nodes = database.serve_on_every_node();
    let clients: Vec<&Client> = nodes.iter().map(Server::client).collect();
    let (more, fewer) = within_one_minute(|| {
        let alice = clients[0].new_identity();
        clients[0].send(&alice, &alice.key, "x").ok();
        for client in &clients {
            until_limited(|| client.status(&alice));
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

fn post(client: &Client, identity: &Identity, path: &str, body: &str) -> Response {
    client.post(path).by(identity).body("application/json", body.as_bytes()).response()
}

#[track_caller]
fn within_five_seconds(client: &Client, identity: &Identity, status: u16) -> Value {
    let began = Instant::now();
    eventually("the new plan applies", SOON, || {
        let asked = began.elapsed();
        let response = client.status(identity);
        if response.status == status {
            return Some(response.json());
        }
        assert!(asked <= Duration::from_secs(5), "{asked:?}");
        None
    })
}

/// Parses the header `RateLimit` into the parameters of each named limit.
#[track_caller]
fn items(response: &Response) -> BTreeMap<String, BTreeMap<String, u64>> {
    let value = response.header("ratelimit").expect("RateLimit");
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

fn retry_after(response: &Response) -> Duration {
    Duration::from_secs(response.header("retry-after").unwrap().parse().unwrap())
}

#[track_caller]
fn check_no_limits(response: &Response) {
    for name in ["ratelimit", "ratelimit-policy"] {
        assert_eq!(response.header(name), None, "{}", response.status);
    }
}

/// Path, body and status of admitted requests. The first request stores an envelope.
const ADMITTED: [(&str, &str, u16); 13] = [
    ("/v1/channel/send", r#"{"to":"MYSELF","message":"x"}"#, 200),
    ("/v1/channel/send", "{", 400),
    ("/v1/channel/send", "{}", 400),
    ("/v1/channel/send", r#"{"to":"did:key:x","message":"x"}"#, 400),
    ("/v1/channel/send", r#"{"to":"nobody","message":"x"}"#, 404),
    ("/v1/did/status", "{}", 200),
    ("/v1/did/status", "[", 400),
    ("/v1/channel/open", "{}", 400),
    ("/v1/channel/open", r#"{"envelope_id":"env_x"}"#, 404),
    ("/v1/webhooks/register", "{}", 400),
    ("/v1/webhooks/register", r#"{"url":"x","events":["envelope.received"]}"#, 400),
    ("/v1/webhooks", r#"{"action":"list"}"#, 200),
    ("/v1/webhooks", r#"{"action":"burn"}"#, 400),
];
