//! Tests of servers whose key provider withdraws the keys while they run: the secrets leave the memory, and come back
//! when the provider allows it.

use std::{
    fs,
    io::Write as _,
    net::TcpListener,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::kek_providers::{Provider, send_and_open};
use crate::support::{
    Client, Database, Identity, Process, SOON, Server, ask_python, binary, eventually, on_embedded,
    run, wait_until,
};

on_embedded!(
    a_refusal_empties_the_memory_until_the_provider_allows_the_keys_again,
    an_unreachable_provider_is_tolerated_for_the_grace_period,
);

fn a_refusal_empties_the_memory_until_the_provider_allows_the_keys_again(database: &Database) {
    let provider = Provider::new(database, "one");
    let database = database.with_provider(Some(&provider.name));
    let server = serve(&database, &["--kek-recheck", "1s", "--suite", "channel"]);
    let alice = server.new_identity();
    let letter = send_and_open(&server, &alice);
    let search = Search::new(&database, &provider, &alice);
    // The search finds the secrets of a server that works. Without root, there is no search.
    let before = search.counts(&server);
    for (name, count) in before.as_object().into_iter().flatten() {
        assert!(count.as_u64().unwrap() > 0, "{name}");
    }
    fs::write(&provider.refusal, "").unwrap();
    eventually("the server waits", Duration::from_secs(12), || is_waiting(&server).then_some(()));
    if !before.is_null() {
        assert_eq!(search.counts(&server), json!({"kek": 0, "root": 0, "issuer": 0}));
    }
    let client = Client::new(&server.url);
    let secret = alice.login_secret.clone().unwrap();
    client.send(&alice, &alice.key, "x").refused(503, "SERVICE_UNAVAILABLE");
    client.open(&alice, &letter).refused(503, "SERVICE_UNAVAILABLE");
    client.login(&alice.account, &secret).refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!((server.health("/readyz"), server.health("/livez")), (503, 200));

    fs::remove_file(&provider.refusal).unwrap();
    wait_until("the server serves again", || serves_again(&server));
    let client = Client::new(&server.url);
    assert_eq!(client.open(&alice, &letter).status, 200);
    client.send(&alice, &alice.key, "x").ok();
    client.login(&alice.account, &secret).ok();
    assert_eq!(server.health("/readyz"), 200);
    server.stop();
}

fn an_unreachable_provider_is_tolerated_for_the_grace_period(database: &Database) {
    let provider = Provider::new(database, "one");
    let database = database.with_provider(Some(&provider.name));
    let patient = serve(&database, &["--kek-recheck", "1s"]);
    let alice = patient.new_identity();
    fs::write(&provider.outage, "").unwrap();
    wait_until("the server notices", || {
        patient.log().contains("the keys stay in use for the grace period")
    });
    send_and_open(&patient, &alice);
    patient.stop();

    // A start fails during the outage, or waits for its end.
    let failed = run(database.command(&["--dev"]));
    assert_eq!(failed.status, Some(1));
    assert!(failed.stderr.contains("the key provider cannot be used"), "{}", failed.stderr);
    let mut waiting = Process::start(database.command(&["--dev", "--kek-wait"]));
    wait_until("the server waits", || waiting.stderr().contains(WAITING));
    waiting.terminate();
    assert_eq!(waiting.ended(SOON), Some(0));
    fs::remove_file(&provider.outage).unwrap();

    let server = serve(&database, &["--kek-recheck", "1s", "--kek-grace", "2s"]);
    fs::write(&provider.outage, "").unwrap();
    wait_until("the grace period ends", || is_waiting(&server));
    let address = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let [api, ops] = [&*server.url, &*server.ops_url].map(address);
    let data = database.data();
    let doctor =
        run(binary(&["doctor", "--data-dir", &data, "--listen", &api, "--ops-listen", &ops]));
    let running = "used by a running Sealpost server";
    assert_eq!(doctor.stdout.matches(running).count(), 2, "{}", doctor.stdout);
    fs::remove_file(&provider.outage).unwrap();
    wait_until("the server serves again", || serves_again(&server));
    Client::new(&server.url).send(&alice, &alice.key, "x").ok();
    server.stop();
}

/// Starts a server at addresses that it can bind again.
fn serve(database: &Database, more: &[&str]) -> Server {
    let [api, ops] = free_addresses();
    Server::start(database.command_at([&api, &ops], &[&["--dev"], more].concat()))
}

pub(super) fn free_addresses() -> [String; 2] {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap();
    [free(), free()].map(|socket| socket.local_addr().unwrap().to_string())
}

fn is_waiting(server: &Server) -> bool {
    server.log().contains(WAITING)
}

fn serves_again(server: &Server) -> bool {
    has_served(&server.log())
}

/// Returns whether the log says that the server has served since it waited last.
pub(super) fn has_served(log: &str) -> bool {
    log.rsplit_once(WAITING).is_some_and(|(_, later)| later.contains(" serving "))
}

/// A line of the log of a server that waits for its key provider.
pub(super) const WAITING: &str = "waiting for the key provider";

/// The secrets to search for in the memory of a server.
struct Search(Vec<String>);

impl Search {
    fn new(database: &Database, provider: &Provider, identity: &Identity) -> Self {
        let of_key = format!("api_keys WHERE id = '{}'", identity.key);
        let kek = provider.unwrap(&database.hex("wrapped", "kek_versions"));
        let issuer = database.text("id", "issuer_keys");
        let root = database.hex("root", &of_key);
        let secret = database.hex("secret", "issuer_keys");
        Self(vec![kek, identity.key.clone(), identity.account.clone(), root, issuer, secret])
    }

    /// Counts the secrets in the memory of a server. Returns null without the right to read the memory.
    fn counts(&self, server: &Server) -> Value {
        let process = server.id().to_string();
        ask_python("memory.py", [&process].into_iter().chain(&self.0))
    }
}

impl Provider {
    /// Unwraps a key, given in hexadecimal digits. Returns its base64.
    fn unwrap(&self, wrapped: &str) -> String {
        let words: Vec<_> = self.name.strip_prefix("exec:").unwrap().split(' ').collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("unwrap").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let digits = wrapped.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        let bytes: Vec<_> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
        let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        child.stdin.take().unwrap().write_all(base64.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }
}
