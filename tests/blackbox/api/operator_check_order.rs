//! The order of the checks that an operator's decisions bring about: each fault is taken away, and the next is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Identity, SOON, eventually, on_both};

on_both!(
    a_caller_is_told_of_its_key_then_of_governance_then_of_the_rate_then_of_the_body,
    a_key_that_used_up_its_minute_is_found_out_when_it_is_revoked,
    a_recipient_is_judged_before_throughput_and_throughput_before_the_month,
    a_repeated_request_is_answered_before_its_recipient_is_judged,
    an_idempotency_key_is_judged_after_the_body_and_before_the_recipient,
);

fn a_caller_is_told_of_its_key_then_of_governance_then_of_the_rate_then_of_the_body(
    database: &Database,
) {
    let server = database.serve();
    let client = server.client();
    let (alice, mallory) = (client.newcomer(), client.newcomer());
    let key = alice.key.as_str();
    // Nothing is ever admitted.
    database.set_enterprise(key, [0, 1000, 1000, 1000]);
    database.operate(&["governance", "enforce", key, "--reason", "x"]);
    database.operate(&["key", "deactivate", key]);
    let every = |code: &str, status: u16| {
        for path in EXECUTING {
            let post =
                |body: &str| client.post(path).by(&alice).body("application/json", body.as_bytes());
            post("{").answer().refused(status, code);
            post("{}").answer().refused(status, code);
        }
    };
    let body = json!({"to": "x", "message": "x"});
    let foreign = client.post("/v1/channel/send").token(&mallory.token).key(key).json(&body);
    foreign.answer().refused(401, "UNAUTHORIZED");
    every("KEY_INACTIVE", 403);
    database.operate(&["key", "reactivate", key]);
    every("GOVERNANCE_BLOCKED", 403);
    // What governance does not block is counted.
    client.status(&alice).refused(429, "RATE_LIMIT_EXCEEDED");
    database.operate(&["governance", "lift", key, "--reason", "x"]);
    every("RATE_LIMIT_EXCEEDED", 429);
    database.set_enterprise(key, [1000, 1000, 1000, 1000]);
    eventually("the plan holds", SOON, || (client.status(&alice).status == 200).then_some(()));
    for path in EXECUTING {
        let broken = client.post(path).by(&alice).body("application/json", b"{");
        broken.answer().refused(400, "INVALID_JSON");
    }
}

/// A client that hammers on is refused from memory for a moment; never is it let through.
fn a_key_that_used_up_its_minute_is_found_out_when_it_is_revoked(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    for who in [&alice, &bob] {
        database.set_enterprise(&who.key, [0, 1000, 1000, 1000]);
        client.status(who).refused(429, "RATE_LIMIT_EXCEEDED");
        client.send(who, &who.key, "x").refused(429, "RATE_LIMIT_EXCEEDED");
    }
    database.operate(&["key", "revoke", &alice.key]);
    client.post("/v1/auth/logout").token(&bob.token).answer().ok();
    for (who, status, code) in [(&alice, 403, "KEY_INACTIVE"), (&bob, 401, "UNAUTHORIZED")] {
        let by_status = || client.status(who);
        let by_send = || client.send(who, &who.key, "x");
        let asks: [&dyn Fn() -> Answer; 2] = [&by_status, &by_send];
        for ask in asks {
            let began = Instant::now();
            let found_out = eventually("it is found out", SOON, || {
                let asked = began.elapsed();
                let answer = ask();
                if answer.status == 429 {
                    answer.refused(429, "RATE_LIMIT_EXCEEDED");
                    assert!(asked <= Duration::from_secs(5), "{asked:?}");
                    return None;
                }
                Some(answer)
            });
            found_out.refused(status, code);
        }
    }
}

fn a_recipient_is_judged_before_throughput_and_throughput_before_the_month(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer_named("bob"));
    database.set_enterprise(&alice.key, [1000, 1000, 0, 0]);
    database.operate(&["governance", "enforce", &bob.account, "--reason", "x"]);
    database.operate(&["key", "deactivate", &bob.key]);
    let to_bob = |status: u16, code: &str| {
        for to in [bob.key.as_str(), "bob"] {
            let problem = client.send(&alice, to, "x").refused(status, code);
            assert_eq!(problem.get("field"), (status == 403).then_some(&json!("to")), "{code}");
        }
    };
    client.send(&alice, &bob.did, "x").refused(400, "RAW_DID_REJECTED");
    client.send(&alice, "nobody", "x").refused(404, "KEY_NOT_FOUND");
    to_bob(403, "KEY_INACTIVE");
    database.operate(&["key", "reactivate", &bob.key]);
    to_bob(403, "GOVERNANCE_BLOCKED");
    database.operate(&["governance", "lift", &bob.account, "--reason", "x"]);
    to_bob(429, "RATE_LIMIT_EXCEEDED");
    database.set_enterprise(&alice.key, [1000, 1000, 0, 1000]);
    to_bob(429, "MONTHLY_LIMIT_EXCEEDED");
    database.set_enterprise(&alice.key, [1000, 1000, 2, 1000]);
    client.send(&alice, "bob", "x").ok();
    let usage = &client.status(&alice).ok()["usage"];
    // Neither the sends that a limit refused count, nor those before.
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(8), &json!(1)));
}

fn an_idempotency_key_is_judged_after_the_body_and_before_the_recipient(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let send = |body: Value| send(client, &alice, &body);
    send(json!({"to": bob.key, "message": "x"})).ok();
    send(json!({"to": bob.key})).refused(400, "MISSING_FIELD");
    send(json!({"to": bob.key, "message": 7})).refused(400, "INVALID_FIELD");
    let large = send(json!({"to": bob.key, "message": "12345678901"}));
    large.refused(413, "PAYLOAD_TOO_LARGE");
    for to in ["did:key:x", "nobody", bob.key.as_str()] {
        let other = send(json!({"to": to, "message": "other"}));
        assert_eq!(other.refused(422, "IDEMPOTENCY_KEY_REUSED").get("field"), None);
    }
    database.set_enterprise(&alice.key, [1000, 1000, 0, 0]);
    let other = json!({"to": bob.key, "message": "other"});
    send(other.clone()).refused(422, "IDEMPOTENCY_KEY_REUSED");
    database.operate(&["key", "deactivate", &alice.key]);
    send(other).refused(403, "KEY_INACTIVE");
}

fn a_repeated_request_is_answered_before_its_recipient_is_judged(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let body = json!({"to": bob.key, "message": "x"});
    let first = send(client, &alice, &body).ok();
    let check = || {
        let again = send(client, &alice, &body);
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again:?}");
        assert_eq!(again.ok(), first);
    };
    database.set_enterprise(&alice.key, [1000, 1000, 0, 0]);
    check();
    database.operate(&["governance", "enforce", &bob.key, "--reason", "x"]);
    check();
    database.operate(&["key", "deactivate", &bob.key]);
    check();
    database.operate(&["key", "revoke", &bob.key]);
    check();
    database.operate(&["governance", "enforce", &alice.key, "--reason", "x"]);
    send(client, &alice, &body).refused(403, "GOVERNANCE_BLOCKED");
}

fn send(client: &Client, from: &Identity, body: &Value) -> Answer {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", "order-7");
    request.json(body).answer()
}

const EXECUTING: [&str; 3] = ["/v1/channel/send", "/v1/channel/open", "/v1/webhooks/register"];
