//! Sessions: who may begin one, and that it is over when it is over.

use serde_json::json;

use crate::support::{Client, Database, Identity, SOON, eventually, on_both, text};

on_both!(
    a_session_ends_when_its_time_is_over_also_in_memory,
    a_session_opens_more_keys_of_its_account,
    a_session_that_lasts_no_time_is_worth_nothing,
    a_wrong_account_and_a_wrong_secret_look_the_same,
    every_session_of_the_account_can_be_ended_at_once,
    logging_out_ends_this_session_alone,
);

fn logging_out_ends_this_session_alone(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let other = another_session(client, &alice);
    // Both are in memory now.
    for who in [&alice, &other] {
        client.send(who, &alice.key, "x").ok();
    }
    client.post("/v1/auth/logout").token(&alice.token).answer().ok();
    for path in ["/v1/did/status", "/v1/channel/send", "/v1/channel/open", "/v1/webhooks"] {
        client.act(&alice, path, &json!({})).refused(401, "UNAUTHORIZED");
    }
    client.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    client.post("/v1/auth/logout").token(&alice.token).answer().refused(401, "UNAUTHORIZED");
    client.send(&other, &alice.key, "x").ok();
    client.login(&alice.account, alice.login_secret.as_ref().unwrap()).ok();
}

fn every_session_of_the_account_can_be_ended_at_once(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let other = another_session(client, &alice);
    for who in [&alice, &other, &bob] {
        client.send(who, &bob.key, "x").ok();
    }
    client.post("/v1/auth/logout").token(&alice.token).json(&json!({"all": true})).answer().ok();
    for who in [&alice, &other] {
        client.send(who, &bob.key, "x").refused(401, "UNAUTHORIZED");
        client.status(who).refused(401, "UNAUTHORIZED");
    }
    client.send(&bob, &bob.key, "x").ok();
    client.status(&another_session(client, &alice)).ok();
}

fn a_session_that_lasts_no_time_is_worth_nothing(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "0s"]);
    let client = server.client();
    let alice = client.newcomer();
    client.status(&alice).refused(401, "UNAUTHORIZED");
    client.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
    client.post("/v1/auth/logout").token(&alice.token).answer().refused(401, "UNAUTHORIZED");
    let activation =
        client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
    activation.answer().refused(401, "UNAUTHORIZED");
}

fn a_session_ends_when_its_time_is_over_also_in_memory(database: &Database) {
    let server = database.serve_with(&["--session-ttl", "1s"]);
    let client = server.client();
    let alice = client.newcomer();
    client.send(&alice, &alice.key, "x");
    // The minute may be used up before; that it ended goes before that.
    eventually("the session ends", SOON, || {
        (client.send(&alice, &alice.key, "x").status == 401).then_some(())
    });
    client.status(&alice).refused(401, "UNAUTHORIZED");
}

fn a_wrong_account_and_a_wrong_secret_look_the_same(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let [alices, bobs] = [&alice, &bob].map(|who| who.login_secret.clone().unwrap());
    let attempts = [
        (&*alice.account, &*bobs),
        ("acct_01h455vb4pex5vsknk084sn02q", &*alices),
        ("acct_x", &*alices),
        (&*alice.key, &*alices),
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

fn a_session_opens_more_keys_of_its_account(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let activation = || client.post("/v1/did/activate").json(&json!({"label": "more"}));
    let more = activation().token(&alice.token).answer().ok();
    assert_eq!(more["account_id"], alice.account);
    assert!(more.get("login_secret").is_none());
    assert_ne!(text(&more, "did"), alice.did);
    let status = client.post("/v1/did/status").token(&alice.token).key(&text(&more, "api_key_id"));
    assert_eq!(status.answer().ok()["label"], "more");
    client.post("/v1/auth/logout").token(&alice.token).answer().ok();
    activation().token(&alice.token).answer().refused(401, "UNAUTHORIZED");
    let newcomer = activation().answer().ok();
    assert_ne!(newcomer["account_id"], alice.account);
}

fn another_session(client: &Client, who: &Identity) -> Identity {
    let session = client.login(&who.account, who.login_secret.as_ref().unwrap()).ok();
    Identity { token: text(&session, "session_token"), ..who.clone() }
}
