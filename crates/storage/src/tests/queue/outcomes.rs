//! Tests that the outcomes of attempts are recorded only while the lease of the delivery is valid.

use sealpost_domain::{
    AttemptFailure, AttemptResult, LastFailure, LeaseToken, Outcome, WebhookStatus, ports::Outbox,
};

use crate::tests::fixture::{Fixture, at, claim, find, record, result_of};

on_both!(
    a_success_deletes_the_delivery,
    a_retry_is_due_again_at_its_time,
    an_exhausted_delivery_stays_and_is_never_due,
    a_stale_lease_changes_nothing,
    a_batch_of_mixed_outcomes_is_recorded,
    a_webhook_keeps_the_newest_success_and_failure,
    a_success_that_is_only_in_the_log_is_shown,
    a_410_of_the_old_url_changes_only_the_attempt,
    unlogged_outcomes_change_only_the_queue,
);

fn failed(when: i64, error: &str) -> LastFailure {
    LastFailure { at: at(when), error: error.to_owned(), error_detail: None }
}

/// The columns of a delivery: number of attempts, due time in milliseconds, token of the lease, and class of the
/// failure.
type QueueRow = (i32, Option<i64>, Option<i64>, Option<String>);

/// Returns all rows of the delivery queue.
fn queue(db: &Fixture) -> Vec<QueueRow> {
    use crate::schema::deliveries as d;
    use diesel::prelude::*;
    d::table
        .order(d::event_id)
        .select((d::attempts, d::due_at, d::lease, d::last_failure))
        .load(&mut db.raw())
        .unwrap()
}

fn a_success_deletes_the_delivery(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    let held = claim(db, 1000, 1);
    record(db, &[result_of(&held[0], 1100, Outcome::Succeeded)]);
    assert_eq!(queue(db).len(), 1);
    assert_eq!(find(db, &to).last_success_at, Some(at(1100)));
    assert_eq!(find(db, &to).last_failure, None);
}

fn a_retry_is_due_again_at_its_time(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    let held = claim(db, 1000, 1);
    let outcome = Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at: at(6000) };
    record(db, &[result_of(&held[0], 1100, outcome)]);
    assert_eq!(queue(db), [(1, Some(6000), None, Some("http_status".to_owned()))]);
    assert_eq!(find(db, &to).last_failure, Some(failed(1100, "http_status")));
    assert!(claim(db, 5999, 2).is_empty());
    assert_eq!(claim(db, 6000, 2)[0].attempts, 1);
}

fn an_exhausted_delivery_stays_and_is_never_due(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    let held = claim(db, 1000, 1);
    let outcome = Outcome::Exhausted(AttemptFailure::Timeout);
    record(db, &[result_of(&held[0], 1100, outcome)]);
    assert_eq!(queue(db), [(1, None, None, Some("timeout".to_owned()))]);
    assert!(claim(db, i64::MAX - 1000, 2).is_empty());
}

fn a_stale_lease_changes_nothing(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 3);
    let stale = claim(db, 1000, 1);
    let successor = claim(db, 2000, 2);
    assert_eq!(successor.len(), 3);
    let before = queue(db);
    let retry = Outcome::Retry { failure: AttemptFailure::Dns, due_at: at(1) };
    record(
        db,
        &[
            result_of(&stale[0], 2100, Outcome::Succeeded),
            result_of(&stale[1], 2100, retry),
            result_of(&stale[2], 2100, Outcome::Exhausted(AttemptFailure::Dns)),
        ],
    );
    assert_eq!(queue(db), before);
    let found = find(db, &to);
    assert_eq!((found.last_success_at, found.last_failure), (None, None));
    assert_eq!(db.count("attempts"), 0);
    let late = |nth: usize| result_of(&stale[nth], 2050, Outcome::Succeeded);
    record(db, &[late(0), result_of(&successor[0], 2100, retry), late(1)]);
    assert_eq!(db.count("attempts WHERE at = 2100 AND outcome = 'failed'"), 1);
    assert_eq!((db.count("attempts"), db.count("deliveries")), (1, 3));
}

fn a_batch_of_mixed_outcomes_is_recorded(db: &Fixture) {
    let (one, other) = (db.register(&db.activate().id), db.register(&db.activate().id));
    db.send(&one, 60);
    db.send(&other, 60);
    let held = claim(db, 1000, 1);
    let retry = Outcome::Retry { failure: AttemptFailure::Tls, due_at: at(7000) };
    let outcomes = [Outcome::Succeeded, retry, Outcome::Exhausted(AttemptFailure::Connect)];
    let ends: Vec<_> = held
        .iter()
        .zip(outcomes.into_iter().cycle())
        .map(|(held, outcome)| result_of(held, 1100, outcome))
        .collect();
    record(db, &[]);
    record(db, &ends);
    let left = queue(db);
    assert_eq!(left.len(), 80);
    assert_eq!(left.iter().filter(|row| row.1 == Some(7000)).count(), 40);
    for to in [&one, &other] {
        assert_eq!(find(db, to).last_success_at, Some(at(1100)));
    }
}

fn a_webhook_keeps_the_newest_success_and_failure(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 6);
    let held = claim(db, 1000, 1);
    let fail = |failure| Outcome::Retry { failure, due_at: at(7000) };
    record(
        db,
        &[
            result_of(&held[0], 1300, fail(AttemptFailure::Dns)),
            result_of(&held[1], 1200, fail(AttemptFailure::Tls)),
            result_of(&held[2], 1400, Outcome::Succeeded),
            result_of(&held[3], 1350, Outcome::Succeeded),
        ],
    );
    record(
        db,
        &[
            result_of(&held[4], 1250, fail(AttemptFailure::Timeout)),
            result_of(&held[5], 1390, Outcome::Succeeded),
        ],
    );
    let found = find(db, &to);
    assert_eq!(found.last_failure, Some(failed(1300, "dns")));
    assert_eq!(found.last_success_at, Some(at(1400)));
}

/// The row of a webhook keeps the first of many successes, so that most successes do not update the row.
fn a_success_that_is_only_in_the_log_is_shown(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    let held = claim(db, 1000, 1);
    for (held, when) in held.iter().zip([1100, 1200]) {
        record(db, &[result_of(held, when, Outcome::Succeeded)]);
    }
    assert_eq!(db.count("webhooks WHERE last_success_at = 1100"), 1);
    assert_eq!(find(db, &to).last_success_at, Some(at(1200)));
}

/// The owner of a webhook may change its URL while an attempt waits for the response of the old receiver.
fn a_410_of_the_old_url_changes_only_the_attempt(db: &Fixture) {
    let (moved, stayed) = (db.register(&db.activate().id), db.register(&db.activate().id));
    db.send(&moved, 1);
    db.send(&stayed, 1);
    let held = claim(db, 1000, 1);
    let new_url =
        format!("UPDATE webhooks SET url = 'https://new.example/' WHERE id = '{}'", moved.id);
    db.execute(&new_url).unwrap();
    record(
        db,
        &[result_of(&held[0], 1100, Outcome::Gone), result_of(&held[1], 1100, Outcome::Gone)],
    );
    let error = || Some("http_status".to_owned());
    assert_eq!(queue(db), [(1, Some(1100), None, error()), (1, None, None, error())]);
    let status_of = |webhook| find(db, webhook).status;
    assert_eq!(status_of(&moved), WebhookStatus::Enabled);
    assert_eq!(status_of(&stayed), WebhookStatus::Disabled);
    assert_eq!(claim(db, 1100, 2)[0].target.url, "https://new.example/");
    assert_eq!(db.count("attempts WHERE outcome = 'failed' AND next_attempt_at = 1100"), 1);
}

fn unlogged_outcomes_change_only_the_queue(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 3);
    let held = claim(db, 1000, 1);
    let retry = Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at: at(6000) };
    let results = [
        result_of(&held[0], 1100, Outcome::Succeeded),
        result_of(&held[1], 1100, retry),
        AttemptResult { lease: LeaseToken(2), ..result_of(&held[2], 1100, Outcome::Succeeded) },
    ];
    db.record_unlogged(&results).unwrap();
    let retried = (1, Some(6000), None, Some("http_status".to_owned()));
    assert_eq!(queue(db), [retried, (0, Some(2000), Some(1), None)]);
    assert_eq!((db.count("attempts"), db.count("envelope_outcomes")), (0, 1));
    assert_eq!(find(db, &to).last_success_at, None);
}
