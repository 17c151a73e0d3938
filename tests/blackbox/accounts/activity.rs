//! Tests of the activity log of an account, and of the client details shown for each session.

use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Identity, Server, on_both, on_embedded, text, within_one_minute,
};

on_both!(
    acts_are_listed_newest_first_in_pages,
    failed_logins_are_recorded_in_limited_number,
    acts_of_operators_are_shown_without_their_names,
    another_account_sees_nothing,
    every_node_shows_the_same_activity,
);
on_embedded!(faulty_listings_are_refused, the_account_page_shows_the_client_of_a_session,);

fn list(client: &Client, who: &Identity, body: &Value) -> Value {
    client.post("/v1/account/activity").token(&who.token).json(body).response().ok()
}

fn entries(client: &Client, who: &Identity) -> Vec<Value> {
    list(client, who, &json!({"limit": 100}))["entries"].as_array().unwrap().clone()
}

fn kinds(client: &Client, who: &Identity) -> Vec<String> {
    entries(client, who).iter().map(|entry| text(entry, "kind")).collect()
}

fn register(client: &Client, who: &Identity) -> String {
    text(&client.register(who, "https://93.184.216.34/hook"), "webhook_id")
}

fn acts_are_listed_newest_first_in_pages(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let webhook = register(&server, &alice);
    server.manage(&alice, &json!({"action": "rotate_secret", "webhook_id": webhook})).ok();
    server.manage(&alice, &json!({"action": "delete", "webhook_id": webhook})).ok();
    let body = json!({"login_secret": alice.login_secret});
    let rotated = server.act_as_owner(&alice, "/v1/auth/rotate-secret", &body).ok();
    let again = server.login(&alice.account, &text(&rotated, "login_secret")).ok();
    let again = text(&again, "session_token");
    server.post("/v1/auth/logout").token(&again).response().ok();

    let of_webhook = format!("{webhook} of {}", alice.key);
    let expected = [
        ("logout", None),
        ("login", None),
        ("secret_replaced", Some("login secret and recovery code".to_owned())),
        ("webhook_deleted", Some(of_webhook.clone())),
        ("secret_replaced", Some(format!("signing secret of {webhook}"))),
        ("webhook_registered", Some(of_webhook)),
        ("key_activated", Some(sibling.key)),
        ("login", None),
        ("key_activated", Some(alice.key.clone())),
    ];
    let found = entries(&server, &alice);
    let shown = found.iter().map(|entry| (text(entry, "kind"), entry["detail"].clone()));
    let expected: Vec<_> =
        expected.into_iter().map(|(kind, detail)| (kind.to_owned(), json!(detail))).collect();
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|entry| entry["client_address"] == "127.0.0.1"), "{found:?}");
    assert!(found.iter().all(|entry| text(entry, "at").ends_with('Z')), "{found:?}");
    let actors: Vec<_> = found.iter().map(|entry| text(entry, "actor")).collect();
    assert!(actors[0].starts_with("session:") && actors[0] == actors[1], "{actors:?}");
    assert!(actors[2..8].iter().all(|actor| *actor == actors[2]) && actors[2] != actors[0]);
    assert_eq!(actors[8], "client");

    let (mut paged, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = list(&server, &alice, &json!({"limit": 4, "cursor": cursor}));
        paged.extend(page["entries"].as_array().unwrap().clone());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(paged, found);
}

#[test]
fn acts_with_tokens_and_recovery_codes_are_listed() {
    let server = Server::shared();
    let alice = server.new_identity();
    let created = server.new_token(&alice, &["webhooks"]);
    let (id, token) = (text(&created, "token_id"), text(&created, "token"));
    let hook = json!({"url": "https://93.184.216.34/hook", "events": ["envelope.received"]});
    server.post("/v1/webhooks/register").token(&token).json(&hook).response().ok();
    let revoke = json!({"token_id": id});
    server.post("/v1/auth/tokens/revoke").token(&alice.token).json(&revoke).response().ok();
    let rotate = |secret: &str| {
        let body = json!({"login_secret": secret});
        server.post("/v1/auth/rotate-secret").token(&alice.token).json(&body).response()
    };
    rotate("ls_wrong").refused(401, "UNAUTHORIZED");
    let rotated = rotate(alice.secret()).ok();
    let recover = |code: &str| {
        let body = json!({"account_id": alice.account, "recovery_code": code});
        server.post("/v1/auth/recover").json(&body).response()
    };
    let other = server.activate(&json!({"label": "other"})).ok();
    recover(&text(&other, "recovery_code")).refused(401, "UNAUTHORIZED");
    let recovered = recover(&text(&rotated, "recovery_code")).ok();
    let again = server.login(&alice.account, &text(&recovered, "login_secret")).ok();
    let alice = Identity { token: text(&again, "session_token"), ..alice };

    let found = entries(&server, &alice);
    let kinds: Vec<_> = found.iter().map(|entry| text(entry, "kind")).collect();
    let expected = [
        "login",
        "recovered",
        "login_failed",
        "secret_replaced",
        "login_failed",
        "token_revoked",
        "webhook_registered",
        "token_created",
        "login",
        "key_activated",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(found[1]["actor"], "client");
    assert_eq!((&found[2]["detail"], &found[2]["actor"]), (&json!("recovery"), &json!("client")));
    assert_eq!(found[4]["detail"], "replacing the secrets");
    assert_eq!(found[5]["detail"], id);
    assert_eq!(found[6]["actor"], format!("token:{id}"));
    assert_eq!(found[7]["detail"], format!("{id} for {}", alice.key));
}

#[test]
fn acts_on_the_dashboard_are_listed() {
    let server = Server::shared();
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let browser = Browser::sign_in(&server, &alice);
    let form = format!("form_token={}&typed={}", browser.form_token(), sibling.key);
    let revoke = format!("/dashboard/keys/{}/revoke", sibling.key);
    assert_eq!(browser.post(&revoke, &form, "same-origin").status, 303);
    assert_eq!(kinds(&server, &alice)[..2], ["key_revoked", "login"]);
    assert_eq!(entries(&server, &alice)[0]["detail"], sibling.key);
    let page = browser.page("/dashboard/activity");
    let named = format!("title=\"{}\">another</bdi>", sibling.key);
    for expected in ["Identity revoked", "Login", "Identity created", "127.0.0.1", &named] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let page = browser.page("/dashboard/activity?cursor=rubbish");
    assert!(page.contains("Identity revoked"), "a wrong cursor shows the newest entries");
}

#[test]
fn sends_are_no_activity() {
    let server = Server::shared();
    let alice = server.new_identity();
    let before = entries(&server, &alice);
    let sent = server.send(&alice, &alice.key, "x").ok();
    server.open(&alice, &text(&sent, "envelope_id")).ok();
    server.status(&alice).ok();
    assert_eq!(entries(&server, &alice), before);
}

fn failed_logins_are_recorded_in_limited_number(database: &Database) {
    let server = database.serve_with(&["--logins-per-minute", "0"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for _ in 0..15 {
        server.login(&alice.account, bob.secret()).refused(401, "UNAUTHORIZED");
    }
    // A malformed secret is refused without a look-up.
    server.login(&alice.account, "ls_x").refused(401, "UNAUTHORIZED");
    let failed: Vec<_> = entries(&server, &alice)
        .into_iter()
        .filter(|entry| entry["kind"] == "login_failed")
        .collect();
    assert_eq!(failed.len(), 10);
    assert_eq!((&failed[9]["actor"], &failed[9]["detail"]), (&json!("client"), &Value::Null));
    assert!(text(&failed[0], "detail").contains("may not be recorded"), "{failed:?}");
    assert!(kinds(&server, &bob).iter().all(|kind| kind != "login_failed"));
    assert_eq!(database.count("activity WHERE kind = 'login_failed'"), 10);
}

fn acts_of_operators_are_shown_without_their_names(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let webhook = register(&server, &alice);
    database.operate(&["plan", "set", &alice.key, "builder"]);
    database.operate(&["key", "deactivate", &alice.key]);
    database.operate(&["key", "reactivate", &alice.key]);
    database.operate(&["webhook", "disable", &webhook]);
    database.operate(&["governance", "enforce", &alice.account, "--reason", "secret reason"]);
    database.operate(&["governance", "lift", &alice.account, "--reason", "over"]);
    database.operate(&["partner", "assign", &alice.account, "acme"]);
    database.operate(&["handle", "assign", "alice", &alice.key]);
    let found = entries(&server, &alice);
    let acts: Vec<_> = found.iter().take(8).map(|entry| text(entry, "detail")).collect();
    let expected = [
        "handle.assign handle:alice".to_owned(),
        format!("partner.assign {}", alice.account),
        format!("governance.lift {}", alice.account),
        format!("governance.enforce {}", alice.account),
        format!("webhook.disable {webhook}"),
        format!("key.reactivate {}", alice.key),
        format!("key.deactivate {}", alice.key),
        format!("plan.set {} builder", alice.key),
    ];
    assert_eq!(acts, expected);
    let page = Browser::sign_in(&server, &alice).page("/dashboard/activity");
    assert!(page.contains("<strong>Plan changed to builder</strong>"), "{page}");
    for entry in &found[..8] {
        assert_eq!((&entry["kind"], &entry["actor"]), (&json!("operator"), &json!("operator")));
        assert_eq!(entry["client_address"], Value::Null);
    }
    assert_eq!(found[8]["kind"], "webhook_registered");
}

fn another_account_sees_nothing(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    register(&server, &alice);
    assert_eq!(kinds(&server, &bob), ["login", "key_activated"]);
    // A cursor of another account shows own entries only.
    let cursor = list(&server, &alice, &json!({"limit": 1}))["next_cursor"].clone();
    let page = list(&server, &bob, &json!({"cursor": cursor}));
    let alices = entries(&server, &alice);
    assert!(page["entries"].as_array().unwrap().iter().all(|entry| !alices.contains(entry)));
}

fn faulty_listings_are_refused(database: &Database) {
    let server = database.serve_with(&["--account-changes-per-minute", "7"]);
    let ask = |token: &str, body: &Value| {
        server.post("/v1/account/activity").token(token).json(body).response()
    };
    ask("st_x", &json!({})).refused(401, "UNAUTHORIZED");
    server.post("/v1/account/activity").json(&json!({})).response().refused(401, "UNAUTHORIZED");
    server.get("/v1/account/activity").refused(405, "METHOD_NOT_ALLOWED");
    let given = within_one_minute(|| {
        let alice = server.new_identity();
        for (field, body) in [
            ("limit", json!({"limit": 0})),
            ("limit", json!({"limit": 101})),
            ("limit", json!({"limit": "5"})),
            ("cursor", json!({"cursor": "rubbish"})),
            ("cursor", json!({"cursor": 5})),
            ("kind", json!({"kind": "login"})),
        ] {
            let problem = ask(&alice.token, &body).refused(400, "INVALID_FIELD");
            assert_eq!(problem["field"], field, "{body}");
        }
        [(); 8].map(|()| ask(&alice.token, &json!({})).status)
    });
    assert_eq!(given, [200, 200, 200, 200, 200, 200, 200, 429]);
}

fn every_node_shows_the_same_activity(database: &Database) {
    let nodes = database.serve_on_every_node();
    let (one, other) = (&nodes[0], &nodes[nodes.len() - 1]);
    let alice = one.new_identity();
    register(other.client(), &alice);
    let expected = ["webhook_registered", "login", "key_activated"];
    let seen = |node: &Server| kinds(node.client(), &alice);
    assert_eq!((seen(one), seen(other)), (expected.map(Into::into).into(), seen(one)));
}

fn the_account_page_shows_the_client_of_a_session(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let body = json!({"account_id": alice.account, "login_secret": alice.login_secret});
    let login = server.post("/v1/auth/login").json(&body);
    let hostile = format!("<script>alert(1)</script> \"quoted\" {}", "x".repeat(4000));
    login.header("User-Agent", &hostile).response().ok();
    let browser = Browser::sign_in(&server, &alice);
    let page = browser.page("/dashboard/account");
    assert!(!page.contains("<script>alert"), "the program is escaped");
    assert!(page.contains("alert(1)") && page.contains("127.0.0.1"), "{page}");
    assert!(!page.contains(&"x".repeat(201)), "the program is bounded");
    assert_eq!(database.count("sessions WHERE length(user_agent) = 200"), 1);
    assert_eq!(database.count("sessions WHERE started_at IS NOT NULL"), 3);
}
