//! Tests of deliveries whose outcomes the database refuses to store: the receivers get no repeated requests.

use serde_json::json;

use crate::support::{Database, Reaction, Receiver, on_both, wait_until};

on_both!(
    a_refused_text_of_a_receiver_is_left_out_and_repeats_nothing,
    a_refused_log_of_attempts_repeats_nothing,
    a_refused_text_of_a_failed_attempt_keeps_its_retry,
);

const EVENTS: usize = 12;

/// Short leases, so that an outcome that is not recorded leads to a second request within the test.
const SHORT_LEASE: &[&str] = &["--webhook-timeout=1s", "--webhook-lease=11s"];

fn a_refused_text_of_a_receiver_is_left_out_and_repeats_nothing(database: &Database) {
    let server = database.serve_with(SHORT_LEASE);
    refuse_attempts(database, "excerpt LIKE '%✓%'");
    let receiver = Receiver::reacting(|number| {
        let body = if number % 2 == 0 { "✓" } else { "plain" };
        Reaction::Exactly("200 OK".to_owned(), body.into())
    });
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    for _ in 0..EVENTS {
        server.send(&alice, &bob.key, "x").ok();
    }
    wait_until("all deliveries end", || database.count("deliveries") == 0);
    assert_eq!(receiver.requests().len(), EVENTS);
    assert_eq!(database.count("attempts WHERE outcome = 'succeeded'"), 12);
    assert_eq!(database.count("attempts WHERE excerpt = 'plain'"), 6, "no other text is lost");
    assert_eq!(database.count("attempts WHERE excerpt IS NULL"), 6);
}

fn a_refused_log_of_attempts_repeats_nothing(database: &Database) {
    let server = database.serve_with(SHORT_LEASE);
    refuse_attempts(database, "at > 0");
    let receiver = Receiver::start();
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    for _ in 0..EVENTS {
        server.send(&alice, &bob.key, "x").ok();
    }
    wait_until("all deliveries end", || database.count("deliveries") == 0);
    assert_eq!(receiver.requests().len(), EVENTS);
    assert_eq!(database.count("attempts"), 0);
}

fn a_refused_text_of_a_failed_attempt_keeps_its_retry(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule=10ms"]);
    refuse_attempts(database, "excerpt LIKE '%✓%'");
    let receiver = Receiver::reacting(|_| Reaction::Exactly("500 Oops".to_owned(), "✓".into()));
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    server.send(&alice, &bob.key, "x").ok();
    receiver.await_requests(2);
    let exhausted = || database.count("deliveries WHERE due_at IS NULL AND attempts = 2");
    wait_until("the delivery is exhausted", || exhausted() == 1);
    assert_eq!(receiver.requests().len(), 2);
    let listed = server.act(&bob, "/v1/webhooks/list", &json!({})).ok();
    assert_eq!(listed["webhooks"][0]["last_failure"]["error"], "http_status", "{listed}");
}

/// Makes the database refuse attempts with this SQL condition, as a text in another encoding would be refused.
fn refuse_attempts(database: &Database, condition: &str) {
    database.by_hand(&match database.postgres_url() {
        Some(_) => format!("ALTER TABLE attempts ADD CHECK (({condition}) IS NOT TRUE)"),
        None => format!(
            "CREATE TRIGGER refused BEFORE INSERT ON attempts
             WHEN NEW.{condition} BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
    });
}
