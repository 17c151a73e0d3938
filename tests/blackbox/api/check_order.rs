//! Tests of the order of checks. A request with several faults reports the fault that the API contract checks first.

use serde_json::json;

use crate::support::{Database, on_both, until_limited, within_one_minute};

on_both!(
    a_foreign_key_is_rejected_before_the_body_is_checked,
    an_oversized_message_is_reported_before_a_raw_did,
    a_missing_key_is_reported_only_with_a_valid_session,
    a_missing_field_is_reported_before_an_invalid_field,
    faults_are_reported_in_the_order_of_the_contract,
    the_minute_limit_is_checked_before_the_body,
    an_unknown_member_is_reported_after_an_invalid_member,
    an_unreadable_body_is_reported_only_with_a_valid_session,
);

fn faults_are_reported_in_the_order_of_the_contract(database: &Database) {
    let server = database.serve_with(&["--max-body-bytes", "1000"]);
    let client = server.client();
    let large = [b'{'; 2000];
    for path in [
        "/v1/channel/send",
        "/v1/channel/open",
        "/v1/channel/receipt",
        "/v1/did/status",
        "/v1/webhooks/register",
        "/v1/webhooks",
    ] {
        let wrong_method = client.request("PUT", path).body("text/plain", &large).response();
        wrong_method.refused(405, "METHOD_NOT_ALLOWED");
        client
            .post(path)
            .body("text/plain", &large)
            .response()
            .refused(415, "UNSUPPORTED_MEDIA_TYPE");
        client
            .post(path)
            .body("application/json", &large)
            .response()
            .refused(413, "PAYLOAD_TOO_LARGE");
        client.post(path).body("application/json", b"{").response().refused(401, "UNAUTHORIZED");
    }
    for path in ["/v1/did/activate", "/v1/auth/login"] {
        client
            .request("PUT", path)
            .body("text/plain", &large)
            .response()
            .refused(405, "METHOD_NOT_ALLOWED");
        client
            .post(path)
            .body("text/plain", &large)
            .response()
            .refused(415, "UNSUPPORTED_MEDIA_TYPE");
        client
            .post(path)
            .body("application/json", &large)
            .response()
            .refused(413, "PAYLOAD_TOO_LARGE");
    }
    let activation = client.post("/v1/did/activate").token("st_x").body("application/json", b"{");
    activation.response().refused(401, "UNAUTHORIZED");
    let logout = client.post("/v1/auth/logout").token("st_x").body("application/json", b"{");
    logout.response().refused(401, "UNAUTHORIZED");
}

fn an_unreadable_body_is_reported_only_with_a_valid_session(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    for path in KEYED {
        let post = || client.post(path).body("application/json", b"{");
        post().response().refused(401, "UNAUTHORIZED");
        post().token("st_x").response().refused(401, "UNAUTHORIZED");
        // The key would be in the body.
        post().token(&alice.token).response().refused(400, "INVALID_JSON");
        post().token(&alice.token).key("ak_x").response().refused(404, "KEY_NOT_FOUND");
    }
}

fn a_missing_key_is_reported_only_with_a_valid_session(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    for path in KEYED {
        let post = || client.post(path).json(&json!({}));
        let without_session = post().response().refused(401, "UNAUTHORIZED");
        let without_key = post().token(&alice.token).response().refused(401, "UNAUTHORIZED");
        assert_ne!(without_session["detail"], without_key["detail"]);
        let bad_session = post().token("st_x").key("ak_x").response();
        bad_session.refused(401, "UNAUTHORIZED");
        let other_type = client.post(path).token(&alice.token).json(&json!({"api_key_id": 7}));
        assert_eq!(other_type.response().refused(400, "INVALID_FIELD")["field"], "api_key_id");
    }
}

fn a_foreign_key_is_rejected_before_the_body_is_checked(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    for path in KEYED {
        let request = client.post(path).token(&alice.token).key(&bob.key);
        request.body("application/json", b"{").response().refused(401, "UNAUTHORIZED");
    }
    assert_eq!(
        client.status(&bob).ok()["usage"]["day"]["used"],
        1,
        "requests of another account do not count"
    );
}

fn a_missing_field_is_reported_before_an_invalid_field(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    for (path, body, field) in [
        ("/v1/channel/send", json!({"message": 7}), "to"),
        ("/v1/channel/send", json!({"to": 7}), "message"),
        ("/v1/channel/send", json!({"to": "did:key:x", "message": null}), "message"),
        ("/v1/channel/send", json!({}), "to"),
        ("/v1/webhooks/register", json!({"url": 7}), "events"),
        ("/v1/webhooks/register", json!({"events": 7}), "url"),
        ("/v1/webhooks/register", json!({}), "url"),
    ] {
        let problem = client.act(&alice, path, &body).refused(400, "MISSING_FIELD");
        assert_eq!(problem["field"], field, "{path} {body}");
    }
    let activation = client.activate(&json!({"handle": 7})).refused(400, "MISSING_FIELD");
    assert_eq!(activation["field"], "label");
}

fn an_unknown_member_is_reported_after_an_invalid_member(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
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
        let problem = client.act(&alice, path, &body).refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], field, "{path} {body}");
    }
}

fn an_oversized_message_is_reported_before_a_raw_did(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let client = server.client();
    let alice = client.new_identity();
    let problem = client.send(&alice, "did:key:x", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(problem["field"], "message");
    client.send(&alice, "nobody", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    client.send(&alice, "did:key:x", "1234567890").refused(400, "RAW_DID_REJECTED");
    client.send(&alice, &alice.key, "1234567890").ok();
    client.send(&alice, &alice.key, "üüüüüü").refused(413, "PAYLOAD_TOO_LARGE");
}

fn the_minute_limit_is_checked_before_the_body(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let client = server.client();
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
        let alice = client.new_identity();
        until_limited(|| client.status(&alice));
        faulty.map(|(path, body)| {
            client.post(path).by(&alice).body("application/json", body).response()
        })
    });
    for response in responses {
        response.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    let foreign = within_one_minute(|| {
        let (alice, bob) = (client.new_identity(), client.new_identity());
        until_limited(|| client.status(&alice));
        let body = json!({"to": "x", "message": "x"});
        client.post("/v1/channel/send").token(&bob.token).key(&alice.key).json(&body).response()
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
