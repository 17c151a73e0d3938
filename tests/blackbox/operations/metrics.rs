//! Tests that the metrics on the operations address match the traffic, and that labels have a bounded number of values.

use std::{collections::BTreeSet, thread};

use sealpost_domain::ports::Durability;
use sealpost_storage::{DatabaseUrl, Settings};
use sealpost_wallet::LoginSecret;
use serde_json::json;

use crate::support::{
    Authority, Database, Identity, Reaction, Receiver, SOON, Server, eventually, on_both,
    on_embedded, text, until_limited, value_of, wait_until, within_one_minute,
};

on_both!(metrics_match_the_traffic);
on_embedded!(
    no_label_contains_caller_input,
    every_metric_of_the_operating_page_exists_after_traffic,
);

#[test]
fn envelopes_over_the_batch_limit_are_stored_in_several_commits() {
    let database = Database::embedded();
    let server = database.serve_with(&["--batch-bytes", "1"]);
    let alice = server.new_identity();
    server.send(&alice, &alice.key, "everything is in memory now").ok();
    let commits = || server.metric("sealpost_commit_batch_size_count");
    let waiting = || server.metric("sealpost_commit_queue_bytes");
    wait_until("the queue is empty", || waiting() == 0);
    let (before, sends) = (commits(), 4);
    let url = DatabaseUrl::Sqlite(database.file());
    let lock = sealpost_storage::Database::open(&url, Settings::default()).unwrap();
    let transaction = lock.begin(Durability::Durable).unwrap();
    thread::scope(|scope| {
        let send = || server.send(&alice, &alice.key, MESSAGE).ok();
        scope.spawn(send);
        let one = eventually("one send waits", SOON, || Some(waiting()).filter(|bytes| *bytes > 0));
        for _ in 1..sends {
            scope.spawn(send);
        }
        wait_until("all sends wait", || waiting() == sends * one);
        drop(transaction);
    });
    assert_eq!(commits() - before, sends);
}

/// Creates traffic of all usual kinds: sends, a repeated request, rejections, a reached rate limit, and deliveries that
/// succeed, fail, or exhaust their retries.
fn make_traffic(server: &Server, handle: &str) -> Identity {
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 204 } else { 500 }));
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle(handle));
    server.register(&bob, &receiver.url);
    for _ in 0..3 {
        server.send(&alice, handle, MESSAGE).ok();
    }
    for _ in 0..2 {
        let body = json!({"to": bob.key, "message": MESSAGE});
        let request = server.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "once");
        request.json(&body).response().ok();
    }
    server.send(&alice, "nobody", MESSAGE).refused(404, "KEY_NOT_FOUND");
    // One delivery succeeds. Each other delivery has two attempts.
    receiver.await_requests(1 + 3 * 2);
    wait_until("every outcome is counted and stored", || {
        let metrics = server.metrics();
        let given_up =
            value_of(&metrics, "sealpost_deliveries_settled_total{outcome=\"exhausted\"}");
        given_up == 3 && value_of(&metrics, "sealpost_deliveries_held") == 0
    });
    alice
}

fn metrics_match_the_traffic(database: &Database) {
    let mut tries = 0;
    let (metrics, alice, server) = within_one_minute(|| {
        tries += 1;
        let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
        let alice = make_traffic(&server, &format!("bob-{tries}"));
        (server.metrics(), alice, server)
    });
    let is =
        |series: &str, expected: u64| assert_eq!(value_of(&metrics, series), expected, "{series}");
    let sends = |status: u16| {
        format!(
            "sealpost_http_requests_total{{method=\"POST\",route=\"/v1/channel/send\",status=\"{status}\"}}"
        )
    };
    is(&sends(200), 5);
    is(&sends(404), 1);
    is("sealpost_http_request_duration_seconds_count{route=\"/v1/channel/send\"}", 6);
    is("sealpost_sends_total{outcome=\"stored\"}", 4);
    is("sealpost_sends_total{outcome=\"replayed\"}", 1);
    is("sealpost_refusals_total{code=\"KEY_NOT_FOUND\"}", 1);
    is("sealpost_deliveries_settled_total{outcome=\"succeeded\"}", 1);
    is("sealpost_deliveries_settled_total{outcome=\"retried\"}", 3);
    is("sealpost_delivery_failures_total{reason=\"http_status\"}", 6);
    is("sealpost_delivery_duration_seconds_count", 7);
    // The rejected send was counted in a separate transaction.
    is("sealpost_commit_batch_size_sum", 6);
    is("sealpost_commit_failures_total", 0);
    is("sealpost_commit_queue_depth", 0);
    is("sealpost_deliveries_held", 0);
    is("sealpost_limits_refused_total{limit=\"minute\"}", 0);
    assert!(
        value_of(&metrics, "sealpost_cache_lookups_total{cache=\"sessions\",result=\"hit\"}") > 3
    );
    assert!(value_of(&metrics, "process_resident_memory_bytes") > 1_000_000);
    assert!(value_of(&metrics, "process_open_fds") > 3);

    // More than the minute limit.
    until_limited(|| server.status(&alice));
    assert!(server.metric("sealpost_limits_refused_total{limit=\"minute\"}") >= 1);
}

fn every_metric_of_the_operating_page_exists_after_traffic(database: &Database) {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    authority.issue().write(&chain, &key);
    let mut command = database.command(&["--dev", "--webhook-retry-schedule", "10ms"]);
    command.arg("--tls-cert").arg(&chain).arg("--tls-key").arg(&key);
    command.env("SEALPOST_LOGINS_PER_MINUTE", "10");
    let server = Server::start_secure(command, &authority);
    let alice = make_traffic(&server, "bob");
    let wrong = LoginSecret::generate().unwrap();
    until_limited(|| server.login(&alice.account, wrong.expose()));
    let metrics = server.metrics();
    let there: BTreeSet<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let page = include_str!("../../../docs/operating/monitoring.md");
    let (_, section) = page.split_once("\n## Metrics\n").unwrap();
    let table = section.lines().filter(|line| line.starts_with("| `"));
    let named: BTreeSet<&str> = table
        .flat_map(|line| line.split('|').nth(1).unwrap().split('`'))
        .filter(|word| word.contains('_') && *word != ONLY_WITH_PARTITIONS)
        .collect();
    assert!(named.len() > 20, "{named:?}");
    assert_eq!(there, named);
}

/// A metric that is absent until a change of a database partition is postponed.
const ONLY_WITH_PARTITIONS: &str = "sealpost_partition_changes_postponed_total";

fn no_label_contains_caller_input(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let alice = make_traffic(&server, "bob");
    let count = || server.metrics().lines().count();
    server.get("/nowhere/0");
    server.request("BREW", "/v1/ping").response();
    let before = count();
    for number in 1..20 {
        server.get(&format!("/nowhere/{number}/{}", alice.key));
        server.request(&format!("BREW{number}"), "/v1/ping").response();
    }
    assert_eq!(count(), before);
    let metrics = server.metrics();
    for series in [
        "sealpost_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"}",
        "sealpost_http_requests_total{method=\"other\",route=\"/v1/ping\",status=\"405\"}",
    ] {
        assert_eq!(value_of(&metrics, series), 20, "{series}");
    }
    let secret = text(&server.register(&alice, "http://127.0.0.1:8090/"), "secret");
    for word in [&alice.key, &alice.account, &alice.did, &alice.token, &secret, "bob", "env_"] {
        assert!(!server.metrics().contains(word), "{word}");
    }
}

const MESSAGE: &str = "Meet me at noon.";
