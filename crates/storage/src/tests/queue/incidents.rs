//! Tests of the events that inform the other webhooks of an account about a failing or disabled webhook.

use sealpost_domain::{
    AttemptFailure, EventKind, LeaseToken, Outcome, Webhook,
    ports::{Durability::Durable, Outbox},
};
use serde_json::Value;

use crate::tests::fixture::{FAILING_MAX, Fixture, at, claim_of, result_of};

on_both!(
    an_hour_of_failures_is_announced_once_until_the_next_success,
    disabled_webhooks_are_announced_with_the_cause,
);

const BOTH: &[EventKind] = &[EventKind::WebhookDisabled, EventKind::WebhookFailing];
const HOUR: i64 = 3_600_000;

/// A webhook, and the other webhooks of its account that subscribe to the events.
struct Account {
    watched: Webhook,
    beside: Webhook,
    of_sibling: Webhook,
}

impl Account {
    fn new(db: &Fixture) -> Self {
        let key = db.activate();
        let sibling = db.activate_beside(&key);
        let kinds = &[BOTH, &[EventKind::EnvelopeReceived]].concat();
        let watched = db.register_for(&key.id, kinds);
        // The events go neither to a webhook that does not subscribe to them, nor to another account.
        db.register(&key.id);
        db.register_for(&db.activate().id, BOTH);
        let (beside, of_sibling) =
            (db.register_for(&key.id, BOTH), db.register_for(&sibling.id, BOTH));
        Self { watched, beside, of_sibling }
    }

    /// Stores an envelope, and records an attempt to deliver it.
    fn attempt(&self, db: &Fixture, now: i64, outcome: Outcome) {
        db.send(&self.watched, 1);
        let due = format!("UPDATE deliveries SET due_at = {now} WHERE envelope_id LIKE 'env%'");
        db.execute(&due).unwrap();
        let held = db.claim(&claim_of(now, 100, LeaseToken(now))).unwrap();
        let held = held.iter().find(|it| it.target.webhook_id == self.watched.id).unwrap();
        db.record_outcomes(&[result_of(held, now, outcome)], FAILING_MAX).unwrap();
    }

    /// Returns the kind and the reason of each event. Checks that both other webhooks get these events, and that no
    /// other webhook gets an event.
    fn announced(&self, db: &Fixture) -> Vec<(String, String)> {
        let now = 1_000 * HOUR;
        db.execute(&format!("UPDATE deliveries SET due_at = {now}")).unwrap();
        let held = db.claim(&claim_of(now, 1_000, LeaseToken(now))).unwrap();
        let to = |webhook: &Webhook| {
            let mine = held.iter().filter(|it| it.target.webhook_id == webhook.id);
            let own = mine.filter(|it| !it.event.id().is_envelope());
            let read = |body: Vec<u8>| -> Value { serde_json::from_slice(&body).unwrap() };
            let bodies =
                own.map(|it| read(it.event.body(sealpost_domain::EventsVersion::V1_1).unwrap()));
            let mut events: Vec<_> = bodies
                .map(|body| {
                    assert_eq!(body["webhook_id"], self.watched.id.to_string());
                    let text = |name: &str| body[name].as_str().unwrap().to_owned();
                    (text("event"), text("reason"))
                })
                .collect();
            events.sort();
            events
        };
        let events = to(&self.beside);
        assert_eq!(to(&self.of_sibling), events);
        let others = held.iter().filter(|it| !it.event.id().is_envelope()).count();
        assert_eq!(others, 2 * events.len());
        events
    }
}

fn failed() -> Outcome {
    Outcome::Retry { failure: AttemptFailure::Connect, due_at: at(1_000_000 * HOUR) }
}

fn event(kind: &str, reason: &str) -> (String, String) {
    (kind.to_owned(), reason.to_owned())
}

fn an_hour_of_failures_is_announced_once_until_the_next_success(db: &Fixture) {
    let account = Account::new(db);
    for step in 0..20 {
        account.attempt(db, HOUR + step * HOUR / 9, failed());
    }
    let failing = event("webhook.failing", "all_attempts_failed");
    assert_eq!(account.announced(db), vec![failing.clone()]);
    account.attempt(db, 10 * HOUR, Outcome::Succeeded);
    for step in 0..20 {
        account.attempt(db, 11 * HOUR + step * HOUR / 9, failed());
    }
    assert_eq!(account.announced(db), [failing.clone(), failing]);
}

fn disabled_webhooks_are_announced_with_the_cause(db: &Fixture) {
    let account = Account::new(db);
    let enable = || db.write(Durable, |tx| tx.enable_webhook(&account.watched.id)).unwrap();
    account.attempt(db, HOUR, Outcome::Gone);
    enable();
    account.attempt(db, 2 * HOUR, failed());
    account.attempt(db, 200 * HOUR, failed());
    enable();
    db.write(Durable, |tx| tx.disable_webhook(&account.watched.id, at(300 * HOUR))).unwrap();
    let disabled = |reason| event("webhook.disabled", reason);
    let expected = [disabled("failing"), disabled("gone"), disabled("operator")];
    assert_eq!(account.announced(db), expected);
}
