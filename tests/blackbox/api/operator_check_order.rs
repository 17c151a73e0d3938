//! Tests of the order of checks that depend on operator decisions. Each step fixes the reported fault, and expects the
//! next fault.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Response, SOON, eventually, on_both, on_embedded, wait_until,
};

on_both!(
    a_rate_limited_key_is_rejected_as_revoked_after_its_revocation,
    a_replayed_request_gets_its_response_before_the_recipient_is_checked,
);
on_embedded!(
    checks_run_in_the_order_key_state_governance_rate_limit_body,
    the_recipient_is_checked_before_throughput_and_throughput_before_the_month,
    an_idempotency_key_is_checked_after_the_body_and_before_the_recipient,
);

fn checks_run_in_the_order_key_state_governance_rate_limit_body(database: &Database) {
    let server = database.serve();
    let (alice, mallory) = (server.new_identity(), server.new_identity());
    let key = alice.key.as_str();
    // No request is admitted.
    database.set_enterprise(key, [0, 1000, 1000, 1000]);
    database.operate(&["governance", "enforce", key, "--reason", "x"]);
    database.operate(&["key", "deactivate", key]);
    let every = |code: &str, status: u16| {
        for path in EXECUTING {
            let post =
                |body: &str| server.post(path).by(&alice).body("application/json", body.as_bytes());
            post("{").response().refused(status, code);
            post("{}").response().refused(status, code);
        }
    };
    let body = json!({"to": "x", "message": "x"});
    let foreign = server.post("/v1/channel/send").token(&mallory.token).key(key).json(&body);
    foreign.response().refused(401, "UNAUTHORIZED");
    every("KEY_INACTIVE", 403);
    database.operate(&["key", "reactivate", key]);
    every("GOVERNANCE_BLOCKED", 403);
    // Requests that governance allows count.
    server.status(&alice).refused(429, "RATE_LIMIT_EXCEEDED");
    database.operate(&["governance", "lift", key, "--reason", "x"]);
    every("RATE_LIMIT_EXCEEDED", 429);
    database.set_enterprise(key, [1000, 1000, 1000, 1000]);
    wait_until("the plan holds", || server.status(&alice).status == 200);
    for path in EXECUTING {
        let broken = server.post(path).by(&alice).body("application/json", b"{");
        broken.response().refused(400, "INVALID_JSON");
    }
}

/// The rate-limit cache may reject a revoked key for a moment with the old reason, but never admits the key.
fn a_rate_limited_key_is_rejected_as_revoked_after_its_revocation(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for identity in [&alice, &bob] {
        database.set_enterprise(&identity.key, [0, 1000, 1000, 1000]);
        server.status(identity).refused(429, "RATE_LIMIT_EXCEEDED");
        server.send(identity, &identity.key, "x").refused(429, "RATE_LIMIT_EXCEEDED");
    }
    database.operate(&["key", "revoke", &alice.key]);
    server.post("/v1/auth/logout").token(&bob.token).response().ok();
    for (identity, status, code) in [(&alice, 403, "KEY_INACTIVE"), (&bob, 401, "UNAUTHORIZED")] {
        let by_status = || server.status(identity);
        let by_send = || server.send(identity, &identity.key, "x");
        let asks: [&dyn Fn() -> Response; 2] = [&by_status, &by_send];
        for ask in asks {
            let began = Instant::now();
            let found_out = eventually("it is found out", SOON, || {
                let asked = began.elapsed();
                let response = ask();
                if response.status == 429 {
                    response.refused(429, "RATE_LIMIT_EXCEEDED");
                    assert!(asked <= Duration::from_secs(5), "{asked:?}");
                    return None;
                }
                Some(response)
            });
            found_out.refused(status, code);
        }
    }
}

fn the_recipient_is_checked_before_throughput_and_throughput_before_the_month(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    database.set_enterprise(&alice.key, [1000, 1000, 0, 0]);
    database.operate(&["governance", "enforce", &bob.account, "--reason", "x"]);
    database.operate(&["key", "deactivate", &bob.key]);
    let to_bob = |status: u16, code: &str| {
        for to in [bob.key.as_str(), "bob"] {
            let problem = server.send(&alice, to, "x").refused(status, code);
            assert_eq!(problem.get("field"), (status == 403).then_some(&json!("to")), "{code}");
        }
    };
    server.send(&alice, &bob.did, "x").refused(400, "RAW_DID_REJECTED");
    server.send(&alice, "nobody", "x").refused(404, "KEY_NOT_FOUND");
    to_bob(403, "KEY_INACTIVE");
    database.operate(&["key", "reactivate", &bob.key]);
    to_bob(403, "GOVERNANCE_BLOCKED");
    database.operate(&["governance", "lift", &bob.account, "--reason", "x"]);
    to_bob(429, "RATE_LIMIT_EXCEEDED");
    database.set_enterprise(&alice.key, [1000, 1000, 0, 1000]);
    to_bob(429, "MONTHLY_LIMIT_EXCEEDED");
    database.set_enterprise(&alice.key, [1000, 1000, 2, 1000]);
    server.send(&alice, "bob", "x").ok();
    let usage = &server.status(&alice).ok()["usage"];
    // Sends rejected by a limit do not count, and neither do earlier rejections.
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(8), &json!(1)));
}

fn an_idempotency_key_is_checked_after_the_body_and_before_the_recipient(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let send = |body: Value| send(&server, &alice, &body);
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

fn a_replayed_request_gets_its_response_before_the_recipient_is_checked(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let body = json!({"to": bob.key, "message": "x"});
    let first = send(&server, &alice, &body).ok();
    let check = || {
        let again = send(&server, &alice, &body);
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again:?}");
        assert_eq!(again.ok(), first);
    };
    server.act(&bob, "/v1/did/policy", &json!({"block": [alice.key]})).ok();
    check();
    database.set_enterprise(&alice.key, [1000, 1000, 0, 0]);
    check();
    database.operate(&["governance", "enforce", &bob.key, "--reason", "x"]);
    check();
    database.operate(&["key", "deactivate", &bob.key]);
    check();
    database.operate(&["key", "revoke", &bob.key]);
    check();
    database.operate(&["governance", "enforce", &alice.key, "--reason", "x"]);
    send(&server, &alice, &body).refused(403, "GOVERNANCE_BLOCKED");
}

fn send(client: &Client, from: &Identity, body: &Value) -> Response {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", "order-7");
    request.json(body).response()
}

const EXECUTING: [&str; 3] = ["/v1/channel/send", "/v1/channel/open", "/v1/webhooks/register"];
