//! Tests of API tokens: scopes, the API key that a token acts as, expiry, time of last use, and revocation.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Response, Server, on_both, on_embedded, text, token_body,
};

on_both!(
    a_token_acts_as_its_key_without_a_session,
    a_revoked_token_is_rejected_on_every_node,
    a_last_use_is_shown_to_the_hour,
    an_expired_token_is_rejected,
    an_operator_lists_and_revokes_tokens,
);
on_embedded!(
    a_token_cannot_change_the_account,
    an_inactive_key_and_a_faulty_body_are_reported_after_the_scope,
);

fn a_token_acts_as_its_key_without_a_session(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    let created = client.new_token(&alice, &["send", "read"]);
    let token = text(&created, "token");
    assert!(token.starts_with("kt_") && text(&created, "token_id").starts_with("tok_"));
    assert_eq!(created["scopes"], json!(["send", "read"]));
    client.post("/v1/auth/logout").token(&alice.token).response().ok();
    for node in &nodes {
        let message = json!({"to": alice.key, "message": "x"});
        let send = || node.post("/v1/channel/send").token(&token).json(&message);
        let response = send().response().ok();
        assert_eq!(response["sender"], json!(alice.key));
        send().key(&alice.key).response().ok();
        let status = node.post("/v1/did/status").token(&token).response().ok();
        assert_eq!(status["api_key_id"], json!(alice.key));
    }
}

#[test]
fn a_token_is_for_one_key() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let other = server.sibling(&alice);
    let token = server.token_with(&alice, &["send"]);
    let message = json!({"to": alice.key, "message": "x"});
    for key in [&*other.key, &*bob.key, "ak_00000000000000000000000000", "nonsense"] {
        let request = server.post("/v1/channel/send").token(&token).key(key).json(&message);
        request.response().refused(401, "UNAUTHORIZED");
        let body = json!({"to": alice.key, "message": "x", "api_key_id": key});
        let request = server.post("/v1/channel/send").token(&token).json(&body);
        request.response().refused(401, "UNAUTHORIZED");
    }
    // A changed character fails the checksum.
    let start = token.get(..51).unwrap();
    let typo = format!("{start}{}", if token.ends_with('a') { 'b' } else { 'a' });
    let request = server.post("/v1/channel/send").token(&typo).json(&message);
    request.response().refused(401, "UNAUTHORIZED");
}

#[test]
fn a_token_allows_only_its_scopes() {
    let server = Server::shared();
    let alice = server.new_identity();
    let envelope = text(&server.send(&alice, &alice.key, "x").ok(), "envelope_id");
    let hook = json!({"webhook_id": "wh_00000000000000000000000000"});
    let action =
        |name: &str| json!({"action": name, "webhook_id": "wh_00000000000000000000000000"});
    let requests: [(&str, Value, &[&str]); 20] = [
        ("/v1/channel/send", json!({"to": alice.key, "message": "x"}), &["send"]),
        ("/v1/channel/open", json!({"envelope_id": envelope}), &["open"]),
        ("/v1/channel/receipt", json!({"envelope_id": envelope}), &["send"]),
        ("/v1/did/status", json!({}), &["read"]),
        ("/v1/did/resolve", json!({"id": alice.key}), &["read"]),
        ("/v1/did/policy", json!({}), &[]),
        ("/v1/webhooks/list", json!({}), &["webhooks", "read"]),
        ("/v1/webhooks/deliveries", hook.clone(), &["webhooks", "read"]),
        ("/v1/webhooks", json!({"action": "list"}), &["webhooks", "read"]),
        ("/v1/webhooks", action("deliveries"), &["webhooks", "read"]),
        ("/v1/webhooks", action("delete"), &["webhooks"]),
        ("/v1/webhooks", json!({"action": "delete"}), &["webhooks"]),
        ("/v1/webhooks", json!({"action": "delete", "unknown": 1}), &["webhooks"]),
        ("/v1/webhooks", json!({"action": "update", "webhook_id": 7}), &["webhooks"]),
        ("/v1/webhooks/delete", json!({}), &["webhooks"]),
        ("/v1/webhooks/delete", hook.clone(), &["webhooks"]),
        ("/v1/webhooks/enable", hook.clone(), &["webhooks"]),
        ("/v1/webhooks/register", json!({"url": "x", "events": ["x"]}), &["webhooks"]),
        ("/v1/badges/issue", json!({}), &[]),
        ("/v1/compliance/validate", json!({"jurisdiction": "EU"}), &[]),
    ];
    for scope in ["send", "open", "webhooks", "read"] {
        let token = server.token_with(&alice, &[scope]);
        for (path, body, allowed) in &requests {
            let response = server.post(path).token(&token).json(body).response();
            if allowed.contains(&scope) {
                let problem = response.json();
                assert_ne!(problem["code"], json!("INSUFFICIENT_SCOPE"), "{scope} {path} {body}");
                assert_ne!(response.status, 401, "{scope} {path}");
            } else {
                let problem = response.refused(403, "INSUFFICIENT_SCOPE");
                let detail = text(&problem, "detail");
                assert!(allowed.iter().all(|name| detail.contains(name)), "{detail}");
            }
        }
    }
}

/// A stolen API token cannot change the account, and cannot use up the rate limit of account changes.
fn a_token_cannot_change_the_account(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=4"]);
    let alice = server.new_identity();
    let created = server.new_token(&alice, &["send", "open", "webhooks", "read"]);
    let token = text(&created, "token");
    let secret = alice.secret();
    let paths = [
        ("/v1/did/activate", json!({"label": "mallory"})),
        ("/v1/auth/logout", json!({"all": true})),
        ("/v1/auth/rotate-secret", json!({"login_secret": secret})),
        ("/v1/auth/tokens/create", token_body(&alice, &["send"])),
        ("/v1/auth/tokens/list", json!({})),
        ("/v1/auth/tokens/revoke", json!({"token_id": created["token_id"]})),
        ("/v1/account/activity", json!({})),
        ("/v1/account/export", json!({"login_secret": secret})),
        ("/v1/account/close", json!({"login_secret": secret})),
    ];
    for (path, body) in &paths {
        let response = server.post(path).token(&token).key(&alice.key).json(body).response();
        response.refused(403, "INSUFFICIENT_SCOPE");
    }
    // The owner still has the limit of the account.
    let revoke = json!({"token_id": created["token_id"]});
    server.post("/v1/auth/tokens/revoke").token(&alice.token).json(&revoke).response().ok();
    for (path, body) in &paths {
        let response = server.post(path).token(&token).key(&alice.key).json(body).response();
        response.refused(401, "UNAUTHORIZED");
    }
}

fn a_revoked_token_is_rejected_on_every_node(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    let created = client.new_token(&alice, &["send"]);
    let (token, id) = (text(&created, "token"), created["token_id"].clone());
    let kept = client.token_with(&alice, &["send"]);
    let message = json!({"to": alice.key, "message": "x"});
    let send = |client: &Client, token: &str| -> Response {
        client.post("/v1/channel/send").token(token).json(&message).response()
    };
    // Every node has cached the token.
    for node in &nodes {
        send(node.client(), &token).ok();
    }
    let bob = client.new_identity();
    let revoke = |who: &Identity, id: &Value| {
        let body = json!({"token_id": id});
        client.post("/v1/auth/tokens/revoke").token(&who.token).json(&body).response()
    };
    revoke(&bob, &id).refused(404, "TOKEN_NOT_FOUND");
    revoke(&alice, &json!("tok_00000000000000000000000000")).refused(404, "TOKEN_NOT_FOUND");
    revoke(&alice, &json!("nonsense")).refused(404, "TOKEN_NOT_FOUND");
    let revoked = revoke(&alice, &id).ok();
    assert_eq!(revoked, json!({"token_id": id, "revoked": true}));
    for node in nodes.iter().rev() {
        send(node.client(), &token).refused(401, "UNAUTHORIZED");
        let status = node.post("/v1/did/status").token(&token).response();
        status.refused(401, "UNAUTHORIZED");
        send(node.client(), &kept).ok();
    }
    revoke(&alice, &id).refused(404, "TOKEN_NOT_FOUND");
}

/// A token has only one key, so the key need not be read from the body.
fn an_inactive_key_and_a_faulty_body_are_reported_after_the_scope(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let (reads, sends) =
        (server.token_with(&alice, &["read"]), server.token_with(&alice, &["send"]));
    let status = |token: &str, body: &str| {
        let request = server.post("/v1/did/status").token(token);
        request.body("application/json", body.as_bytes()).response()
    };
    let faulty = [("{", "INVALID_JSON"), ("{\"api_key_id\": 7}", "INVALID_FIELD")];
    for (body, code) in faulty {
        status(&sends, body).refused(403, "INSUFFICIENT_SCOPE");
        status(&reads, body).refused(400, code);
    }
    assert_eq!(server.status(&alice).ok()["usage"]["day"]["used"], 3);
    database.operate(&["key", "deactivate", &alice.key]);
    for body in ["{}", "{", "{\"api_key_id\": 7}"] {
        status(&reads, body).refused(403, "KEY_INACTIVE");
        status(&sends, body).refused(403, "INSUFFICIENT_SCOPE");
    }
}

fn a_last_use_is_shown_to_the_hour(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    let (used, unused) =
        (client.token_with(&alice, &["read"]), client.new_token(&alice, &["read"]));
    for node in &nodes {
        node.post("/v1/did/status").token(&used).response().ok();
    }
    // The list of the same node has the use at once.
    let listed = client.post("/v1/auth/tokens/list").token(&alice.token).response().ok();
    assert!(text(&listed["tokens"][0], "last_used_at").ends_with(":00:00.000Z"), "{listed}");
    assert_eq!(listed["tokens"][1]["last_used_at"], Value::Null);
    assert_eq!(listed["tokens"][1]["token_id"], unused["token_id"]);
    assert!(!listed.to_string().contains("kt_"), "the list shows no secret");
}

fn an_expired_token_is_rejected(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let created = server.new_token(&alice, &["read"]);
    let token = text(&created, "token");
    let status = || server.post("/v1/did/status").token(&token).response();
    status().ok();
    database.by_hand("UPDATE api_tokens SET expires_at = 1");
    // The cache has the old expiry. The transaction reads the new one.
    status().refused(401, "UNAUTHORIZED");
    let listed = server.post("/v1/auth/tokens/list").token(&alice.token).response().ok();
    assert_eq!(listed, json!({"tokens": []}));
}

fn an_operator_lists_and_revokes_tokens(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let created = server.new_token(&alice, &["read"]);
    server.new_token(&bob, &["read"]);
    let (token, id) = (text(&created, "token"), text(&created, "token_id"));
    let listed = database.operate_lines(&["token", "list", &alice.account]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["token_id"], json!(id));
    assert_eq!(listed[0]["scopes"], json!(["read"]));
    let status = || server.post("/v1/did/status").token(&token).response();
    status().ok();
    database.operate(&["token", "revoke", &id]);
    status().refused(401, "UNAUTHORIZED");
    database.operate_refused(1, &["token", "revoke", &id]);
    let unknown = "acct_00000000000000000000000000";
    database.operate_refused(1, &["token", "list", unknown]);
    let audited = database.operate(&["audit", "list"]).to_string();
    assert!(audited.contains("token.revoke") && audited.contains(&id), "{audited}");
}
