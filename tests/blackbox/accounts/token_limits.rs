//! Tests of requests that create API tokens: the required login secret, invalid bodies, and the limit per account.

use serde_json::{Value, json};

use crate::support::{Database, on_both, token_body};

on_both!(
    a_stolen_session_creates_no_token,
    a_token_needs_a_key_of_the_account,
    faults_of_a_new_token_are_named,
    an_account_has_a_limited_number_of_tokens,
);

fn a_stolen_session_creates_no_token(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let create = |body: &Value| {
        server.post("/v1/auth/tokens/create").token(&alice.token).json(body).response()
    };
    let mut body = token_body(&alice, &["send"]);
    for secret in [bob.secret(), "ls_nonsense", &alice.token] {
        body["login_secret"] = json!(secret);
        create(&body).refused(401, "UNAUTHORIZED");
    }
    body["login_secret"] = Value::Null;
    assert_eq!(create(&body).refused(400, "MISSING_FIELD")["field"], json!("login_secret"));
    let listed = server.post("/v1/auth/tokens/list").token(&alice.token).response().ok();
    assert_eq!(listed, json!({"tokens": []}));
}

fn a_token_needs_a_key_of_the_account(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let create = |body: &Value| {
        server.post("/v1/auth/tokens/create").token(&alice.token).json(body).response()
    };
    let mut body = token_body(&alice, &["send"]);
    for key in [&*bob.key, "ak_00000000000000000000000000", "nonsense"] {
        body["api_key_id"] = json!(key);
        let problem = create(&body).refused(404, "KEY_NOT_FOUND");
        assert_eq!(problem["field"], "api_key_id", "{key}");
    }
    database.operate(&["key", "revoke", &alice.key]);
    create(&token_body(&alice, &["send"])).refused(403, "KEY_INACTIVE");
}

fn faults_of_a_new_token_are_named(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    for (field, value, code) in [
        ("name", json!(""), "MISSING_FIELD"),
        ("name", json!("x".repeat(101)), "INVALID_FIELD"),
        ("scopes", json!([]), "MISSING_FIELD"),
        ("scopes", json!(["send", "admin"]), "INVALID_FIELD"),
        ("scopes", json!("send"), "INVALID_FIELD"),
        ("expires_in_days", json!(0), "INVALID_FIELD"),
        ("expires_in_days", json!(367), "INVALID_FIELD"),
        ("expires_in_hours", json!(1), "INVALID_FIELD"),
    ] {
        let mut body = token_body(&alice, &["send"]);
        body[field] = value;
        let request = server.post("/v1/auth/tokens/create").token(&alice.token).json(&body);
        assert_eq!(request.response().refused(400, code)["field"], json!(field));
    }
}

fn an_account_has_a_limited_number_of_tokens(database: &Database) {
    let server = database.serve_with(&["--max-api-tokens-per-account=2"]);
    let alice = server.new_identity();
    let first = server.new_token(&alice, &["send"]);
    server.new_token(&alice, &["send"]);
    let create = || {
        let body = token_body(&alice, &["send"]);
        server.post("/v1/auth/tokens/create").token(&alice.token).json(&body).response()
    };
    create().refused(403, "QUOTA_EXCEEDED");
    let revoke = json!({"token_id": first["token_id"]});
    server.post("/v1/auth/tokens/revoke").token(&alice.token).json(&revoke).response().ok();
    create().ok();
}
