//! Tests of a server with a database that is unreachable, locked, or on a full disk.

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::ports::Durability;
use sealpost_storage::{DatabaseUrl, Settings};
use sealpost_testkit::{Proxy, Server as Postgres};
use sealpost_wallet::SessionToken;
use serde_json::json;

use crate::support::{
    Client, Database, Identity, Receiver, Response, SOON, Server, binary, eventually, run, text,
    wait_until, within,
};

#[test]
fn a_server_survives_an_outage_of_its_database() {
    let postgres = OwnPostgres::start();
    let database = Database::at(postgres.server.create_database());
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.register(&bob, &receiver.url);
    let before = server.send(&alice, &bob.key, "before").ok();
    receiver.await_requests(1);
    assert_eq!((server.health("/livez"), server.health("/readyz")), (200, 200));

    let unknown = SessionToken::generate().unwrap();
    postgres.stop();
    let away = || -> Vec<Response> {
        let login_secret = alice.secret();
        vec![
            server.send(&alice, &bob.key, "away"),
            server.open(&bob, &text(&before, "envelope_id")),
            server.status(&alice),
            server.activate(&json!({"label": "a"})),
            server.login(&alice.account, login_secret),
            server.manage(&bob, &json!({"action": "list"})),
            // The check of the session precedes rejections without a transaction.
            malformed(&server, &alice.token),
            server.post("/v1/channel/send").token(unknown.expose()).key(&alice.key).response(),
        ]
    };
    let began = Instant::now();
    for response in away() {
        response.refused(503, "SERVICE_UNAVAILABLE");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?} for eight responses", began.elapsed());
    assert_eq!((server.health("/livez"), server.health("/readyz")), (200, 503));
    let (_, reason) = server.readiness();
    assert!(reason.starts_with("the database failed: "), "{reason}");
    server.get("/v1/ping").ok();

    postgres.start_again();
    wait_until("the server is ready again", || server.health("/readyz") == 200);
    malformed(&server, &alice.token).refused(400, "INVALID_JSON");
    let after = server.send(&alice, &bob.key, "after").ok();
    for (sent, message) in [(&before, "before"), (&after, "after")] {
        assert_eq!(server.open(&bob, &text(sent, "envelope_id")).ok()["message"], message);
    }
    let webhook_requests = receiver.await_requests(2);
    assert_eq!(
        webhook_requests[1].id(),
        text(&after, "envelope_id"),
        "a rejected send causes no delivery"
    );
    assert_eq!(server.status(&alice).ok()["usage"]["month"]["used"], 2);
}

/// A false "not stored" would make the client send again, and the recipient would get the message twice.
#[test]
fn a_lost_commit_result_is_not_reported_as_not_stored() {
    let postgres = Postgres::start(sealpost_testkit::FsyncMode::Off).unwrap();
    let proxy = Proxy::before(&postgres.create_database()).unwrap();
    let database = Database::at(proxy.url().to_owned());
    let server = database.serve();
    let alice = server.new_identity();
    let named = || {
        let request = server.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "once");
        request.json(&json!({"to": alice.key, "message": "x"})).response()
    };
    proxy.drop_commit_responses(true);
    named().refused(500, "INTERNAL_ERROR");
    server.send(&alice, &alice.key, "y").refused(500, "INTERNAL_ERROR");
    server.status(&alice).refused(500, "INTERNAL_ERROR");
    proxy.drop_commit_responses(false);
    let usage = &server.status(&alice).ok()["usage"];
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(4), &json!(2)));
    let again = named();
    again.ok();
    assert_eq!(again.header("Idempotency-Replayed"), Some("true"));
    server.stop();
}

/// Sends a request with malformed JSON and without an API key.
fn malformed(client: &Client, token: &str) -> Response {
    client.post("/v1/channel/send").token(token).body("application/json", b"{").response()
}

#[test]
fn a_queue_at_its_count_limit_rejects_immediately_without_storing() {
    check_full_queue(&["--queue", "1", "--batch", "1"]);
}

#[test]
fn a_queue_at_its_byte_limit_rejects_immediately_without_storing() {
    check_full_queue(&["--queue-bytes", "1"]);
}

fn check_full_queue(settings: &[&str]) {
    let database = Database::embedded();
    let server = database.serve_with(settings);
    let (client, receiver) = (server.client(), Receiver::start());
    let alice = client.new_identity();
    client.register(&alice, &receiver.url);
    client.send(&alice, &alice.key, "all caches are warm now").ok();
    let lock = sealpost_storage::Database::open(
        &DatabaseUrl::Sqlite(database.file()),
        Settings::default(),
    );
    let lock = lock.unwrap();
    let transaction = lock.begin(Durability::Durable).unwrap();

    let (responses, taken) = (channel(), 6);
    thread::scope(|scope| {
        for _ in 0..taken {
            let (responses, alice) = (responses.0.clone(), &alice);
            scope.spawn(move || responses.send(client.send(alice, &alice.key, "x")).unwrap());
        }
        // One send is in the commit and one waits. If the first is still in the queue, only one is accepted.
        let began = Instant::now();
        for _ in 0..taken - 2 {
            let response = responses.1.recv_timeout(SOON).unwrap();
            response.refused(503, "SERVICE_UNAVAILABLE");
        }
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        drop(transaction);
    });
    let mut stored = 1;
    for response in responses.1.try_iter() {
        match response.status {
            200 => stored += 1,
            _ => drop(response.refused(503, "SERVICE_UNAVAILABLE")),
        }
    }
    assert_eq!(client.status(&alice).ok()["usage"]["month"]["used"], stored);
    assert!(stored > 1, "waiting sends succeed after the lock is released");
    let marker = client.send(&alice, &alice.key, "the last").ok();
    let count = usize::try_from(stored).unwrap() + 1;
    let webhook_requests = receiver.await_requests(count);
    assert_eq!(webhook_requests.len(), count);
    assert!(
        webhook_requests
            .iter()
            .any(|webhook_request| webhook_request.id() == text(&marker, "envelope_id"))
    );
}

#[test]
fn sends_are_stored_while_other_requests_use_every_connection_they_can() {
    let database = Database::postgres();
    let server = database.serve_with(&["--database-pool=3"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.send(&alice, &alice.key, "all caches are warm now").ok();
    let url: DatabaseUrl = database.url().parse().unwrap();
    let lock = sealpost_storage::Database::open(&url, Settings::default()).unwrap();
    let mut transaction = lock.begin(Durability::Durable).unwrap();
    assert!(transaction.lock_account(&bob.account.parse().unwrap()).unwrap());
    thread::scope(|scope| {
        // Each waits for the lock of the account, on a connection.
        for _ in 0..4 {
            scope.spawn(|| {
                let joining = server.post("/v1/did/activate").token(&bob.token);
                joining.json(&json!({"label": "a"})).response()
            });
        }
        let busy = "sealpost_database_pool_connections{pool=\"all\",state=\"busy\"}";
        wait_until("no connection is left", || server.metric(busy) == 2);
        server.send(&alice, &alice.key, "x").ok();
        drop(transaction);
    });
}

#[test]
fn requests_on_a_locked_database_end_in_bounded_time() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    server.send(&alice, &alice.key, "x").ok();
    let lock = sealpost_storage::Database::open(
        &DatabaseUrl::Sqlite(database.file()),
        Settings::default(),
    );
    let lock = lock.unwrap();
    let transaction = lock.begin(Durability::Durable).unwrap();
    let began = Instant::now();
    thread::scope(|scope| {
        let send = || server.send(&alice, &alice.key, "x");
        let threads = [scope.spawn(send), scope.spawn(|| server.status(&alice))];
        for thread in threads {
            thread.join().unwrap().refused(503, "SERVICE_UNAVAILABLE");
        }
    });
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    drop(transaction);
    server.send(&alice, &alice.key, "x").ok();
    assert_eq!(server.status(&alice).ok()["usage"]["month"]["used"], 2);
}

#[test]
fn a_full_disk_causes_no_false_acknowledgement() {
    let database = Database::embedded();
    let server = Server::start(within(TWO_MIB, &database.command(&["--dev"])));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let message = "m".repeat(150_000);
    let mut acknowledged = Vec::new();
    let mut failures = 0;
    // Fewer than twenty, so that the rate limit is not reached.
    for _ in 0..18 {
        let response =
            eventually("the limit of ten messages a second admits the send", SOON, || {
                Some(server.send(&alice, &bob.key, &message))
                    .filter(|response| response.status != 429)
            });
        if response.status == 200 {
            acknowledged.push(text(&response.ok(), "envelope_id"));
        } else {
            response.refused(503, "SERVICE_UNAVAILABLE");
            failures += 1;
        }
    }
    assert!(failures > 0 && !acknowledged.is_empty(), "{failures} of 18 failed");
    server.get("/v1/ping").ok();
    server.kill();
    check_all_open(&database.serve(), &bob, &acknowledged, &message);
}

#[test]
fn a_file_size_limit_ends_no_command() {
    let database = Database::embedded();
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for _ in 0..9 {
        server.send(&alice, &bob.key, &"m".repeat(200_000)).ok();
    }
    let folder = tempfile::tempdir().unwrap();
    let (copy, data) = (folder.path().join("copy"), folder.path().join("data"));
    let backup = database.backup_to(&copy);
    let mut restore = binary(&["restore", "--without-keys", "--data-dir"]);
    restore.arg(&data).arg(&copy);
    let refused = |command: &Command| {
        let ended = run(within("ulimit -f 1024", command));
        assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1), "{ended:?}");
    };
    refused(&backup);
    assert!(!copy.exists());
    assert_eq!(run(backup).status, Some(0));
    refused(&restore);
    assert_eq!(run(restore).status, Some(0));
}

fn check_all_open(server: &Server, identity: &Identity, envelopes: &[String], message: &str) {
    let client: &Client = server.client();
    for envelope in envelopes {
        assert!(client.open(identity, envelope).ok()["message"] == message);
    }
    let sent = client.send(identity, &identity.key, message).ok();
    client.open(identity, &text(&sent, "envelope_id")).ok();
}

/// A file size limit of 2 MiB. A larger write fails as on a full disk.
const TWO_MIB: &str = "ulimit -f 4096";

/// A PostgreSQL server that only this test case uses, and can stop and start.
struct OwnPostgres {
    server: Postgres,
    folder: PathBuf,
}

impl OwnPostgres {
    fn start() -> Self {
        let server = Postgres::start(sealpost_testkit::FsyncMode::Off).unwrap();
        let url = server.create_database();
        let folder = url.split("host=").nth(1).unwrap().split('&').next().unwrap().into();
        Self { server, folder }
    }

    /// Stops the server like a crash.
    fn stop(&self) {
        self.control(&["stop", "--mode=immediate"]);
    }

    fn start_again(&self) {
        let folder = self.folder.display();
        self.control(&[
            "start",
            &format!("--options=-k {folder} -c listen_addresses='' -c fsync=off"),
        ]);
    }

    /// Runs `pg_ctl` as the owner of the data folder, because PostgreSQL refuses to run as root.
    fn control(&self, arguments: &[&str]) {
        let owner = fs::metadata(self.folder.join("data")).unwrap();
        let mut control = Command::new(programs().join("pg_ctl"));
        control.args(["--wait", "--silent", "--log"]).arg(self.folder.join("log"));
        control.arg("--pgdata").arg(self.folder.join("data")).args(arguments);
        control.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null());
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            control.uid(owner.uid()).gid(owner.gid());
        }
        assert!(control.status().unwrap().success());
    }
}

/// Returns the folder with the programs of the newest installed PostgreSQL version.
fn programs() -> PathBuf {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir("/usr/lib/postgresql").unwrap().map(|entry| entry.unwrap().path());
    versions.max_by_key(|path| version(path)).unwrap().join("bin")
}
