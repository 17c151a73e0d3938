//! Tests of recovery codes, and of the replacement of the login secret.

use sealpost_wallet::RecoveryCode;
use serde_json::json;

use crate::support::{
    Client, Database, Identity, Response, on_both, on_embedded, text, within_one_minute,
};

on_both!(
    a_recovery_code_replaces_the_secrets_and_ends_everything_else,
    an_account_without_a_recovery_code_gets_one,
    an_operator_resets_the_secrets,
);
on_embedded!(guesses_of_a_recovery_code_are_throttled);

fn a_recovery_code_replaces_the_secrets_and_ends_everything_else(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let activated = client.activate(&json!({"label": "somebody"})).ok();
    let account = text(&activated, "account_id");
    let (secret, code) = (text(&activated, "login_secret"), text(&activated, "recovery_code"));
    assert!(code.starts_with("rc_"), "{code}");
    let session = text(&client.login(&account, &secret).ok(), "session_token");
    let alice = Identity {
        key: text(&activated, "api_key_id"),
        did: text(&activated, "did"),
        account: account.clone(),
        login_secret: Some(secret.clone()),
        token: session,
    };
    let token = client.token_with(&alice, &["read"]);
    let status = |client: &Client, bearer: &str| {
        client.post("/v1/did/status").token(bearer).key(&alice.key).response()
    };
    for node in &nodes {
        status(node.client(), &alice.token).ok();
        status(node.client(), &token).ok();
    }
    let other = text(&client.activate(&json!({"label": "mallory"})).ok(), "recovery_code");
    recover(client, &account, &other).refused(401, "UNAUTHORIZED");
    let recovered = recover(client, &account, &code).ok();
    let (fresh, next) = (text(&recovered, "login_secret"), text(&recovered, "recovery_code"));
    assert_eq!(recovered["account_id"], json!(account));
    assert!(fresh != secret && next != code);
    for node in nodes.iter().rev() {
        status(node.client(), &alice.token).refused(401, "UNAUTHORIZED");
        status(node.client(), &token).refused(401, "UNAUTHORIZED");
        node.login(&account, &secret).refused(401, "UNAUTHORIZED");
    }
    recover(client, &account, &code).refused(401, "UNAUTHORIZED");
    let session = text(&client.login(&account, &fresh).ok(), "session_token");
    status(client, &session).ok();
    recover(client, &account, &next).ok();
}

fn guesses_of_a_recovery_code_are_throttled(database: &Database) {
    let server = database.serve_with(&["--logins-per-minute=3"]);
    let activated = server.activate(&json!({"label": "somebody"})).ok();
    let account = text(&activated, "account_id");
    within_one_minute(|| {
        // A malformed code costs nothing and does not count.
        for _ in 0..5 {
            recover(&server, &account, "rc_nonsense").refused(401, "UNAUTHORIZED");
        }
        let guess = || RecoveryCode::generate().unwrap().expose().to_owned();
        let statuses: Vec<_> =
            (0..5).map(|_| recover(&server, &account, &guess()).status).collect();
        assert!(statuses.ends_with(&[429, 429]), "{statuses:?}");
        let wrong = recover(&server, &account, &guess());
        let problem = wrong.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(wrong.header("retry-after").is_some(), "{problem}");
    });
}

fn an_account_without_a_recovery_code_gets_one(database: &Database) {
    let server = database.serve();
    let activated = server.activate(&json!({"label": "somebody"})).ok();
    let (account, code) = (text(&activated, "account_id"), text(&activated, "recovery_code"));
    let secret = text(&activated, "login_secret");
    // As in a database of an earlier version.
    database.by_hand("UPDATE accounts SET recovery_code = NULL, tag = NULL");
    database.operate(&["kek", "adopt-rows"]);
    recover(&server, &account, &code).refused(401, "UNAUTHORIZED");
    let session = text(&server.login(&account, &secret).ok(), "session_token");
    let rotate = server.post("/v1/auth/rotate-secret").token(&session);
    let replaced = rotate.json(&json!({"login_secret": secret})).response().ok();
    recover(&server, &account, &text(&replaced, "recovery_code")).ok();
}

fn an_operator_resets_the_secrets(database: &Database) {
    let server = database.serve();
    let activated = server.activate(&json!({"label": "somebody"})).ok();
    let (account, code) = (text(&activated, "account_id"), text(&activated, "recovery_code"));
    let secret = text(&activated, "login_secret");
    let session = text(&server.login(&account, &secret).ok(), "session_token");
    let reset = database.operate(&["account", "reset-secret", &account]);
    let printed = text(&reset, "recovery_code");
    server.login(&account, &secret).refused(401, "UNAUTHORIZED");
    recover(&server, &account, &code).refused(401, "UNAUTHORIZED");
    server.post("/v1/auth/logout").token(&session).response().refused(401, "UNAUTHORIZED");
    let recovered = recover(&server, &account, &printed).ok();
    server.login(&account, &text(&recovered, "login_secret")).ok();
    recover(&server, &account, &printed).refused(401, "UNAUTHORIZED");
    let audited = database.operate(&["audit", "list"]).to_string();
    assert!(audited.contains("account.reset-secret") && !audited.contains("rc_"), "{audited}");
    database.operate_refused(1, &["account", "reset-secret", "acct_00000000000000000000000000"]);
}

fn recover(client: &Client, account: &str, code: &str) -> Response {
    let body = json!({"account_id": account, "recovery_code": code});
    client.post("/v1/auth/recover").json(&body).response()
}
