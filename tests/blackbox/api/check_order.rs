//! The order of the checks: requests with several faults at once are told of the first.

use serde_json::json;

use crate::support::{Answer, Client, Database, Identity, on_both, within_one_minute};

on_both!(
    a_foreign_key_goes_before_the_body,
    a_large_message_goes_before_a_raw_did,
    a_missing_key_is_told_only_to_a_session,
    a_missing_field_goes_before_an_invalid_one,
    a_request_with_every_fault_is_told_of_one_after_the_other,
    a_used_up_minute_goes_before_the_body,
    an_unreadable_body_is_told_only_to_a_session,
);

fn a_request_with_every_fault_is_told_of_one_after_the_other(database: &Database) {
    let server = database.serve_with(&["--max-body-bytes", "1000"]);
    let client = server.client();
    let large = [b'{'; 2000];
    for path in [
        "/v1/channel/send",
        "/v1/channel/open",
        "/v1/did/status",
        "/v1/webhooks/register",
        "/v1/webhooks",
    ] {
        let wrong_method = client.request("PUT", path).body("text/plain", &large).answer();
        wrong_method.refused(405, "METHOD_NOT_ALLOWED");
        client
            .post(path)
            .body("text/plain", &large)
            .answer()
            .refused(415, "UNSUPPORTED_MEDIA_TYPE");
        client
            .post(path)
            .body("application/json", &large)
            .answer()
            .refused(413, "PAYLOAD_TOO_LARGE");
        client.post(path).body("application/json", b"{").answer().refused(401, "UNAUTHORIZED");
    }
    for path in ["/v1/did/activate", "/v1/auth/login"] {
        client
            .request("PUT", path)
            .body("text/plain", &large)
            .answer()
            .refused(405, "METHOD_NOT_ALLOWED");
        client
            .post(path)
            .body("text/plain", &large)
            .answer()
            .refused(415, "UNSUPPORTED_MEDIA_TYPE");
        client
            .post(path)
            .body("application/json", &large)
            .answer()
            .refused(413, "PAYLOAD_TOO_LARGE");
    }
    let activation = client.post("/v1/did/activate").token("st_x").body("application/json", b"{");
    activation.answer().refused(401, "UNAUTHORIZED");
    let logout = client.post("/v1/auth/logout").token("st_x").body("application/json", b"{");
    logout.answer().refused(401, "UNAUTHORIZED");
}

fn an_unreadable_body_is_told_only_to_a_session(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    for path in KEYED {
        let post = || client.post(path).body("application/json", b"{");
        post().answer().refused(401, "UNAUTHORIZED");
        post().token("st_x").answer().refused(401, "UNAUTHORIZED");
        // The key would have to come from the body.
        post().token(&alice.token).answer().refused(400, "INVALID_JSON");
        post().token(&alice.token).key("ak_x").answer().refused(404, "KEY_NOT_FOUND");
    }
}

fn a_missing_key_is_told_only_to_a_session(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    for path in KEYED {
        let post = || client.post(path).json(&json!({}));
        let without_session = post().answer().refused(401, "UNAUTHORIZED");
        let without_key = post().token(&alice.token).answer().refused(401, "UNAUTHORIZED");
        assert_ne!(without_session["detail"], without_key["detail"]);
        let bad_session = post().token("st_x").key("ak_x").answer();
        bad_session.refused(401, "UNAUTHORIZED");
        let other_type = client.post(path).token(&alice.token).json(&json!({"api_key_id": 7}));
        assert_eq!(other_type.answer().refused(400, "INVALID_FIELD")["field"], "api_key_id");
    }
}

fn a_foreign_key_goes_before_the_body(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    for path in KEYED {
        let request = client.post(path).token(&alice.token).key(&bob.key);
        request.body("application/json", b"{").answer().refused(401, "UNAUTHORIZED");
    }
    assert_eq!(
        client.status(&bob).ok()["usage"]["day"]["used"],
        1,
        "nobody else spends my requests"
    );
}

fn a_missing_field_goes_before_an_invalid_one(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
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

fn a_large_message_goes_before_a_raw_did(database: &Database) {
    let server = database.serve_with(&["--max-message-bytes", "10"]);
    let client = server.client();
    let alice = client.newcomer();
    let problem = client.send(&alice, "did:key:x", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(problem["field"], "message");
    client.send(&alice, "nobody", "12345678901").refused(413, "PAYLOAD_TOO_LARGE");
    client.send(&alice, "did:key:x", "1234567890").refused(400, "RAW_DID_REJECTED");
    client.send(&alice, &alice.key, "1234567890").ok();
    client.send(&alice, &alice.key, "üüüüüü").refused(413, "PAYLOAD_TOO_LARGE");
}

fn a_used_up_minute_goes_before_the_body(database: &Database) {
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
    let answers = within_one_minute(|| {
        let alice = client.newcomer();
        use_up_the_minute(client, &alice);
        faulty.map(|(path, body)| {
            client.post(path).by(&alice).body("application/json", body).answer()
        })
    });
    for answer in answers {
        answer.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    let foreign = within_one_minute(|| {
        let (alice, bob) = (client.newcomer(), client.newcomer());
        use_up_the_minute(client, &alice);
        let body = json!({"to": "x", "message": "x"});
        client.post("/v1/channel/send").token(&bob.token).key(&alice.key).json(&body).answer()
    });
    foreign.refused(401, "UNAUTHORIZED");
}

fn use_up_the_minute(client: &Client, who: &Identity) {
    // More than twice the limit: a minute may end on the way.
    let answers: Vec<Answer> =
        (0..45).map(|_| client.status(who)).take_while(|a| a.status == 200).collect();
    assert!(answers.len() < 45, "the minute has no end");
}

const KEYED: [&str; 5] = [
    "/v1/did/status",
    "/v1/channel/send",
    "/v1/channel/open",
    "/v1/webhooks/register",
    "/v1/webhooks",
];
