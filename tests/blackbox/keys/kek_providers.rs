//! Tests of key providers: keys that a command has wrapped, and moves between a key file and providers.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, time::Duration};

use serde_json::json;

use super::withdrawn_keys::{WAITING, free_addresses, has_served};
use crate::support::{
    Client, Database, Identity, Pairs, Process, Receiver, SOON, Server, binary, on_both,
    on_embedded, run, text, wait_until,
};

on_both!(servers_with_a_provider_share_no_key_file, a_move_between_providers_fails_no_send,);
on_embedded!(
    a_provider_that_refuses_prevents_the_start,
    a_backup_contains_the_wrapped_keys,
    any_two_of_three_shares_start_a_server_and_one_does_not,
);

fn servers_with_a_provider_share_no_key_file(database: &Database) {
    let provider = Provider::new(database, "one");
    let database = database.with_provider(Some(&provider.name));
    let servers = database.serve_on_every_node();
    let alice = servers[0].new_identity();
    let letter = send_and_open(&servers[0], &alice);
    assert!(!database.kek_file().exists() || database.postgres_url().is_some());
    assert_eq!(database.count("kek_versions"), 1);

    let done = database.operate(&["kek", "rotate"]);
    assert_eq!(done["version"], 2);
    assert_eq!(database.count("kek_versions"), 2);
    for server in &servers {
        assert_eq!(server.open(&alice, &letter).ok()["message"], MESSAGE);
        send_and_open(server, &server.new_identity());
    }
    assert_eq!(database.operate(&["kek", "retire", "1"]), json!({"retired": 1, "newest": 2}));
    assert_eq!(database.count("kek_versions"), 1);
    servers.into_iter().for_each(Server::stop);
    let server = database.serve();
    assert_eq!(server.open(&alice, &letter).ok()["message"], MESSAGE);
    let mut doctor = binary(&["doctor", "--data-dir", &database.data()]);
    doctor.args(["--kek-provider", &provider.name]);
    doctor.args(database.postgres_url().map(|url| ["--database-url", url]).into_iter().flatten());
    let report = run(doctor).stdout;
    assert!(report.contains("versions [2] match the database"), "{report}");
    server.stop();
}

fn a_provider_that_refuses_prevents_the_start(database: &Database) {
    let provider = Provider::new(database, "one");
    let own = database.with_provider(Some(&provider.name));
    fs::write(&provider.refusal, "").unwrap();
    let refused = run(own.command(&["--dev"]));
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("the key provider refuses"), "{}", refused.stderr);
    fs::remove_file(&provider.refusal).unwrap();
    let server = own.serve();
    let alice = server.new_identity();
    let letter = send_and_open(&server, &alice);
    server.stop();

    // Another provider, and a key file, do not replace the provider.
    let other = Provider::new(database, "other");
    let refused = run(database.with_provider(Some(&other.name)).command(&["--dev"]));
    assert!(refused.stderr.contains("sealpost admin kek move"), "{}", refused.stderr);
    let refused = run(database.command(&["--dev"]));
    assert_ne!(refused.status, Some(0));
    let server = own.serve();
    assert_eq!(server.open(&alice, &letter).ok()["message"], MESSAGE);
    server.stop();
}

fn a_move_between_providers_fails_no_send(database: &Database) {
    let servers = database.serve_on_every_node();
    let client = servers[0].client();
    let receiver = Receiver::start();
    let pairs = Pairs::activate(client, &receiver);
    // Two messages a second for each key, so that the load leaves the test enough time.
    database.by_hand(
        "UPDATE api_keys SET plan = 'enterprise', enterprise_per_minute = 10000, \
         enterprise_per_day = 10000, enterprise_per_month = 10000, enterprise_per_second = 2, \
         enterprise_allow_overage = FALSE",
    );
    let (one, two) = (Provider::new(database, "one"), Provider::new(database, "two"));
    let at_one = database.with_provider(Some(&one.name));
    let at_two = database.with_provider(Some(&two.name));
    pairs.send_during(client, || {
        let copied = database.operate(&["kek", "move", "--to", &one.name]);
        assert_eq!((&copied["to"], &copied["versions"]), (&json!(one.name), &json!([1])));
        let again = at_one.operate_refused(1, &["kek", "move", "--to", &one.name]);
        assert!(again.contains("already"), "{again}");
        let rotation = database.operate_refused(1, &["kek", "rotate"]);
        assert!(rotation.contains("--finish"), "{rotation}");
        database.operate(&["kek", "move", "--to", &one.name, "--finish"]);
        at_one.operate(&["kek", "move", "--to", &two.name]);
        assert_eq!(database.count("kek_versions"), 2);
        let finished = at_one.operate(&["kek", "move", "--to", &two.name, "--finish"]);
        assert_eq!(finished["deleted"], 1);
    });
    pairs.check(client, &receiver, Duration::from_mins(1));
    // A server can be restarted with the new setting while the other one serves.
    let mut servers = servers;
    let last = servers.pop().unwrap();
    servers.into_iter().for_each(Server::stop);
    let moved = if database.postgres_url().is_some() {
        let moved = at_two.serve();
        pairs.send_during(moved.client(), || last.stop());
        moved
    } else {
        last.stop();
        at_two.serve()
    };
    fs::remove_file(database.kek_file()).unwrap();
    pairs.send_during(moved.client(), || {
        assert_eq!(at_two.operate(&["kek", "rotate"])["version"], 2);
    });
    // Back into a new key file.
    let file = database.folder().join("back");
    let arguments = ["kek", "move", "--to", "file", "--kek-file", &file.display().to_string()];
    at_two.operate(&arguments);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    at_two.operate(&[&arguments[..], &["--finish"]].concat());
    assert_eq!(database.count("kek_versions"), 0);
    moved.stop();
    fs::rename(&file, database.kek_file()).unwrap();
    let server = database.serve();
    pairs.send_during(&server, || ());
    pairs.check(&server, &receiver, Duration::from_mins(1));
    assert_eq!(database.operate(&["audit", "verify"])["verdict"], "whole");
    server.stop();
}

fn a_backup_contains_the_wrapped_keys(database: &Database) {
    let provider = Provider::new(database, "one");
    let own = database.with_provider(Some(&provider.name));
    let server = own.serve();
    let alice = server.new_identity();
    let letter = send_and_open(&server, &alice);
    let file = database.folder().join("backup.db").display().to_string();
    let data = ["--data-dir", &database.data()];
    let mut backup = binary(&["backup", &file]);
    backup.args(data);
    assert_eq!(run(backup).status, Some(0));
    server.stop();
    let restore = |more: &[&str]| {
        let mut restore = binary(&["restore", &file]);
        restore.args(data).args(more);
        run(restore)
    };
    let without = restore(&[]);
    assert_eq!(without.status, Some(1), "{without:?}");
    let restored = restore(&["--kek-provider", &provider.name]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    let server = own.serve();
    let alice = server.new_session(&alice);
    assert_eq!(server.open(&alice, &letter).ok()["message"], MESSAGE);
    server.stop();
}

fn any_two_of_three_shares_start_a_server_and_one_does_not(database: &Database) {
    let printed = run(binary(&["kek", "shares", "--threshold", "2", "--of", "3"])).stdout;
    let [provider, shares @ ..] = &printed.lines().collect::<Vec<_>>()[..] else {
        panic!("{printed}");
    };
    assert_eq!(shares.len(), 3);
    let database = database.with_provider(Some(provider));
    let start = |given: &[&str]| {
        let [api, ops] = free_addresses();
        let mut process = Process::start(database.command_at([&api, &ops], &["--dev"]));
        wait_until("the server waits", || process.stderr().contains(WAITING));
        let client = Client::new(&format!("http://{api}"));
        let operations = Client::new(&format!("http://{ops}"));
        let mistyped = shares[0].replace("ks_", "ks_0");
        let give =
            |share: &str| operations.post("/kek/shares").body("text/plain", share.as_bytes());
        assert_eq!(give(&mistyped).response().status, 400);
        let of_page = give(shares[0]).header("Origin", "https://page.example").response();
        assert_eq!(of_page.status, 403);
        for (index, share) in given.iter().enumerate() {
            client.activate(&json!({"label": "early"})).refused(503, "SERVICE_UNAVAILABLE");
            let response = give(share).response();
            let expected = format!("{} of 2 shares\n", index + 1);
            assert_eq!(String::from_utf8(response.body).unwrap(), expected);
        }
        if given.len() < 2 {
            process.terminate();
            assert_eq!(process.ended(SOON), Some(0));
            assert!(!process.stderr().contains(" serving "));
            return (client, None);
        }
        wait_until("the server serves", || has_served(&process.stderr()));
        (client, Some(process))
    };
    let stop = |process: Option<Process>| {
        let mut process = process.unwrap();
        process.terminate();
        assert_eq!(process.ended(SOON), Some(0));
    };
    let (client, process) = start(&[shares[0], shares[1]]);
    let alice = client.new_identity();
    let sent = text(&client.send(&alice, &alice.key, MESSAGE).ok(), "envelope_id");
    // A command gets the shares on standard input.
    let file = database.folder().join("input");
    fs::write(&file, format!("{}\n{}\n", shares[2], shares[0])).unwrap();
    let mut rotate = database.admin_command(&["kek", "rotate"]);
    rotate.stdin(fs::File::open(&file).unwrap());
    let rotated = rotate.output().unwrap();
    assert!(rotated.status.success(), "{}", String::from_utf8_lossy(&rotated.stderr));
    stop(process);
    let (_, none) = start(&[shares[2]]);
    assert!(none.is_none());
    let (client, process) = start(&[shares[2], shares[1]]);
    assert_eq!(client.open(&alice, &sent).ok()["message"], MESSAGE);
    stop(process);
}

/// A command that wraps keys with a key of its own.
pub(super) struct Provider {
    pub(super) name: String,
    /// The command refuses while this file exists.
    pub(super) refusal: PathBuf,
    /// The command fails while this file exists.
    pub(super) outage: PathBuf,
}

impl Provider {
    pub(super) fn new(database: &Database, name: &str) -> Self {
        let folder = database.folder();
        let (script, refusal) = (folder.join(name), folder.join(format!("{name}.refuses")));
        let outage = folder.join(format!("{name}.fails"));
        fs::write(&script, SCRIPT).unwrap();
        fs::write(folder.join(format!("{name}.key")), name).unwrap();
        // Executed by a shell, because another thread's child may still have the new file open for writing.
        Self { name: format!("exec:/bin/sh {}", script.display()), refusal, outage }
    }
}

pub(super) fn send_and_open(server: &Server, identity: &Identity) -> String {
    let sent = server.send(identity, &identity.key, MESSAGE).ok();
    let id = text(&sent, "envelope_id");
    assert_eq!(server.open(identity, &id).ok()["message"], MESSAGE);
    id
}

const SCRIPT: &str = r#"
test -e "$0.refuses" && exit 77
test -e "$0.fails" && exit 1
cipher() { openssl enc -aes-256-ctr -pbkdf2 -pass "file:$0.key" "$@"; }
case $1 in
wrap) base64 -d | cipher | base64 -w 0 ;;
unwrap) base64 -d | cipher -d | base64 -w 0 ;;
esac
"#;
pub(super) const MESSAGE: &str = "still here";
