//! Tests of the order of checks. A request with several faults reports the fault that the API contract checks first.

use serde_json::json;

use crate::support::{Database, Server, on_embedded, until_limited, within_one_minute};

on_embedded!(
    an_oversized_message_is_reported_before_a_raw_did,
    faults_are_reported_in_the_order_of_the_contract,
    the_minute_limit_is_checked_before_the_body,
);

fn faults_are_reported_in_the_order_of_the_contract(database: &Database) {
    let server = database.serve_with(&["--max-body-bytes", "1000"]);
    let large = [b'{'; 2000];
    for path in KEYED.into_iter().chain(["/v1/did/activate", "/v1/auth/login"]) {
        let body = |content_type: &str, body: &[u8]| server.post(path).body(content_type, body);
        let wrong_method = server.request("PUT", path).body("text/plain", &large);
        wrong_method.response().refused(405, "METHOD_NOT_ALLOWED");
        body("text/plain", &large).response().refused(415, "UNSUPPORTED_MEDIA_TYPE");
        body("application/json", &large).response().refused(413, "PAYLOAD_TOO_LARGE");
        if KEYED.contains(&path) {
            body("application/json", b"{").response().refused(401, "UNAUTHORIZED");
        }
    }
    let activation = server.post("/v1/did/activate").token("st_x").body("application/json", b"{");
    activation.response().refused(401, "UNAUTHORIZED");
    let logout = server.post("/v1/auth/logout").token("st_x").body("application/json", b"{");
    logout.response().refused(401, "UNAUTHORIZED");
}

#[test]
fn the_session_and_the_key_are_checked_before_the_body() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for path in KEYED {
        for body in ["{", "{}"] {
            let post = || server.post(path).body("application/json", body.as_bytes());
            post().response().refused(401, "UNAUTHORIZED");
            post().token("st_x").response().refused(401, "UNAUTHORIZED");
            post().token("st_x").key("ak_x").response().refused(401, "UNAUTHORIZED");
            let foreign = post().token(&alice.token).key(&bob.key);
            foreign.response().refused(401, "UNAUTHORIZED");
            let unknown = post().token(&alice.token).key("ak_x");
            unknown.response().refused(404, "KEY_NOT_FOUND");
        }
        // The key would be in the body.
        let keyless = |body: &[u8]| {
            server.post(path).token(&alice.token).body("application/json", body).response()
        };
        keyless(b"{").refused(400, "INVALID_JSON");
        let other_type = keyless(b"{\"api_key_id\":7}").refused(400, "INVALID_FIELD");
        assert_eq!(other_type["field"], "api_key_id", "{path}");
        let without_session = server.post(path).json(&json!({})).response();
        let without_session = without_session.refused(401, "UNAUTHORIZED");
        assert_ne!(
            without_session["detail"],
            keyless(b"{}").refused(401, "UNAUTHORIZED")["detail"]
        );
    }
    let used = server.status(&bob).ok()["usage"]["day"]["used"].clone();
    assert_eq!(used, 1, "requests of another account do not count");
}

#[test]
fn a_missing_field_is_reported_before_an_invalid_field() {
    let server = Server::shared();
    let alice = server.new_identity();
    for (path, body, field) in [
        ("/v1/channel/send", json!({"message": 7}), "to"),
        ("/v1/channel/send", json!({"to": 7}), "message"),
        ("/v1/channel/send", json!({"to": "did:key:x", "message": null}), "message"),
        ("/v1/channel/send", json!({}), "to"),
        ("/v1/webhooks/register", json!({"url": 7}), "events"),
        ("/v1/webhooks/register", json!({"events": 7}), "url"),
        ("/v1/webhooks/register", json!({}), "url"),
    ] {
        let problem = server.act(&alice, path, &body).refused(400, "MISSING_FIELD");
        assert_eq!(problem["field"], field, "{path} {body}");
    }
    let activation = server.activate(&json!({"handle": 7})).refused(400, "MISSING_FIELD");
    assert_eq!(activation["field"], "label");
}

#[test]
fn an_unknown_member_is_reported_after_an_invalid_member() {
    let server = Server::shared();
    let alice = server.new_identity();
    let (hook, url) = ("wh_00000000000000000000000000", "https://example.org/");
    for (path, mut body, field) in [
        ("/v1/channel/send", json!({"to": alice.key, "message": 7}), "message"),
        ("/v1/webhooks/register", json!({"url": "ftp://x", "events": ["bogus"]}), "url"),
        ("/v1/webhooks/register", json!({"url": url, "events": ["bogus"]}), "events"),
        ("/v1/webhooks/update", json!({"webhook_id": hook, "events": ["bogus"]}), "events"),
        ("/v1/compliance/validate", json!({"jurisdiction": "ZZ"}), "jurisdiction"),
        ("/v1/badges/issue", json!({"jurisdiction": "ZZ"}), "jurisdiction"),
    ] {
        body["unknown"] = json!(1);
        let problem = server.act(&alice, path, &body).refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], field, "{path} {body}");
    }
}

fn an_oversized_message_is_reported_before_a_raw_did(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let alice = server.new_identity();
    let problem = server.send(&alice, "did:key:x", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(problem["field"], "message");
    server.send(&alice, "nobody", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    server.send(&alice, "did:key:x", "1234567890").refused(400, "RAW_DID_REJECTED");
    server.send(&alice, &alice.key, "1234567890").ok();
    server.send(&alice, &alice.key, "üüüüüü").refused(413, "PAYLOAD_TOO_LARGE");
}

fn the_minute_limit_is_checked_before_the_body(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let faulty: [(&str, &[u8]); 7] = [
        ("/v1/channel/send", b"{"),
        ("/v1/channel/send", b"{}"),
        ("/v1/channel/send", b"{\"to\":\"did:key:x\",\"message\":\"x\"}"),
        ("/v1/channel/send", b"{\"to\":\"x\",\"message\":\"12345678901\"}"),
        ("/v1/channel/open", b"{}"),
        ("/v1/webhooks/register", b"{}"),
        ("/v1/webhooks", b"{}"),
    ];
    let responses = within_one_minute(|| {
        let alice = server.new_identity();
        until_limited(|| server.status(&alice));
        faulty.map(|(path, body)| {
            server.post(path).by(&alice).body("application/json", body).response()
        })
    });
    for response in responses {
        response.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    let foreign = within_one_minute(|| {
        let (alice, bob) = (server.new_identity(), server.new_identity());
        until_limited(|| server.status(&alice));
        let body = json!({"to": "x", "message": "x"});
        server.post("/v1/channel/send").token(&bob.token).key(&alice.key).json(&body).response()
    });
    foreign.refused(401, "UNAUTHORIZED");
}

const KEYED: [&str; 6] = [
    "/v1/did/status",
    "/v1/channel/send",
    "/v1/channel/open",
    "/v1/channel/receipt",
    "/v1/webhooks/register",
    "/v1/webhooks",
];
