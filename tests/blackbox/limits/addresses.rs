//! How often one address may activate and log in, and which address that is. Also how an account changes its secret, and
//! how often it may.

use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Server, on_both, text, within_one_minute};

on_both!(
    a_new_login_secret_takes_the_place_of_the_old_one,
    an_account_ends_sessions_and_replaces_its_secret_only_so_often,
);

fn a_new_login_secret_takes_the_place_of_the_old_one(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let old = alice.login_secret.clone().unwrap();
    let rotate = |token: &str| client.post("/v1/auth/rotate-secret").token(token).answer();
    client.post("/v1/auth/rotate-secret").answer().refused(401, "UNAUTHORIZED");
    rotate("st_x").refused(401, "UNAUTHORIZED");
    let rotated = rotate(&alice.token).ok();
    let new = text(&rotated, "login_secret");
    assert!(new.starts_with("ls_") && new != old);
    for node in &nodes {
        let client = node.client();
        client.login(&alice.account, &old).refused(401, "UNAUTHORIZED");
        client.login(&alice.account, &new).ok();
        client.status(&alice).ok();
        client.send(&alice, &alice.key, "x").ok();
        client.login(&bob.account, bob.login_secret.as_ref().unwrap()).ok();
    }
    let newest = text(&rotate(&alice.token).ok(), "login_secret");
    client.login(&alice.account, &new).refused(401, "UNAUTHORIZED");
    client.login(&alice.account, &newest).ok();
}

fn an_account_ends_sessions_and_replaces_its_secret_only_so_often(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=3"]);
    let client = server.client();
    let ask = |path: &str, token: &str| client.post(path).token(token).answer();
    let (rotate, log_out) = ("/v1/auth/rotate-secret", "/v1/auth/logout");
    // Each run has accounts of its own, which have done nothing yet.
    let (alice, bob, ended, secret, refused, others) = within_one_minute(|| {
        let (alice, bob) = (client.newcomer(), client.newcomer());
        // A second session is no second allowance.
        let session = client.login(&alice.account, alice.login_secret.as_ref().unwrap()).ok();
        let ended = text(&session, "session_token");
        // What does nothing takes nothing.
        for path in [log_out, rotate, log_out, rotate] {
            let faulty = client.post(path).token(&ended).body("application/json", b"[").answer();
            faulty.refused(400, "INVALID_JSON");
        }
        let faulty = client.post(log_out).token(&ended).json(&json!({"all": 7})).answer();
        faulty.refused(400, "INVALID_FIELD");
        ask(rotate, &ended).ok();
        ask(log_out, &ended).ok();
        let secret = text(&ask(rotate, &alice.token).ok(), "login_secret");
        let refused = [rotate, log_out].map(|path| ask(path, &alice.token));
        let others = [&bob.token, "st_x", &ended].map(|token| ask(rotate, token));
        (alice, bob, ended, secret, refused, others)
    });
    for answer in refused {
        let problem = answer.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("account"), "{problem}");
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    // Whose session it is comes first.
    assert_eq!(statuses(&others), [200, 401, 401]);
    client
        .post("/v1/did/status")
        .token(&ended)
        .key(&alice.key)
        .answer()
        .refused(401, "UNAUTHORIZED");
    // What was refused was not done, and nothing else is limited by it.
    client.login(&alice.account, &secret).ok();
    client.send(&alice, &bob.key, "x").ok();
}

/// The other node still has it in memory.
#[test]
fn a_session_that_another_node_ended_takes_nothing_from_its_account() {
    let database = Database::postgres();
    let nodes = [(); 2].map(|()| database.serve_with(&["--account-changes-per-minute=3"]));
    let [here, there] = nodes.each_ref().map(Server::client);
    let alice = here.newcomer();
    let session = here.login(&alice.account, alice.login_secret.as_ref().unwrap()).ok();
    let ended = text(&session, "session_token");
    there.post("/v1/did/status").token(&ended).key(&alice.key).answer().ok();
    let log_out =
        |client: &Client, token: &str| client.post("/v1/auth/logout").token(token).answer();
    log_out(here, &ended).ok();
    for _ in 0..6 {
        log_out(there, &ended).refused(401, "UNAUTHORIZED");
    }
    log_out(there, &alice.token).ok();
}

#[test]
fn an_address_activates_and_logs_in_only_so_often() {
    // Each run has a server of its own, which has seen no address yet.
    let (activations, logins, join, status) = within_one_minute(|| {
        let database = Database::embedded();
        let server = database.serve();
        let alice = server.client().newcomer();
        server.stop();
        let server = database.serve_with(&["--activations-per-minute=2", "--logins-per-minute=3"]);
        let client = server.client();
        let activate = |_| client.activate(&json!({"label": "a"}));
        let activations: Vec<Answer> = (0..5).map(activate).collect();
        // A wrong secret counts as well as a right one.
        let secret = |nth| if nth == 0 { "x" } else { alice.login_secret.as_ref().unwrap() };
        let logins: Vec<Answer> =
            (0..6).map(|nth| client.login(&alice.account, secret(nth))).collect();
        let join = client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
        (activations, logins, join.answer(), client.status(&alice))
    });
    assert_eq!(statuses(&activations), [200, 200, 429, 429, 429]);
    assert_eq!(statuses(&logins), [401, 200, 200, 429, 429, 429]);
    for answer in activations[2..].iter().chain(&logins[3..]).chain([&join]) {
        let problem = answer.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("address"), "{problem}");
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    // Nothing else is limited by the address.
    status.ok();
}

#[test]
fn nobody_is_believed_about_an_address_unless_a_trusted_proxy() {
    let activate_as = |client: &Client, header: &str, hops: &str| {
        let body: Value = json!({"label": "a"});
        client.post("/v1/did/activate").header(header, hops).json(&body).answer()
    };
    let run = |flags: &[&str], header: &str, hops: &[&str]| {
        within_one_minute(|| {
            let database = Database::embedded();
            let server = database.serve_with(&[&["--activations-per-minute=1"], flags].concat());
            let ask = |hops: &&str| activate_as(server.client(), header, hops);
            statuses(&hops.iter().map(ask).collect::<Vec<_>>())
        })
    };
    let (x, forwarded) = ("X-Forwarded-For", "Forwarded");
    let trusting = ["--trusted-proxy", "127.0.0.0/8"];
    let both = ["198.51.100.1", "198.51.100.2"];
    assert_eq!(run(&[], x, &both), [200, 429], "without a trusted proxy it is ignored");
    assert_eq!(run(&["--trusted-proxy", "192.0.2.0/24"], x, &both), [200, 429], "not that proxy");
    assert_eq!(run(&trusting, x, &both), [200, 200]);
    // What the client put before what the proxy wrote counts for nothing.
    let spoofed = ["192.0.2.1, 198.51.100.1", "192.0.2.2, 198.51.100.1", "127.0.0.1, 198.51.100.1"];
    assert_eq!(run(&trusting, x, &spoofed), [200, 429, 429]);
    let chained = ["198.51.100.1, 127.0.0.9", "198.51.100.2, 127.0.0.9"];
    assert_eq!(run(&trusting, x, &chained), [200, 200], "trusted hops are passed over");
    let named = ["for=198.51.100.1", "for=198.51.100.2", "for=192.0.2.1, for=198.51.100.1"];
    assert_eq!(run(&trusting, forwarded, &named), [200, 200, 429]);
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}
