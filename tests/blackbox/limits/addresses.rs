//! Tests of the rate limits by client address for activations and logins, and of the rate limits of account changes.

use sealpost_wallet::LoginSecret;
use serde_json::{Value, json};

use crate::support::{
    Client, Database, Response, Server, on_both, on_embedded, text, token_body, within_one_minute,
};

on_both!(a_new_login_secret_replaces_the_old_secret);
on_embedded!(account_changes_are_rate_limited);

fn a_new_login_secret_replaces_the_old_secret(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let old = alice.login_secret.clone().unwrap();
    let rotate = |token: &str, secret: &str| {
        let body = json!({"login_secret": secret});
        client.post("/v1/auth/rotate-secret").token(token).json(&body).response()
    };
    client.post("/v1/auth/rotate-secret").response().refused(401, "UNAUTHORIZED");
    rotate("st_x", &old).refused(401, "UNAUTHORIZED");
    let rotated = rotate(&alice.token, &old).ok();
    let new = text(&rotated, "login_secret");
    assert!(new.starts_with("ls_") && new != old);
    for node in &nodes {
        let client = node.client();
        client.login(&alice.account, &old).refused(401, "UNAUTHORIZED");
        client.login(&alice.account, &new).ok();
        client.status(&alice).ok();
        client.send(&alice, &alice.key, "x").ok();
        client.log_in(&bob).ok();
    }
    let newest = text(&rotate(&alice.token, &new).ok(), "login_secret");
    client.login(&alice.account, &new).refused(401, "UNAUTHORIZED");
    client.login(&alice.account, &newest).ok();
}

fn account_changes_are_rate_limited(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute=3"]);
    let list = |token: &str| server.post("/v1/auth/tokens/list").token(token).response();
    let replace = |token: &str, secret: &str| {
        let body = json!({"login_secret": secret});
        server.post("/v1/auth/rotate-secret").token(token).json(&body).response()
    };
    // Each run creates new accounts without earlier requests.
    let (alice, bob, ended, secret, refused, others) = within_one_minute(|| {
        let (alice, bob) = (server.new_identity(), server.new_identity());
        let ended = server.new_session(&alice).token;
        // Requests without effect do not count.
        for path in ["/v1/auth/tokens/list", "/v1/auth/rotate-secret", "/v1/account/activity"] {
            let request = server.post(path).token(&alice.token);
            request.body("application/json", b"[").response().refused(400, "INVALID_JSON");
        }
        let mut secret = alice.login_secret.clone().unwrap();
        // The sessions of an account share the limit of rotations.
        for token in [&ended, &alice.token, &alice.token] {
            secret = text(&replace(token, &secret).ok(), "login_secret");
            list(&alice.token).ok();
        }
        server.post("/v1/auth/logout").token(&ended).response().ok();
        let refused = [replace(&alice.token, &secret), list(&alice.token)];
        let bobs = bob.secret();
        let others = [&bob.token, "st_x", &ended].map(|token| replace(token, bobs));
        (alice, bob, ended, secret, refused, others)
    });
    for response in refused {
        let problem = response.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("account"), "{problem}");
        response.check_wait();
    }
    // The session is checked before the rate limit.
    assert_eq!(statuses(&others), [200, 401, 401]);
    let status = server.post("/v1/did/status").token(&ended).key(&alice.key);
    status.response().refused(401, "UNAUTHORIZED");
    // Rejected changes were not made, and other endpoints are not limited.
    server.login(&alice.account, &secret).ok();
    server.send(&alice, &bob.key, "x").ok();
}

/// The node that gets the requests still has the ended session in its cache.
#[test]
fn a_session_ended_on_another_node_does_not_use_its_accounts_rate_limit() {
    let database = Database::postgres();
    let nodes = [(); 2].map(|()| database.serve_with(&["--account-changes-per-minute=3"]));
    let [here, there] = nodes.each_ref().map(Server::client);
    let alice = here.new_identity();
    let ended = here.new_session(&alice).token;
    there.post("/v1/did/status").token(&ended).key(&alice.key).response().ok();
    let ask = |client: &Client, path: &str, token: &str| client.post(path).token(token).response();
    ask(here, "/v1/auth/logout", &ended).ok();
    let list = "/v1/auth/tokens/list";
    for _ in 0..15 {
        ask(there, list, &ended).refused(401, "UNAUTHORIZED");
    }
    for _ in 0..3 {
        ask(there, list, &alice.token).ok();
    }
}

#[test]
fn activations_and_logins_are_rate_limited_by_address() {
    // Each run starts a new server without known addresses.
    let (activations, logins, join, status) = within_one_minute(|| {
        let database = Database::embedded();
        let server = database.serve();
        let alice = server.new_identity();
        server.stop();
        let server = database.serve_with(&["--activations-per-minute=2", "--logins-per-minute=3"]);
        let activate = |_| server.activate(&json!({"label": "a"}));
        let activations: Vec<Response> = (0..5).map(activate).collect();
        // Wrong secrets and right ones count separately.
        let wrong = LoginSecret::generate().unwrap();
        let secret = |nth| if nth == 0 { wrong.expose() } else { alice.secret() };
        let logins: Vec<Response> =
            (0..7).map(|nth| server.login(&alice.account, secret(nth))).collect();
        let join = server.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
        (activations, logins, join.response(), server.status(&alice))
    });
    assert_eq!(statuses(&activations), [200, 200, 429, 429, 429]);
    assert_eq!(statuses(&logins), [401, 200, 200, 200, 429, 429, 429]);
    for response in activations[2..].iter().chain(&logins[4..]).chain([&join]) {
        let problem = response.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(text(&problem, "detail").contains("address"), "{problem}");
        response.check_wait();
    }
    // The address limits no other endpoint.
    status.ok();
}

/// Otherwise invalid requests of one client behind a proxy would block all clients behind this proxy.
#[test]
fn requests_refused_without_a_lookup_do_not_count_against_the_address() {
    let (login, next_login, activation, next_activation) = within_one_minute(|| {
        let database = Database::embedded();
        let server = database.serve();
        let alice = server.new_identity();
        server.stop();
        let server = database.serve_with(&["--activations-per-minute=1", "--logins-per-minute=1"]);
        let secret = alice.secret();
        for _ in 0..3 {
            server.login(&alice.account, "ls_x").refused(401, "UNAUTHORIZED");
            server.login("acct_x", secret).refused(401, "UNAUTHORIZED");
            server.post("/v1/auth/login").json(&json!({})).response().refused(400, "MISSING_FIELD");
            server.activate(&json!({"label": ""})).refused(400, "MISSING_FIELD");
            let joining = server.post("/v1/did/activate").token("st_x");
            joining.json(&json!({"label": "a"})).response().refused(401, "UNAUTHORIZED");
        }
        let log_in = || server.login(&alice.account, secret);
        let activate = || server.activate(&json!({"label": "a"}));
        (log_in(), log_in(), activate(), activate())
    });
    login.ok();
    next_login.refused(429, "RATE_LIMIT_EXCEEDED");
    activation.ok();
    next_activation.refused(429, "RATE_LIMIT_EXCEEDED");
}

#[test]
fn wrong_secrets_of_new_tokens_count_against_the_address() {
    let server = Database::embedded().serve_with(&["--logins-per-minute=2"]);
    let alice = server.new_identity();
    let create = |secret: &str| {
        let mut body = token_body(&alice, &["read"]);
        body["login_secret"] = json!(secret);
        server.act_as_owner(&alice, "/v1/auth/tokens/create", &body)
    };
    let other = LoginSecret::generate().unwrap();
    let (refused, accepted) = within_one_minute(|| {
        let refused: Vec<_> = (0..3).map(|_| create(other.expose())).collect();
        (refused, create(alice.secret()))
    });
    assert_eq!(refused[2].status, 429);
    assert!(refused[..2].iter().all(|response| [401, 429].contains(&response.status)));
    accepted.ok();
}

#[test]
fn only_a_trusted_proxy_may_name_the_client_address() {
    let activate_as = |client: &Client, header: &str, hops: &str| {
        let body: Value = json!({"label": "a"});
        client.post("/v1/did/activate").header(header, hops).json(&body).response()
    };
    let run = |flags: &[&str], header: &str, hops: &[&str]| {
        within_one_minute(|| {
            let server =
                Database::embedded().serve_with(&[&["--activations-per-minute=1"], flags].concat());
            let ask = |hops: &&str| activate_as(&server, header, hops);
            statuses(&hops.iter().map(ask).collect::<Vec<_>>())
        })
    };
    let (x, forwarded) = ("X-Forwarded-For", "Forwarded");
    let trusting = ["--trusted-proxy", "127.0.0.0/8"];
    let both = ["198.51.100.1", "198.51.100.2"];
    assert_eq!(run(&[], x, &both), [200, 429], "without a trusted proxy the header is ignored");
    assert_eq!(run(&trusting, x, &both), [200, 200]);
    let named = ["for=198.51.100.1", "for=198.51.100.2", "for=192.0.2.1, for=198.51.100.1"];
    assert_eq!(run(&trusting, forwarded, &named), [200, 200, 429]);
}

fn statuses(responses: &[Response]) -> Vec<u16> {
    responses.iter().map(|response| response.status).collect()
}
