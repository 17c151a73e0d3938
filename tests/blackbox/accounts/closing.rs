//! Tests that an account can be closed, and that erased personal data disappears from the database files.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Identity, Reaction, Receiver, Response, Server, binary, has,
    on_both, postgres_tool, run, text, wait_until,
};

on_both!(
    an_owner_closes_the_account_with_the_login_secret,
    a_closed_account_holds_on_every_node_and_has_neither_tokens_nor_recovery,
    an_erased_account_leaves_no_name_in_the_files,
    an_operator_closes_and_erases,
    an_erased_handle_stays_reserved,
);

fn close(client: &Client, who: &Identity) -> Response {
    let body = json!({"login_secret": who.login_secret});
    client.post("/v1/account/close").token(&who.token).json(&body).response()
}

fn check_closed(node: &Server, who: &Identity, other: &Identity) {
    let client = node.client();
    client.log_in(who).refused(401, "UNAUTHORIZED");
    client.status(who).refused(401, "UNAUTHORIZED");
    client.send(who, &other.key, "x").refused(401, "UNAUTHORIZED");
    let activate = client.post("/v1/did/activate").token(&who.token);
    activate.json(&json!({"label": "again"})).response().refused(401, "UNAUTHORIZED");
    client.send(other, &who.key, "x").refused(403, "KEY_INACTIVE");
}

fn an_owner_closes_the_account_with_the_login_secret(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let sibling = server.sibling(&alice);
    server.register(&alice, "https://93.184.216.34/hook");
    let to_bob = text(&server.send(&alice, &bob.key, "keep this").ok(), "envelope_id");
    server.send(&bob, &alice.key, "never read").ok();

    let closed = close(&server, &alice).ok();
    assert_eq!(closed["account_id"], alice.account);
    assert_eq!((&closed["erased"], &closed["complete"]), (&json!(true), &json!(true)));
    for (rows, number) in [
        ("sessions", 1),
        ("keys_revoked", 2),
        ("webhooks", 1),
        ("deliveries", 1),
        ("handles", 1),
        ("labels", 2),
        ("activity", 4),
        ("log_statements", 4),
    ] {
        assert_eq!(closed["deleted"][rows], number, "{rows}: {closed}");
    }
    let kept = closed["kept"].as_array().unwrap();
    assert!(kept.len() > 5, "{closed}");
    for entry in kept {
        assert!(["data", "reason", "until"].iter().all(|name| !text(entry, name).is_empty()));
    }
    check_closed(&server, &alice, &bob);
    server.send(&bob, &sibling.key, "x").refused(403, "KEY_INACTIVE");
    // The handle resolves to no key any more.
    server.send(&bob, "alice", "x").refused(404, "KEY_NOT_FOUND");
    // Other people's envelopes stay.
    let opened = server.open(&bob, &to_bob).ok();
    assert_eq!((&opened["message"], &opened["sender"]), (&json!("keep this"), &json!(alice.key)));
    let shown = database.operate(&["key", "show", &alice.key]);
    assert_eq!((&shown["label"], &shown["handle"]), (&json!("erased"), &Value::Null));
    assert_eq!((&shown["status"], &shown["did"]), (&json!("revoked"), &json!(alice.did)));
    assert_eq!(database.operate(&["audit", "verify"])["verdict"], "whole");
    let audit = database.audit().remove(0);
    assert_eq!(text(&audit, "action"), "account.erase");
    assert_eq!(text(&audit, "actor"), format!("account:{}", alice.account));
}

fn a_closed_account_holds_on_every_node_and_has_neither_tokens_nor_recovery(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (alice, bob) = (client.new_identity_with_handle("alice"), client.new_identity());
    let token = client.token_with(&alice, &["read", "send"]);
    let body = json!({"login_secret": alice.login_secret});
    let rotated = client.act_as_owner(&alice, "/v1/auth/rotate-secret", &body).ok();
    let alice = Identity { login_secret: Some(text(&rotated, "login_secret")), ..alice };
    let status = |node: &Server| node.post("/v1/did/status").token(&token).response();
    let send = |node: &Server| {
        let message = json!({"to": alice.key, "message": "x"});
        node.post("/v1/channel/send").token(&token).json(&message).response()
    };
    for node in &nodes {
        // Every node caches the token, the session, the keys and the handle.
        status(node).ok();
        send(node).ok();
        node.send(&alice, &bob.key, "x").ok();
        node.send(&bob, "alice", "x").ok();
    }
    let closed = close(client, &alice).ok();
    assert_eq!(closed["deleted"]["api_tokens"], 1, "{closed}");
    let recover = json!({
        "account_id": alice.account,
        "recovery_code": rotated["recovery_code"],
    });
    for node in nodes.iter().rev() {
        status(node).refused(401, "UNAUTHORIZED");
        send(node).refused(401, "UNAUTHORIZED");
        let recovered = node.post("/v1/auth/recover").json(&recover).response();
        recovered.refused(401, "UNAUTHORIZED");
        check_closed(node, &alice, &bob);
        node.send(&bob, "alice", "x").refused(404, "KEY_NOT_FOUND");
        close(node.client(), &alice).refused(401, "UNAUTHORIZED");
    }
    assert_eq!(database.count("api_tokens"), 0);
    let reset = ["account", "reset-secret", &alice.account];
    database.operate_refused(1, &reset);
}

/// Personal data of one account. Each text is unique, so that a search in the database files finds it.
const NAMES: [&str; 7] = [
    "Liddell of Daresbury",
    "liddell-1865",
    "hook-of-liddell",
    "203.0.113.77",
    "WonderlandBrowser",
    "order-of-liddell",
    "reply-of-the-dodo",
];

/// Returns everything that the database stores: the files after `VACUUM` (SQLite), or a new dump (PostgreSQL).
fn raw(database: &Database) -> String {
    let bytes = match database.postgres_url() {
        None => {
            database.by_hand("VACUUM");
            let file = database.file();
            let files = ["", "-wal", "-shm"].map(|end| format!("{}{end}", file.display()));
            files.iter().flat_map(|file| fs::read(file).unwrap_or_default()).collect()
        }
        Some(url) => {
            let mut command = postgres_tool("pg_dump");
            command.args(["--format=plain", "--dbname", url]);
            command.output().unwrap().stdout
        }
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn an_erased_account_leaves_no_name_in_the_files(database: &Database) {
    let server = database.serve_with(&["--trusted-proxy=127.0.0.0/8"]);
    let receiver = Receiver::reacting(|_| {
        Reaction::Exactly("500 No".to_owned(), NAMES[6].as_bytes().to_vec())
    });
    let from = |path: &str| {
        let request = server.post(path).header("X-Forwarded-For", NAMES[3]);
        request.header("User-Agent", NAMES[4])
    };
    let label = json!({"label": NAMES[0], "handle": NAMES[1]});
    let activated = from("/v1/did/activate").json(&label).response().ok();
    let (account, secret) = (text(&activated, "account_id"), text(&activated, "login_secret"));
    let login = json!({"account_id": account, "login_secret": secret});
    let token = text(&from("/v1/auth/login").json(&login).response().ok(), "session_token");
    let key = text(&activated, "api_key_id");
    let alice =
        Identity { key, did: text(&activated, "did"), account, login_secret: Some(secret), token };
    let url = format!("{}/{}", receiver.url, NAMES[2]);
    let webhook = json!({"url": url, "events": ["envelope.received"]});
    from("/v1/webhooks/register").by(&alice).json(&webhook).response().ok();
    let message = json!({"to": NAMES[1], "message": "to myself"});
    let send = from("/v1/channel/send").by(&alice).header("Idempotency-Key", NAMES[5]);
    send.json(&message).response().ok();
    wait_until("an attempt is recorded", || database.count("attempts") > 0);
    let before = raw(database);
    for name in NAMES {
        assert!(before.contains(name), "{name} is stored");
    }
    close(&server, &alice).ok();
    // Attempts in flight are recorded after the end of the webhook, and deleted by the next housekeeping.
    server.stop();
    let erased = database.operate(&["account", "erase", &alice.account]);
    assert_eq!(erased["complete"], true);
    let after = raw(database);
    assert!(after.contains(&alice.account), "the account stays under its pseudonym");
    for name in NAMES {
        assert!(!after.contains(name), "{name} is not stored");
    }
}

fn an_operator_closes_and_erases(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let closed = database.operate(&["account", "close", &alice.account]);
    assert_eq!((&closed["erased"], &closed["deleted"]["keys_revoked"]), (&json!(false), &json!(1)));
    check_closed(&server, &alice, &bob);
    let shown = database.operate(&["account", "show", &alice.account]);
    assert!(text(&shown, "closed_at").ends_with('Z') && shown["erased_at"].is_null(), "{shown}");
    has(&shown["keys"][0], &json!({"label": "somebody", "handle": "alice"}));
    assert!(database.count("activity") > 2, "the activity stays");

    let stdout = run(database.admin_command(&["account", "erase", &alice.account])).ok();
    for line in
        ["erased          true\n", "labels            1\n", "kept\n", "(until: permanently)"]
    {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    let shown = database.operate(&["account", "show", &alice.account]);
    assert!(text(&shown, "erased_at").ends_with('Z'), "{shown}");
    assert_eq!(shown["keys"][0]["label"], "erased");
    // Repeating the command finds nothing more, also after an act of an operator.
    database.operate(&["governance", "propose", &alice.key, "--reason", "a late complaint"]);
    let again = database.operate(&["account", "erase", &alice.account]);
    let deleted = again["deleted"].as_object().unwrap();
    assert!(deleted.values().all(|number| *number == 0), "{again}");
    server.status(&bob).ok();

    let unknown = "acct_01kxk83ffmfe7rw98sdqcq10h0";
    for command in ["close", "erase"] {
        let refused = database.operate_refused(1, &["account", command, unknown]);
        assert!(refused.contains("there is no such account"), "{refused}");
        database.operate_refused(2, &["account", command, &alice.key]);
        database.operate_refused(2, &["account", command]);
    }
    let listed = database.operate(&["audit", "list"]);
    let entries = listed["entries"].as_array().unwrap();
    let actions: Vec<_> = entries.iter().map(|entry| text(entry, "action")).collect();
    let performed = ["account.close", "account.erase", "governance.propose", "account.erase"];
    assert_eq!(actions, performed);
    let help = run(binary(&["admin", "account", "erase", "--help"])).stdout;
    assert!(help.contains("permanently"), "{help}");
}

fn an_erased_handle_stays_reserved(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    close(&server, &alice).ok();
    let activate = |handle: &str| server.activate(&json!({"label": "x", "handle": handle}));
    activate("alice").refused(409, "HANDLE_TAKEN");
    activate("alice2").ok();
    // An operator can give the handle to another key.
    database.operate(&["handle", "assign", "alice", &bob.key]);
    assert_eq!(server.send(&bob, "alice", "x").ok()["recipient"], bob.key);
}

#[test]
fn an_owner_closes_the_account_in_a_browser() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let browser = Browser::sign_in(&server, &alice);
    let path = "/dashboard/account/close";
    assert!(browser.page("/dashboard/account").contains(path));
    assert!(browser.page(path).contains("This is permanent."));
    let form = |token: &str, secret: &str| format!("form_token={token}&login_secret={secret}");
    let (own, secret) = (browser.form_token(), alice.secret());
    for (form, site, status) in [
        (form("", secret), "same-origin", 403),
        (form(&own, secret), "cross-site", 403),
        (form(&own, bob.secret()), "same-origin", 422),
        (form(&own, ""), "same-origin", 422),
    ] {
        let response = browser.post(path, &form, site);
        assert_eq!(response.status, status);
        assert!(String::from_utf8_lossy(&response.body).contains("Nothing was"));
    }
    server.status(&alice).ok();
    let closed = browser.post(path, &form(&own, secret), "same-origin");
    let page = String::from_utf8_lossy(&closed.body).into_owned();
    assert_eq!(closed.status, 200, "{page}");
    assert!(page.contains("The account is closed") && page.contains("1 revoked"), "{page}");
    assert!(closed.header("set-cookie").unwrap().contains("Max-Age=0"));
    check_closed(&server, &alice, &bob);
    assert_eq!(browser.get("/dashboard").status, 303);
}
