//! Tests of the rejections of each endpoint, as tables of invalid requests with the expected status, code and field.
//!
//! [`Response::refused`] checks the rest of the problem document and the headers.
//!
//! [`Response::refused`]: crate::support::Response::refused

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Server, on_both, on_embedded, text};

on_both!(unknown_ids_and_ids_of_other_accounts_look_the_same);
on_embedded!(invalid_sends_are_rejected);

/// The request body, then the expected status, code and `field` (the invalid field, or `None` if no single field is
/// invalid).
type Row<'a> = (Value, (u16, &'a str), Option<&'a str>);

const MISSING: (u16, &str) = (400, "MISSING_FIELD");
const INVALID: (u16, &str) = (400, "INVALID_FIELD");

#[test]
fn invalid_activations_are_rejected() {
    let server = Server::shared();
    server.new_identity_with_handle("taken");
    let rows: &[Row<'_>] = &[
        (json!({}), MISSING, Some("label")),
        (json!({"label": null}), MISSING, Some("label")),
        (json!({"label": ""}), MISSING, Some("label")),
        (json!({"label": []}), MISSING, Some("label")),
        (json!({"label": 1}), INVALID, Some("label")),
        (json!({"label": {}}), INVALID, Some("label")),
        (json!({"label": "ü".repeat(101)}), INVALID, Some("label")),
        (json!({"label": "a\nb"}), INVALID, Some("label")),
        (json!({"label": "\u{200b}\u{3164}"}), INVALID, Some("label")),
        (json!({"label": "a\u{202e}bob@"}), INVALID, Some("label")),
        (json!({"label": "a\u{2028}b"}), INVALID, Some("label")),
        (json!({"label": "a", "handle": 1}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "ab"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "a".repeat(33)}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "1abc"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "a.bc"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "@abc"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "böb"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "did-key"}), INVALID, Some("handle")),
        (json!({"label": "a", "handle": "ak_1"}), INVALID, Some("handle")),
        (json!({"label": "a", "handel": "ab"}), INVALID, Some("handel")),
        (json!({"label": "a", "handle": "taken"}), (409, "HANDLE_TAKEN"), Some("handle")),
        (json!({"label": "a", "handle": "TAKEN"}), (409, "HANDLE_TAKEN"), Some("handle")),
    ];
    check(rows, |body| server.activate(body));
    for token in ["", "st_wrong", "Bearer"] {
        let request = server.post("/v1/did/activate").token(token).json(&json!({"label": "a"}));
        request.response().refused(401, "UNAUTHORIZED");
    }
    let bidi = server.activate(&json!({"label": "a\u{202e}b"})).refused(400, "INVALID_FIELD");
    assert!(text(&bidi, "detail").ends_with("remove U+202E"), "{bidi}");
    let unnamed = server.activate(&json!({"label": "a", "handle": null})).ok();
    assert_eq!(unnamed["handle"], Value::Null);
    for label in ["ü".repeat(100), " ".to_owned(), "<b>".to_owned(), "👩\u{200d}👧".to_owned()]
    {
        assert_eq!(server.activate(&json!({"label": label})).ok()["label"], label);
    }
}

#[test]
fn invalid_logins_and_logouts_are_rejected() {
    let server = Server::shared();
    let alice = server.new_identity();
    let rows: &[Row<'_>] = &[
        (json!({}), MISSING, Some("account_id")),
        (json!({"login_secret": 7}), MISSING, Some("account_id")),
        (json!({"account_id": 7}), MISSING, Some("login_secret")),
        (json!({"account_id": 7, "login_secret": "x"}), INVALID, Some("account_id")),
        (json!({"account_id": "x", "login_secret": 7}), INVALID, Some("login_secret")),
        (json!({"account_id": "x", "login_secret": "x"}), (401, "UNAUTHORIZED"), None),
    ];
    check(rows, |body| server.post("/v1/auth/login").json(body).response());
    let rows: &[Row<'_>] = &[
        (json!({"all": "yes"}), INVALID, Some("all")),
        (json!({"all": 1}), INVALID, Some("all")),
        (json!({"every": true}), INVALID, Some("every")),
    ];
    check(rows, |body| server.post("/v1/auth/logout").token(&alice.token).json(body).response());
    server.post("/v1/auth/logout").response().refused(401, "UNAUTHORIZED");
    server.status(&alice).ok();
}

#[test]
fn invalid_status_requests_are_rejected() {
    let server = Server::shared();
    check_credentials(&server, "/v1/did/status");
    let alice = server.new_identity();
    let problem =
        server.act(&alice, "/v1/did/status", &json!({"key": 1})).refused(400, "INVALID_FIELD");
    assert_eq!(problem["field"], "key");
    assert!(text(&problem, "detail").contains("api_key_id"), "{problem}");
}

fn invalid_sends_are_rejected(database: &Database) {
    let server = database.serve();
    check_credentials(&server, "/v1/channel/send");
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    let mut rows: Vec<Row<'_>> = vec![
        (json!({}), MISSING, Some("to")),
        (json!({"to": bob.key}), MISSING, Some("message")),
        (json!({"to": bob.key, "message": ""}), MISSING, Some("message")),
        (json!({"to": [], "message": "x"}), MISSING, Some("to")),
        (json!({"to": 7, "message": "x"}), INVALID, Some("to")),
        (json!({"to": bob.key, "message": {}}), INVALID, Some("message")),
        (
            json!({"to": bob.key, "message": "x".repeat(262_145)}),
            (413, "PAYLOAD_TOO_LARGE"),
            Some("message"),
        ),
    ];
    let dids = [
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        " DID:web:x",
        "did%3Akey%3Az6Mk",
    ];
    for to in dids.into_iter().chain([&*bob.did]) {
        rows.push((json!({"to": to, "message": "x"}), (400, "RAW_DID_REJECTED"), Some("to")));
    }
    for to in ["nobody", "@nobody", "@@bob", "bob ", "ak_short", UNKNOWN_KEY, &bob.account] {
        rows.push((json!({"to": to, "message": "x"}), (404, "KEY_NOT_FOUND"), Some("to")));
    }
    check(&rows, |body| server.act(&alice, "/v1/channel/send", body));
    assert_eq!(server.status(&alice).ok()["usage"]["month"]["used"], 0);
}

#[test]
fn invalid_opens_are_rejected() {
    let server = Server::shared();
    check_credentials(&server, "/v1/channel/open");
    let alice = server.new_identity();
    let rows: &[Row<'_>] = &[
        (json!({}), MISSING, Some("envelope_id")),
        (json!({"envelope_id": ""}), MISSING, Some("envelope_id")),
        (json!({"envelope_id": 7}), INVALID, Some("envelope_id")),
        (json!({"envelope_id": "env_short"}), (404, "ENVELOPE_NOT_FOUND"), None),
        (json!({"envelope_id": alice.key}), (404, "ENVELOPE_NOT_FOUND"), None),
        (json!({"envelope_id": UNKNOWN_ENVELOPE}), (404, "ENVELOPE_NOT_FOUND"), None),
    ];
    check(rows, |body| server.act(&alice, "/v1/channel/open", body));
}

#[test]
fn invalid_registrations_are_rejected() {
    let server = Server::shared();
    check_credentials(&server, "/v1/webhooks/register");
    let (alice, url) = (server.new_identity(), "https://hooks.invalid/");
    let rows: &[Row<'_>] = &[
        (json!({}), MISSING, Some("url")),
        (json!({"events": ["x"]}), MISSING, Some("url")),
        (json!({"url": 7}), MISSING, Some("events")),
        (json!({"url": url, "events": []}), MISSING, Some("events")),
        (json!({"url": url, "events": ""}), MISSING, Some("events")),
        (json!({"url": 7, "events": ["envelope.received"]}), INVALID, Some("url")),
        (json!({"url": "x", "events": ["envelope.received"]}), INVALID, Some("url")),
        (json!({"url": url, "events": "envelope.received"}), INVALID, Some("events")),
        (json!({"url": url, "events": [7]}), INVALID, Some("events")),
        (json!({"url": url, "events": [null]}), INVALID, Some("events")),
        (json!({"url": url, "events": ["envelope.sent"]}), INVALID, Some("events")),
        (json!({"url": url, "events": ["envelope.received", "x"]}), INVALID, Some("events")),
    ];
    check(rows, |body| server.act(&alice, "/v1/webhooks/register", body));
    for planned in ["envelope.bounced", "identity.rotated", "usage.threshold"] {
        let body = json!({"url": url, "events": [planned]});
        let problem =
            server.act(&alice, "/v1/webhooks/register", &body).refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], "events");
        let detail = text(&problem, "detail");
        assert!(detail.contains(planned) && detail.contains("v1.1"), "{detail}");
    }
    assert_eq!(server.status(&alice).ok()["webhooks"], 0);
}

#[test]
fn invalid_webhook_actions_are_rejected() {
    let server = Server::shared();
    check_credentials(&server, "/v1/webhooks");
    let alice = server.new_identity();
    let rows: &[Row<'_>] = &[
        (json!({}), MISSING, Some("action")),
        (json!({"action": null}), MISSING, Some("action")),
        (json!({"action": 7}), INVALID, Some("action")),
        (json!({"action": "burn"}), INVALID, Some("action")),
        (json!({"action": "delete"}), MISSING, Some("webhook_id")),
        (json!({"action": "delete", "webhook_id": 7}), INVALID, Some("webhook_id")),
        (json!({"action": "list", "webhook_id": "x"}), INVALID, Some("webhook_id")),
        (
            json!({"action": "recover", "webhook_id": "x", "since": "2026-01-01T00:00:00Z", "dryrun": true}),
            INVALID,
            Some("dryrun"),
        ),
        (json!({"action": "delete", "webhook_id": "x"}), (404, "WEBHOOK_NOT_FOUND"), None),
        (
            json!({"action": "delete", "webhook_id": UNKNOWN_WEBHOOK}),
            (404, "WEBHOOK_NOT_FOUND"),
            None,
        ),
    ];
    check(rows, |body| server.manage(&alice, body));
}

#[test]
fn a_body_that_is_not_a_json_object_is_rejected() {
    let server = Server::shared();
    let deep = "[".repeat(10_000);
    let nested = format!("{{\"label\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let bodies: [&[u8]; 12] = [
        b"[]",
        b"1",
        b"null",
        b"\"x\"",
        b"{",
        b"{}}",
        b"{\"label\":\"a\",}",
        b"{\"label\":\"\\ud800\"}",
        b"{\"label\":\"\xff\"}",
        b"\xef\xbb\xbf{}",
        deep.as_bytes(),
        nested.as_bytes(),
    ];
    for path in ["/v1/did/activate", "/v1/auth/login"] {
        for body in bodies {
            let response = server.post(path).body("application/json", body).response();
            assert!(response.refused(400, "INVALID_JSON").get("field").is_none());
        }
    }
    let post = |body: &[u8]| server.post("/v1/auth/login").body("application/json", body);
    let problem = post(b"{\n  \"label\" \"Alice\"\n}").response().refused(400, "INVALID_JSON");
    let expected =
        "the body is not valid JSON: expected `:` at line 2, column 11; send a JSON object";
    assert_eq!(problem["detail"], expected);
    for path in [
        "/v1/auth/logout",
        "/v1/auth/rotate-secret",
        "/v1/badges/issue",
        "/v1/badges/verify",
        "/v1/channel/open",
        "/v1/channel/send",
        "/v1/compliance/validate",
        "/v1/did/status",
        "/v1/webhooks",
        "/v1/webhooks/register",
    ] {
        let identity = server.new_identity();
        let request = server.post(path).by(&identity).body("application/json", b"[1]");
        request.response().refused(400, "INVALID_JSON");
    }
}

fn unknown_ids_and_ids_of_other_accounts_look_the_same(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let eve = server.sibling(&bob);
    let envelope = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let webhook = text(&server.register(&bob, "https://hooks.invalid/"), "webhook_id");
    let strange = |identity: &Identity, path: &str, body: &Value, unlike: &Value, code: &str| {
        let problems = [body, unlike].map(|body| {
            let mut problem = server.act(identity, path, body).refused(404, code);
            problem.as_object_mut().unwrap().remove("request_id");
            problem
        });
        assert_eq!(problems[0], problems[1]);
    };
    for identity in [&alice, &eve] {
        let envelopes = [&*envelope, UNKNOWN_ENVELOPE].map(|id| json!({"envelope_id": id}));
        strange(identity, "/v1/channel/open", &envelopes[0], &envelopes[1], "ENVELOPE_NOT_FOUND");
        let webhooks =
            [&*webhook, UNKNOWN_WEBHOOK].map(|id| json!({"action": "delete", "webhook_id": id}));
        strange(identity, "/v1/webhooks", &webhooks[0], &webhooks[1], "WEBHOOK_NOT_FOUND");
    }
    server.open(&bob, &envelope).ok();
    assert_eq!(server.status(&bob).ok()["webhooks"], 1);
}

/// Checks the rejections of an invalid session token, a missing API key, an unknown API key, and an API key of another
/// account.
fn check_credentials(client: &Client, path: &str) {
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let ended = client.new_session(&alice).token;
    client.post("/v1/auth/logout").token(&ended).response().ok();
    let post = || client.post(path).json(&json!({}));
    post().key(&alice.key).response().refused(401, "UNAUTHORIZED");
    let basic = post().key(&alice.key).header("Authorization", "Basic YTpi");
    basic.response().refused(401, "UNAUTHORIZED");
    let secret = alice.secret();
    for token in ["", "st_", "x", secret, &alice.key, &ended, alice.token.trim_start_matches("st_")]
    {
        post().key(&alice.key).token(token).response().refused(401, "UNAUTHORIZED");
    }
    post().token(&alice.token).response().refused(401, "UNAUTHORIZED");
    for key in [UNKNOWN_KEY, "ak_short", "x", &alice.account, &alice.did, &alice.key.to_uppercase()]
    {
        let problem = post().token(&alice.token).key(key).response().refused(404, "KEY_NOT_FOUND");
        assert!(problem.get("field").is_none(), "{problem}");
    }
    post().token(&alice.token).key(&bob.key).response().refused(401, "UNAUTHORIZED");
}

fn check(rows: &[Row<'_>], ask: impl Fn(&Value) -> crate::support::Response) {
    for (body, (status, code), field) in rows {
        let problem = ask(body).refused(*status, code);
        let shown: String = body.to_string().chars().take(100).collect();
        assert_eq!(problem["field"].as_str(), *field, "{shown}");
    }
}

const UNKNOWN_ENVELOPE: &str = "env_01h455vb4pex5vsknk084sn02q";
const UNKNOWN_KEY: &str = "ak_01h455vb4pex5vsknk084sn02q";
const UNKNOWN_WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";
