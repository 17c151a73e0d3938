//! What a server does while its database is away, locked, or on a disk that is full.

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::ports::{Durability, Store as _};
use sealpost_storage::{DatabaseUrl, Settings};
use sealpost_testkit::{Proxy, Server as Postgres};
use sealpost_wallet::SessionToken;
use serde_json::json;

use crate::support::{
    Answer, Client, Database, Identity, Receiver, SOON, Server, eventually, text,
};

#[test]
fn a_server_outlives_its_database() {
    let postgres = OwnPostgres::start();
    let database = Database::at(postgres.server.create_database());
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &receiver.url);
    let before = client.send(&alice, &bob.key, "before").ok();
    receiver.await_notices(1);
    assert_eq!((server.health("/livez"), server.health("/readyz")), (200, 200));

    let unknown = SessionToken::generate().unwrap();
    postgres.stop();
    let away = || -> Vec<Answer> {
        let login_secret = alice.login_secret.as_ref().unwrap();
        vec![
            client.send(&alice, &bob.key, "away"),
            client.open(&bob, &text(&before, "envelope_id")),
            client.status(&alice),
            client.activate(&json!({"label": "a"})),
            client.login(&alice.account, login_secret),
            client.manage(&bob, &json!({"action": "list"})),
            // What is refused without a transaction has to know the session too.
            malformed(client, &alice.token),
            client.post("/v1/channel/send").token(unknown.expose()).key(&alice.key).answer(),
        ]
    };
    let began = Instant::now();
    for answer in away() {
        answer.refused(503, "SERVICE_UNAVAILABLE");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?} for eight answers", began.elapsed());
    assert_eq!((server.health("/livez"), server.health("/readyz")), (200, 503));
    client.request("GET", "/v1/ping").answer().ok();

    postgres.start_again();
    eventually("it is ready again", SOON, || (server.health("/readyz") == 200).then_some(()));
    malformed(client, &alice.token).refused(400, "INVALID_JSON");
    let after = client.send(&alice, &bob.key, "after").ok();
    for (sent, message) in [(&before, "before"), (&after, "after")] {
        assert_eq!(client.open(&bob, &text(sent, "envelope_id")).ok()["message"], message);
    }
    let notices = receiver.await_notices(2);
    assert_eq!(notices[1].id(), text(&after, "envelope_id"), "what was refused is not told of");
    assert_eq!(client.status(&alice).ok()["usage"]["month"]["used"], 2);
}

/// Whoever is told that nothing was stored sends again, and the recipient gets it twice.
#[test]
fn a_commit_whose_answer_is_lost_is_not_said_to_have_stored_nothing() {
    let postgres = Postgres::start(sealpost_testkit::Durability::None).unwrap();
    let proxy = Proxy::before(&postgres.create_database()).unwrap();
    let database = Database::at(proxy.url().to_owned());
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    let named = || {
        let request = client.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "once");
        request.json(&json!({"to": alice.key, "message": "x"})).answer()
    };
    proxy.lose_answers(true);
    named().refused(500, "INTERNAL_ERROR");
    client.send(&alice, &alice.key, "y").refused(500, "INTERNAL_ERROR");
    client.status(&alice).refused(500, "INTERNAL_ERROR");
    proxy.lose_answers(false);
    let usage = &client.status(&alice).ok()["usage"];
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(4), &json!(2)));
    let again = named();
    again.ok();
    assert_eq!(again.header("Idempotency-Replayed"), Some("true"));
    server.stop();
}

/// A send that names no key, since its body cannot be read.
fn malformed(client: &Client, token: &str) -> Answer {
    client.post("/v1/channel/send").token(token).body("application/json", b"{").answer()
}

#[test]
fn a_queue_that_is_full_by_number_refuses_at_once_and_stores_nothing_of_it() {
    refuses_what_finds_no_room(&["--queue", "1", "--batch", "1"]);
}

#[test]
fn a_queue_that_is_full_by_bytes_refuses_at_once_and_stores_nothing_of_it() {
    refuses_what_finds_no_room(&["--queue-bytes", "1"]);
}

fn refuses_what_finds_no_room(settings: &[&str]) {
    let database = Database::embedded();
    let server = database.serve_with(settings);
    let (client, receiver) = (server.client(), Receiver::start());
    let alice = client.newcomer();
    client.register(&alice, &receiver.url);
    client.send(&alice, &alice.key, "everything is in memory now").ok();
    let lock = sealpost_storage::Database::open(
        &DatabaseUrl::Sqlite(database.file()),
        Settings::default(),
    );
    let lock = lock.unwrap();
    let transaction = lock.begin(Durability::Durable).unwrap();

    let (answers, taken) = (channel(), 6);
    thread::scope(|scope| {
        for _ in 0..taken {
            let (answers, alice) = (answers.0.clone(), &alice);
            scope.spawn(move || answers.send(client.send(alice, &alice.key, "x")).unwrap());
        }
        // One is being stored and one waits; where the one was not taken out of the queue yet, even less.
        let began = Instant::now();
        for _ in 0..taken - 2 {
            let answer = answers.1.recv_timeout(SOON).unwrap();
            answer.refused(503, "SERVICE_UNAVAILABLE");
        }
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        drop(transaction);
    });
    let mut stored = 1;
    for answer in answers.1.try_iter() {
        match answer.status {
            200 => stored += 1,
            _ => drop(answer.refused(503, "SERVICE_UNAVAILABLE")),
        }
    }
    assert_eq!(client.status(&alice).ok()["usage"]["month"]["used"], stored);
    assert!(stored > 1, "whoever waited gets through once the lock is gone");
    let marker = client.send(&alice, &alice.key, "the last").ok();
    let count = usize::try_from(stored).unwrap() + 1;
    let notices = receiver.await_notices(count);
    assert_eq!(notices.len(), count);
    assert!(notices.iter().any(|notice| notice.id() == text(&marker, "envelope_id")));
}

#[test]
fn a_database_that_stays_locked_is_answered_for_in_bounded_time() {
    let database = Database::embedded();
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    client.send(&alice, &alice.key, "x").ok();
    let lock = sealpost_storage::Database::open(
        &DatabaseUrl::Sqlite(database.file()),
        Settings::default(),
    );
    let lock = lock.unwrap();
    let transaction = lock.begin(Durability::Durable).unwrap();
    let began = Instant::now();
    thread::scope(|scope| {
        let send = || client.send(&alice, &alice.key, "x");
        let threads = [scope.spawn(send), scope.spawn(|| client.status(&alice))];
        for thread in threads {
            thread.join().unwrap().refused(503, "SERVICE_UNAVAILABLE");
        }
    });
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    drop(transaction);
    client.send(&alice, &alice.key, "x").ok();
    assert_eq!(client.status(&alice).ok()["usage"]["month"]["used"], 2);
}

#[test]
fn a_full_disk_gives_no_false_word() {
    let database = Database::embedded();
    let server = Server::start(within_file_size(&database.command(&["--dev"])));
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let message = "m".repeat(150_000);
    let mut acknowledged = Vec::new();
    let mut failures = 0;
    // Fewer than twenty, so that no limit comes first.
    for _ in 0..18 {
        let answer = eventually("ten messages a second let it through", SOON, || {
            Some(client.send(&alice, &bob.key, &message)).filter(|answer| answer.status != 429)
        });
        if answer.status == 200 {
            acknowledged.push(text(&answer.ok(), "envelope_id"));
        } else {
            assert!(matches!(answer.status, 500 | 503), "{}", answer.json());
            failures += 1;
        }
    }
    assert!(failures > 0 && !acknowledged.is_empty(), "{failures} of 18 failed");
    client.request("GET", "/v1/ping").answer().ok();
    server.kill();
    check_all_open(&database.serve(), &bob, &acknowledged, &message);
}

fn check_all_open(server: &Server, who: &Identity, envelopes: &[String], message: &str) {
    let client: &Client = server.client();
    for envelope in envelopes {
        assert!(client.open(who, envelope).ok()["message"] == message);
    }
    let sent = client.send(who, &who.key, message).ok();
    client.open(who, &text(&sent, "envelope_id")).ok();
}

/// The command in a shell that lets no file grow over 2 MiB; a write beyond fails as on a full disk.
fn within_file_size(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// A PostgreSQL of this case alone, which can be stopped and started again.
struct OwnPostgres {
    server: Postgres,
    folder: PathBuf,
}

impl OwnPostgres {
    fn start() -> Self {
        let server = Postgres::start(sealpost_testkit::Durability::None).unwrap();
        let url = server.create_database();
        let folder = url.split("host=").nth(1).unwrap().split('&').next().unwrap().into();
        Self { server, folder }
    }

    /// As abruptly as a crash.
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

    /// As the user to whom the data belong, since PostgreSQL does not run as root.
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

/// Where the newest PostgreSQL's programs are.
fn programs() -> PathBuf {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir("/usr/lib/postgresql").unwrap().map(|entry| entry.unwrap().path());
    versions.max_by_key(|path| version(path)).unwrap().join("bin")
}
