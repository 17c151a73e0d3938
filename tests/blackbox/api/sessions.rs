//! Tests of sessions: login, logout and expiry.

use serde_json::json;

use crate::support::{Database, Server, on_both, text, wait_until};

on_both!(
    a_cached_session_expires_on_time,
    a_session_can_activate_more_keys_of_its_account,
    all_sessions_of_an_account_can_be_ended_at_once,
    an_expired_session_is_invalid_before_its_first_use,
    logging_out_ends_only_this_session,
);

fn logging_out_ends_only_this_session(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let other = server.new_session(&alice);
    // Both sessions are cached now.
    for identity in [&alice, &other] {
        server.send(identity, &alice.key, "x").ok();
    }
    server.post("/v1/auth/logout").token(&alice.token).response().ok();
    for path in ["/v1/did/status", "/v1/channel/send", "/v1/channel/open", "/v1/webhooks"] {
        server.act(&alice, path, &json!({})).refused(401, "UNAUTHORIZED");
    }
    server.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    server.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
    server.send(&other, &alice.key, "x").ok();
    server.log_in(&alice).ok();
}

#[test]
fn a_bearer_of_another_kind_is_named_without_its_text() {
    let server = Server::shared();
    let alice = server.new_identity();
    let secret = alice.secret();
    for (bearer, named) in [
        (&*alice.key, "is an API key (ak_)"),
        (secret, "is a login secret (ls_)"),
        ("ls_with-a-typing-error", "is a login secret (ls_)"),
        (&alice.account, "is not valid"),
        ("", "Authorization: Bearer"),
    ] {
        for path in ["/v1/did/status", "/v1/auth/logout"] {
            let request = server.post(path).token(bearer).key(&alice.key);
            let problem = request.response().refused(401, "UNAUTHORIZED");
            let detail = text(&problem, "detail");
            assert!(detail.contains(named), "{path} {bearer}: {detail}");
            assert!(bearer.is_empty() || !problem.to_string().contains(bearer), "{problem}");
        }
    }
}

fn all_sessions_of_an_account_can_be_ended_at_once(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let other = server.new_session(&alice);
    for identity in [&alice, &other, &bob] {
        server.send(identity, &bob.key, "x").ok();
    }
    server.post("/v1/auth/logout").token(&alice.token).json(&json!({"all": true})).response().ok();
    for identity in [&alice, &other] {
        server.send(identity, &bob.key, "x").refused(401, "UNAUTHORIZED");
        server.status(identity).refused(401, "UNAUTHORIZED");
    }
    server.send(&bob, &bob.key, "x").ok();
    server.status(&server.new_session(&alice)).ok();
}

fn an_expired_session_is_invalid_before_its_first_use(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "1ms"]);
    let alice = server.new_identity();
    // This request takes longer than the lifetime of the session.
    server.activate(&json!({"label": "Bob"})).ok();
    server.status(&alice).refused(401, "UNAUTHORIZED");
    server.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    server.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
    let activation = server.act_as_owner(&alice, "/v1/did/activate", &json!({"label": "a"}));
    activation.refused(401, "UNAUTHORIZED");
}

fn a_cached_session_expires_on_time(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "1s"]);
    let alice = server.new_identity();
    server.send(&alice, &alice.key, "x");
    // The minute limit may be reached first. Expiry is checked before the limit.
    wait_until("the session ends", || server.send(&alice, &alice.key, "x").status == 401);
    server.status(&alice).refused(401, "UNAUTHORIZED");
}

#[test]
fn a_wrong_account_and_a_wrong_secret_look_the_same() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let [alices, bobs] = [&alice, &bob].map(|identity| identity.login_secret.clone().unwrap());
    let attempts = [
        (&*alice.account, &*bobs),
        ("acct_01h455vb4pex5vsknk084sn02q", &*alices),
        (&*alice.account, "ls_x"),
        (&*alice.account, &*alice.token),
        (&*alice.account, alices.trim_start_matches("ls_")),
        (&*alice.account, "' OR 1=1 --"),
    ];
    let problems = attempts.map(|(account, secret)| {
        let mut problem = server.login(account, secret).refused(401, "UNAUTHORIZED");
        problem.as_object_mut().unwrap().remove("request_id");
        problem
    });
    assert!(problems.iter().all(|problem| *problem == problems[0]), "{problems:?}");
}

fn a_session_can_activate_more_keys_of_its_account(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let activation = || server.post("/v1/did/activate").json(&json!({"label": "more"}));
    let more = activation().token(&alice.token).response().ok();
    assert_eq!(more["account_id"], alice.account);
    assert!(more.get("login_secret").is_none() && more.get("recovery_code").is_none());
    assert_ne!(text(&more, "did"), alice.did);
    let status = server.post("/v1/did/status").token(&alice.token).key(&text(&more, "api_key_id"));
    assert_eq!(status.response().ok()["label"], "more");
    server.post("/v1/auth/logout").token(&alice.token).response().ok();
    activation().token(&alice.token).response().refused(401, "UNAUTHORIZED");
    let new_identity = activation().response().ok();
    assert_ne!(new_identity["account_id"], alice.account);
}
