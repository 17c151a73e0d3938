//! Tests of requests that create API tokens: the required login secret, invalid bodies, and the limit per account.

use serde_json::{Value, json};

use crate::support::{Database, Server, on_both, token_body};

on_both!(an_account_has_a_limited_number_of_tokens);

#[test]
fn a_faulty_request_creates_no_token() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (wrong, missing, invalid) =
        ((401, "UNAUTHORIZED"), (400, "MISSING_FIELD"), (400, "INVALID_FIELD"));
    let unknown = (404, "KEY_NOT_FOUND");
    for (field, value, (status, code)) in [
        ("login_secret", json!(bob.secret()), wrong),
        ("login_secret", json!("ls_nonsense"), wrong),
        ("login_secret", json!(alice.token), wrong),
        ("login_secret", Value::Null, missing),
        ("api_key_id", json!(bob.key), unknown),
        ("api_key_id", json!("ak_00000000000000000000000000"), unknown),
        ("api_key_id", json!("nonsense"), unknown),
        ("name", json!(""), missing),
        ("name", json!("x".repeat(101)), invalid),
        ("scopes", json!([]), missing),
        ("scopes", json!(["send", "admin"]), invalid),
        ("scopes", json!("send"), invalid),
        ("expires_in_days", json!(0), invalid),
        ("expires_in_days", json!(367), invalid),
        ("expires_in_hours", json!(1), invalid),
    ] {
        let mut body = token_body(&alice, &["send"]);
        body[field] = value;
        let response = server.act_as_owner(&alice, "/v1/auth/tokens/create", &body);
        let problem = response.refused(status, code);
        assert!(status == 401 || problem["field"] == field, "{field}: {problem}");
    }
    let listed = server.act_as_owner(&alice, "/v1/auth/tokens/list", &json!({})).ok();
    assert_eq!(listed, json!({"tokens": []}));
}

fn an_account_has_a_limited_number_of_tokens(database: &Database) {
    let server = database.serve_with(&["--max-api-tokens-per-account=2"]);
    let alice = server.new_identity();
    let revoked = server.sibling(&alice);
    database.operate(&["key", "revoke", &revoked.key]);
    let create = |key: &str| {
        let mut body = token_body(&alice, &["send"]);
        body["api_key_id"] = json!(key);
        server.act_as_owner(&alice, "/v1/auth/tokens/create", &body)
    };
    create(&revoked.key).refused(403, "KEY_INACTIVE");
    let first = create(&alice.key).ok();
    create(&alice.key).ok();
    create(&alice.key).refused(403, "QUOTA_EXCEEDED");
    let revoke = json!({"token_id": first["token_id"]});
    server.act_as_owner(&alice, "/v1/auth/tokens/revoke", &revoke).ok();
    create(&alice.key).ok();
}
