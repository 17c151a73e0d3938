//! Tests of sessions: login, logout and expiry.

use serde_json::json;

use crate::support::{Client, Database, Identity, SOON, eventually, on_both, text};

on_both!(
    a_bearer_of_another_kind_is_named_without_its_text,
    a_cached_session_expires_on_time,
    a_session_can_activate_more_keys_of_its_account,
    a_wrong_account_and_a_wrong_secret_look_the_same,
    all_sessions_of_an_account_can_be_ended_at_once,
    an_expired_session_is_invalid_before_its_first_use,
    logging_out_ends_only_this_session,
);

fn logging_out_ends_only_this_session(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let other = another_session(client, &alice);
    // Both sessions are cached now.
    for identity in [&alice, &other] {
        client.send(identity, &alice.key, "x").ok();
    }
    client.post("/v1/auth/logout").token(&alice.token).response().ok();
    for path in ["/v1/did/status", "/v1/channel/send", "/v1/channel/open", "/v1/webhooks"] {
        client.act(&alice, path, &json!({})).refused(401, "UNAUTHORIZED");
    }
    client.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    client.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
    client.send(&other, &alice.key, "x").ok();
    client.login(&alice.account, alice.login_secret.as_ref().unwrap()).ok();
}

fn a_bearer_of_another_kind_is_named_without_its_text(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let secret = alice.login_secret.as_deref().unwrap();
    for (bearer, named) in [
        (&*alice.key, "is an API key (ak_)"),
        (secret, "is a login secret (ls_)"),
        ("ls_with-a-typing-error", "is a login secret (ls_)"),
        (&alice.account, "is not valid"),
        ("", "Authorization: Bearer"),
    ] {
        for path in ["/v1/did/status", "/v1/auth/logout"] {
            let request = client.post(path).token(bearer).key(&alice.key);
            let problem = request.response().refused(401, "UNAUTHORIZED");
            let detail = text(&problem, "detail");
            assert!(detail.contains(named), "{path} {bearer}: {detail}");
            assert!(bearer.is_empty() || !problem.to_string().contains(bearer), "{problem}");
        }
    }
}

fn all_sessions_of_an_account_can_be_ended_at_once(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let other = another_session(client, &alice);
    for identity in [&alice, &other, &bob] {
        client.send(identity, &bob.key, "x").ok();
    }
    client.post("/v1/auth/logout").token(&alice.token).json(&json!({"all": true})).response().ok();
    for identity in [&alice, &other] {
        client.send(identity, &bob.key, "x").refused(401, "UNAUTHORIZED");
        client.status(identity).refused(401, "UNAUTHORIZED");
    }
    client.send(&bob, &bob.key, "x").ok();
    client.status(&another_session(client, &alice)).ok();
}

fn an_expired_session_is_invalid_before_its_first_use(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "1ms"]);
    let client = server.client();
    let alice = client.new_identity();
    // This request takes longer than the lifetime of the session.
    client.activate(&json!({"label": "Bob"})).ok();
    client.status(&alice).refused(401, "UNAUTHORIZED");
    client.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    client.post("/v1/auth/logout").token(&alice.token).response().refused(401, "UNAUTHORIZED");
    let activation =
        client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
    activation.response().refused(401, "UNAUTHORIZED");
}

fn a_cached_session_expires_on_time(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "1s"]);
    let client = server.client();
    let alice = client.new_identity();
    client.send(&alice, &alice.key, "x");
    // The minute limit may be reached first. Expiry is checked before the limit.
    eventually("the session ends", SOON, || {
        (client.send(&alice, &alice.key, "x").status == 401).then_some(())
    });
    client.status(&alice).refused(401, "UNAUTHORIZED");
}

fn a_wrong_account_and_a_wrong_secret_look_the_same(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
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
        let mut problem = client.login(account, secret).refused(401, "UNAUTHORIZED");
        problem.as_object_mut().unwrap().remove("request_id");
        problem
    });
    assert!(problems.iter().all(|problem| *problem == problems[0]), "{problems:?}");
}

fn a_session_can_activate_more_keys_of_its_account(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let activation = || client.post("/v1/did/activate").json(&json!({"label": "more"}));
    let more = activation().token(&alice.token).response().ok();
    assert_eq!(more["account_id"], alice.account);
    assert!(more.get("login_secret").is_none());
    assert_ne!(text(&more, "did"), alice.did);
    let status = client.post("/v1/did/status").token(&alice.token).key(&text(&more, "api_key_id"));
    assert_eq!(status.response().ok()["label"], "more");
    client.post("/v1/auth/logout").token(&alice.token).response().ok();
    activation().token(&alice.token).response().refused(401, "UNAUTHORIZED");
    let new_identity = activation().response().ok();
    assert_ne!(new_identity["account_id"], alice.account);
}

fn another_session(client: &Client, identity: &Identity) -> Identity {
    let session = client.login(&identity.account, identity.login_secret.as_ref().unwrap()).ok();
    Identity { token: text(&session, "session_token"), ..identity.clone() }
}
