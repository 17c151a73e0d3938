//! Tests of `sealpost move`: everything goes on in PostgreSQL, a killed move leaves nothing, and what cannot be moved is
//! refused.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Process, Reaction, Receiver, binary, private_file, run, text,
    wait_until,
};

/// Returns the command that moves an embedded database to the PostgreSQL database at `url`.
fn command(database: &Database, url: &str) -> std::process::Command {
    let from = format!("sqlite:{}", database.file().display());
    binary(&["move", "--from", &from, "--to", url])
}

/// Moves a database. Returns the database at its new place, with a copy of the key file.
#[track_caller]
fn moved(database: &Database) -> Database {
    let url = sealpost_testkit::postgres().create_database();
    let stdout = run(command(database, &url)).ok();
    assert!(stdout.contains("same in both databases"), "{stdout}");
    let target = database.moved_to(Some(url));
    fs::copy(database.kek_file(), target.kek_file()).unwrap();
    target
}

/// Returns what an identity sees of its webhooks, log, sent envelopes, policy, tokens and activity.
fn seen(client: &Client, identity: &Identity, webhook: Option<&str>) -> Vec<Value> {
    let mut views = vec![
        client.act(identity, "/v1/channel/list", &json!({})).ok(),
        client.act(identity, "/v1/webhooks/list", &json!({})).ok(),
        client.act(identity, "/v1/did/policy", &json!({})).ok(),
    ];
    if let Some(webhook_id) = webhook {
        let body = json!({"webhook_id": webhook_id, "state": "succeeded"});
        views.push(client.act(identity, "/v1/webhooks/deliveries", &body).ok());
    }
    for path in ["/v1/auth/tokens/list", "/v1/account/activity"] {
        views.push(client.act_as_owner(identity, path, &json!({})).ok());
    }
    let status = client.status(identity).ok();
    views.push(json!([status["did"], status["plan"], status["handle"], status["usage"]["month"]]));
    views
}

/// Returns the public key of the service, the status of the page of a badge, the audit trail and its verification.
fn public_records(client: &Client, database: &Database, badge: &str) -> Value {
    let document = client.get("/.well-known/did.json").json();
    let page = client.get(&format!("/badges/{badge}"));
    json!([
        document["verificationMethod"][0]["publicKeyMultibase"],
        page.status,
        database.operate(&["audit", "list"]),
        database.operate(&["audit", "verify"]),
    ])
}

fn receiver_failing_while(is_failing: &Arc<AtomicBool>) -> Receiver {
    let is_failing = Arc::clone(is_failing);
    Receiver::reacting(move |_| {
        Reaction::Status(if is_failing.load(Ordering::SeqCst) { 500 } else { 204 })
    })
}

#[test]
fn everything_goes_on_after_a_move() {
    let database = Database::embedded();
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity_with_handle("alice");
    let bob = client.new_identity_with_handle("bob");
    let carol = client.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let is_failing = Arc::new(AtomicBool::new(false));
    let receiver = receiver_failing_while(&is_failing);
    let registered = client.register(&bob, &receiver.url);
    let (webhook, secret) = (text(&registered, "webhook_id"), text(&registered, "secret"));
    let delivered = text(&client.send(&alice, "bob", "first").ok(), "envelope_id");
    receiver.await_requests(1);
    client.open(&bob, &delivered).ok();
    is_failing.store(true, Ordering::SeqCst);
    let named = |client: &Client| {
        let body = json!({"to": "bob", "message": "second", "thread": "order:7"});
        let request = client.post("/v1/channel/send").by(&alice);
        request.header("Idempotency-Key", "once").json(&body).response()
    };
    let pending = text(&named(client).ok(), "envelope_id");
    receiver.await_requests(2);
    // Its delivery waits for a retry, and now for the webhook to be resumed.
    let pause = |paused: bool| json!({"webhook_id": webhook, "paused": paused});
    client.act(&bob, "/v1/webhooks/update", &pause(true)).ok();
    let waiting = text(&client.send(&alice, &carol.key, "third").ok(), "envelope_id");
    let token = client.token_with(&alice, &["send", "read"]);
    client.act(&bob, "/v1/did/policy", &json!({"block": [carol.key]})).ok();
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let badge = text(&client.act(&alice, "/v1/badges/issue", &json!({})).ok(), "badge_id");
    for outcome in ["failed", "succeeded"] {
        let logged = format!("attempts WHERE outcome = '{outcome}'");
        wait_until("the attempt is logged", || database.count(&logged) > 0);
    }
    let people = [(&alice, None), (&bob, Some(&*webhook)), (&carol, None)];
    let before = people.map(|(identity, webhook)| seen(client, identity, webhook));
    let records = public_records(client, &database, &badge);
    server.stop();

    let source = fs::read(database.file()).unwrap();
    let target = moved(&database);
    assert!(fs::read(database.file()).unwrap() == source, "the source was written");

    let server = target.serve();
    let after = people.map(|(identity, webhook)| seen(&server, identity, webhook));
    for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
        assert_eq!(before, after);
    }
    // The pending delivery goes on under its id and with its secret.
    is_failing.store(false, Ordering::SeqCst);
    let count = receiver.requests().len();
    server.act(&bob, "/v1/webhooks/update", &pause(false)).ok();
    let requests = receiver.await_requests(count + 1);
    let last = requests.last().unwrap();
    last.verify(&secret);
    assert_eq!(last.id(), pending);
    assert_eq!(server.open(&bob, &pending).ok()["thread"], "order:7");
    assert_eq!(server.open(&bob, &delivered).ok()["message"], "first");
    let again = named(&server);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(text(&again.ok(), "envelope_id"), pending);
    // The waiting envelope goes to the first webhook of its recipient.
    let late = Receiver::start();
    server.register(&carol, &late.url);
    assert_eq!(late.await_requests(1)[0].id(), waiting);
    let by_token = server.post("/v1/channel/send").token(&token);
    by_token.json(&json!({"to": "bob", "message": "by token"})).response().ok();
    server.send(&carol, "bob", "x").refused(403, "RECIPIENT_REFUSES");
    let login = server.log_in(&bob);
    assert_eq!(login.ok()["account_id"], bob.account);
    assert_eq!(public_records(&server, &target, &badge), records);
    server.stop();
    // The source stays usable.
    database.serve().stop();
}

#[test]
fn a_killed_move_leaves_the_target_empty_and_the_next_one_works() {
    let database = Database::embedded();
    database.serve().stop();
    // Enough rows that a move takes much longer than the start of a process.
    database.by_hand(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO envelopes (id, sender, recipient, suite, signature, payload_size_bytes, created_at, sealed)
         SELECT printf('env_%026d', i), 'ak_sender', 'ak_recipient', 1, randomblob(64), 1000, i,
             randomblob(1100) FROM n",
    );
    let url = sealpost_testkit::postgres().create_database();
    let target = database.moved_to(Some(url.clone()));
    let source = fs::read(database.file()).unwrap();
    let tables = "pg_class WHERE relnamespace = current_schema()::regnamespace";
    let others = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND backend_type = 'client backend'";
    let (mut killed, mut pause) = (0, Duration::from_millis(20));
    loop {
        let mut process = Process::start(command(&database, &url));
        thread::sleep(pause);
        if let Some(status) = process.child().try_wait().unwrap() {
            assert!(status.success(), "{}", process.stderr());
            break;
        }
        process.kill();
        killed += 1;
        wait_until("the server ends the connection", || target.count(others) == 0);
        assert_eq!(target.count(tables), 0);
        pause = pause * 3 / 2;
    }
    assert!(killed >= 3, "{killed}");
    assert_eq!(target.count("envelopes"), 20_000);
    assert!(fs::read(database.file()).unwrap() == source, "the source was written");
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let database = Database::embedded();
    let server = database.serve();
    server.new_identity();
    let url = sealpost_testkit::postgres().create_database();
    let refused = |arguments: &[&str], status: i32, advice: &str| {
        let mut command = command(&database, &url);
        command.args(arguments);
        let ended = run(command);
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(status), 1), "{ended:?}");
        assert!(ended.stderr.contains(advice), "{}", ended.stderr);
    };
    refused(&[], 1, "a server is running on");
    server.stop();

    let folder = tempfile::tempdir().unwrap();
    let wrong = private_file(&run(binary(&["kek", "new"])).stdout);
    refused(&["--kek-file", wrong.path().to_str().unwrap()], 1, "does not match this database");
    let missing = folder.path().join("none").display().to_string();
    refused(&["--kek-file", &missing], 1, "is missing");

    let target = database.moved_to(Some(url.clone()));
    target.by_hand("CREATE TABLE notes (id BIGINT)");
    refused(&[], 1, "it has the table notes");
    target.by_hand("DROP TABLE notes");

    for (from, to, status, advice) in [
        ("sqlite:/nowhere/sealpost.db", &*url, 1, "does not exist"),
        (&*url, &*url, 2, "--from must be an embedded database"),
        ("sqlite:/tmp/x", "sqlite:/tmp/y", 2, "--to must be a PostgreSQL database"),
        ("nonsense", &*url, 2, "postgres://"),
    ] {
        let ended = run(binary(&["move", "--from", from, "--to", to]));
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(status), 1), "{ended:?}");
        assert!(ended.stderr.contains(advice), "{}", ended.stderr);
    }
    // Nothing of the refused moves is left.
    let moved = run(command(&database, &url));
    assert_eq!(moved.status, Some(0), "{moved:?}");
    refused(&[], 1, "the target is not empty");
}
