//! Tests repeated deliveries: of a single event, and of all deliveries that failed in a period.

use sealpost_domain::{
    AttemptFailure, DeliveryId, LeaseToken, LeasedDelivery, Outcome, Webhook,
    ports::{Durability::Durable, FailureRange, Outbox, RecoverySummary},
};

use crate::{
    connection::transaction::Transaction,
    tests::fixture::{FAILING_MAX, Fixture, at, claim_of, envelope, result_of},
};

on_both!(
    waiting_exhausted_and_succeeded_deliveries_are_sent_again,
    a_requested_attempt_uses_up_no_step_of_the_schedule,
    requests_without_an_attempt_do_not_lower_the_number_of_attempts,
    a_request_during_a_lease_without_an_attempt_marks_the_next_one,
    a_delivery_under_way_is_sent_again_whatever_its_outcome_is,
    a_410_parks_a_delivery_that_was_to_be_sent_again,
    a_delivery_is_sent_again_after_the_end_or_the_release_of_its_lease,
    a_failed_delivery_under_way_is_recovered_if_it_fails_again,
    only_a_stored_envelope_of_this_key_is_sent_again,
    deliveries_failed_in_a_period_are_due_again,
    a_recovery_is_bounded_and_can_be_counted_first,
    a_delivery_is_found_by_its_newest_failure,
);

fn redeliver(db: &Fixture, to: &Webhook, delivery: &LeasedDelivery) -> bool {
    let id = DeliveryId { event_id: delivery.event.id(), webhook_id: to.id };
    db.write(Durable, |tx| tx.redeliver(&id, &to.api_key_id, at(5000))).unwrap()
}

/// Claims the deliveries that are due at `now`. Returns the id of each delivery with the number of its attempts.
fn due(db: &Fixture, now: i64, lease: i64) -> Vec<(DeliveryId, u32)> {
    let mut due: Vec<_> = db
        .claim(&claim_of(now, 1000, LeaseToken(lease)))
        .unwrap()
        .iter()
        .map(|it| (it.id(), it.attempts))
        .collect();
    due.sort_unstable();
    due
}

fn retry(due_at: i64) -> Outcome {
    Outcome::Retry { failure: AttemptFailure::Tls, due_at: at(due_at) }
}

fn record(db: &Fixture, held: &LeasedDelivery, when: i64, outcome: Outcome) {
    db.record_outcomes(&[result_of(held, when, outcome)], FAILING_MAX).unwrap();
}

fn waiting_exhausted_and_succeeded_deliveries_are_sent_again(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 4);
    let held = db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap();
    let of = |nth: usize| held.iter().find(|held| held.id() == sent[nth].id()).unwrap();
    record(db, of(0), 1100, retry(90_000));
    record(db, of(1), 1100, Outcome::Exhausted(AttemptFailure::Tls));
    record(db, of(2), 1100, Outcome::Succeeded);
    record(db, of(3), 1100, retry(90_000));
    assert!(sent[..3].iter().all(|delivery| redeliver(db, &to, delivery)));
    assert!(due(db, 4999, 2).is_empty());
    let expected = [(sent[0].id(), 0), (sent[1].id(), 0), (sent[2].id(), 0)];
    assert_eq!(due(db, 5000, 3), expected);
}

fn a_requested_attempt_uses_up_no_step_of_the_schedule(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    let attempt = |now: i64, lease: i64, next: i64| {
        let held = db.claim(&claim_of(now, 10, LeaseToken(lease))).unwrap().remove(0);
        record(db, &held, now, retry(next));
        held.attempts
    };
    assert_eq!([attempt(1000, 1, 2000), attempt(2000, 2, 90_000)], [0, 1]);
    for lease in 3..6 {
        assert!(redeliver(db, &to, &sent[0]));
        assert_eq!(attempt(5000, lease, 90_000), 1);
    }
    let expedited = db.write(Durable, |tx| tx.expedite_deliveries(&to.id, at(0), at(6000), 10));
    assert_eq!((expedited.unwrap(), attempt(6000, 6, 90_000)), (1, 1));
    assert_eq!(attempt(90_000, 7, 99_000), 2, "an attempt of the schedule");
}

/// A node with an open circuit breaker returns claimed deliveries without an attempt.
fn requests_without_an_attempt_do_not_lower_the_number_of_attempts(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    for (lease, now) in [(1, 1000), (2, 2000)] {
        let held = db.claim(&claim_of(now, 10, LeaseToken(lease))).unwrap().remove(0);
        record(db, &held, now, retry(now + 1000));
    }
    // The third attempt is under way, and fails after the request.
    let held = db.claim(&claim_of(4500, 10, LeaseToken(3))).unwrap().remove(0);
    assert!(redeliver(db, &to, &sent[0]));
    record(db, &held, 4600, retry(90_000));
    for lease in 4..8 {
        let held = db.claim(&claim_of(5000, 10, LeaseToken(lease))).unwrap().remove(0);
        assert_eq!((held.attempts, db.count("deliveries WHERE attempts = 3")), (2, 1));
        assert_eq!(held.requested_at, Some(at(5000)));
        db.release(&[(held.id(), held.lease)], at(90_000)).unwrap();
        assert!(redeliver(db, &to, &sent[0]));
    }
    let held = db.claim(&claim_of(5000, 10, LeaseToken(8))).unwrap().remove(0);
    record(db, &held, 5100, retry(90_000));
    let held = db.claim(&claim_of(90_000, 10, LeaseToken(9))).unwrap().remove(0);
    assert_eq!((held.attempts, held.requested_at), (3, None), "the next attempt of the schedule");
}

/// A delivery can also be leased while it waits in the memory of a node, or for a relay.
fn a_request_during_a_lease_without_an_attempt_marks_the_next_one(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    for (lease, now, next) in [(1, 1000, 2000), (2, 2000, 4500)] {
        let held = db.claim(&claim_of(now, 10, LeaseToken(lease))).unwrap().remove(0);
        record(db, &held, now, retry(next));
    }
    let held = db.claim(&claim_of(4500, 10, LeaseToken(3))).unwrap().remove(0);
    assert_eq!((held.attempts, held.requested_at), (2, None));
    assert!(redeliver(db, &to, &sent[0]));
    db.release(&[(held.id(), held.lease)], at(90_000)).unwrap();
    let held = db.claim(&claim_of(5000, 10, LeaseToken(4))).unwrap().remove(0);
    assert_eq!((held.attempts, held.requested_at), (1, Some(at(5000))), "after a release");
    record(db, &held, 5000, retry(5000));
    db.claim(&claim_of(5000, 10, LeaseToken(5))).unwrap();
    assert!(redeliver(db, &to, &sent[0]));
    let held = db.claim(&claim_of(6000, 10, LeaseToken(6))).unwrap().remove(0);
    assert_eq!((held.attempts, held.requested_at), (1, Some(at(5000))), "after the lease");
}

/// The request takes effect after the attempt under way, as if it had arrived after the outcome. The log has the attempt.
fn a_delivery_under_way_is_sent_again_whatever_its_outcome_is(db: &Fixture) {
    let exhausted = Outcome::Exhausted(AttemptFailure::Tls);
    let outcomes = [(Outcome::Succeeded, 0), (retry(90_000), 0), (exhausted, 0)];
    for (nth, (outcome, attempts)) in (1..).zip(outcomes) {
        let to = db.register(&db.activate().id);
        let sent = db.send(&to, 1);
        let held = db.claim(&claim_of(4500, 10, LeaseToken(nth * 10))).unwrap();
        assert!(redeliver(db, &to, &sent[0]) && redeliver(db, &to, &sent[0]), "twice");
        assert!(due(db, 5400, nth * 10 + 1).is_empty(), "the lease has not ended");
        record(db, &held[0], 5450, outcome);
        assert_eq!(db.count("attempts"), nth * 2 - 1, "{outcome:?}");
        let again = db.claim(&claim_of(5450, 10, LeaseToken(nth * 10 + 2))).unwrap();
        let found: Vec<_> = again.iter().map(|it| (it.id(), it.attempts)).collect();
        assert_eq!(found, [(sent[0].id(), attempts)], "{outcome:?}");
        record(db, &again[0], 5500, Outcome::Succeeded);
        assert_eq!(db.count("deliveries"), 0, "one attempt follows both requests");
    }
}

fn a_410_parks_a_delivery_that_was_to_be_sent_again(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    let held = db.claim(&claim_of(4500, 10, LeaseToken(1))).unwrap();
    assert!(redeliver(db, &to, &sent[0]));
    record(db, &held[0], 5450, Outcome::Gone);
    assert!(due(db, 5450, 2).is_empty(), "the webhook is disabled");
    db.write(Durable, |tx| tx.enable_webhook(&to.id)).unwrap();
    let woken = db.write(Durable, |tx| tx.expedite_deliveries(&to.id, at(0), at(6000), 10));
    assert_eq!(woken.unwrap(), 1);
    assert_eq!(due(db, 6000, 3), [(sent[0].id(), 0)]);
}

fn a_delivery_is_sent_again_after_the_end_or_the_release_of_its_lease(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    let lost = db.claim(&claim_of(4500, 10, LeaseToken(1))).unwrap();
    assert!(redeliver(db, &to, &sent[0]));
    let next = db.claim(&claim_of(5500, 10, LeaseToken(2))).unwrap();
    record(db, &lost[0], 5600, Outcome::Succeeded);
    assert_eq!(db.count("deliveries"), 1, "another node has the lease");
    assert!(redeliver(db, &to, &sent[0]));
    db.release(&[(next[0].id(), next[0].lease)], at(90_000)).unwrap();
    let next = db.claim(&claim_of(5600, 10, LeaseToken(3))).unwrap();
    assert_eq!(next.iter().map(LeasedDelivery::id).collect::<Vec<_>>(), [sent[0].id()]);
    record(db, &next[0], 5700, Outcome::Succeeded);
    assert_eq!(db.count("deliveries"), 0, "the attempt started after both requests");
}

fn a_failed_delivery_under_way_is_recovered_if_it_fails_again(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 4);
    for held in db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap() {
        record(db, &held, if held.id() == sent[3].id() { 1200 } else { 1100 }, retry(4500));
    }
    let held = db.claim(&claim_of(4500, 10, LeaseToken(2))).unwrap();
    let recover =
        |tx: &mut Transaction| tx.recover_leased(&to.id, &within(1100, 1100), at(5000), at(5500));
    db.write(Durable, recover).unwrap();
    let exhausted = Outcome::Exhausted(AttemptFailure::Tls);
    let outcomes = [exhausted, retry(90_000), Outcome::Succeeded, retry(90_000)];
    for (sent, outcome) in sent.iter().zip(outcomes) {
        let held = held.iter().find(|held| held.id() == sent.id()).unwrap();
        record(db, held, 5400, outcome);
    }
    assert_eq!(due(db, 5400, 3), [(sent[0].id(), 0), (sent[1].id(), 1)]);
    assert_eq!(db.count("deliveries"), 3, "one succeeded");
}

fn only_a_stored_envelope_of_this_key_is_sent_again(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let (to, foreign) = (db.register(&key.id), db.register(&other.id));
    let sent = db.send(&to, 2);
    assert!(!redeliver(db, &foreign, &sent[0]));
    let never = crate::tests::fixture::delivery(&envelope(&key.id, &key.id), &to, LeaseToken(1), 1);
    assert!(!redeliver(db, &to, &never));
    db.execute(&format!("DELETE FROM envelopes WHERE id = '{}'", sent[1].event.id())).unwrap();
    assert!(!redeliver(db, &to, &sent[1]));
    assert_eq!(db.count("deliveries"), 2);
    let young = db.register(&key.id);
    assert!(redeliver(db, &young, &sent[0]), "a later webhook may get it too");
    assert_eq!(db.count("deliveries"), 3);
}

fn recover(db: &Fixture, to: &Webhook, failed: &FailureRange) -> (u64, u64, bool) {
    let recovered =
        db.write(Durable, |tx| tx.recover_deliveries(&to.id, failed, at(5000))).unwrap();
    let RecoverySummary { matched, recovered, more } = recovered;
    (matched, recovered, more)
}

fn within(since: i64, until: i64) -> FailureRange {
    FailureRange {
        since: at(since),
        until: at(until),
        oldest: at(0),
        limit: 100,
        counted_only: false,
    }
}

fn deliveries_failed_in_a_period_are_due_again(db: &Fixture) {
    let key = db.activate();
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    let (sent, others) = (db.send(&to, 6), db.send(&other, 1));
    let held = db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap();
    let of = |delivery: &LeasedDelivery| held.iter().find(|it| it.id() == delivery.id()).unwrap();
    let exhausted = Outcome::Exhausted(AttemptFailure::Tls);
    record(db, of(&sent[0]), 1099, exhausted);
    record(db, of(&sent[1]), 1100, exhausted);
    record(db, of(&sent[2]), 1200, retry(90_000));
    record(db, of(&sent[3]), 1201, retry(90_000));
    record(db, of(&sent[4]), 1150, Outcome::Succeeded);
    record(db, of(&others[0]), 1150, exhausted);
    assert_eq!(recover(db, &to, &within(1100, 1200)), (2, 2, false));
    assert_eq!(recover(db, &to, &within(1100, 1200)), (0, 0, false), "already due");
    let mut found = due(db, 5000, 2);
    // This delivery was claimed only because its first lease has expired.
    found.retain(|(id, _)| *id != sent[5].id());
    assert_eq!(found, [(sent[1].id(), 0), (sent[2].id(), 0)]);
}

fn a_recovery_is_bounded_and_can_be_counted_first(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 5);
    for (held, when) in db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap().iter().zip(1100..) {
        record(db, held, when, Outcome::Exhausted(AttemptFailure::Tls));
    }
    let three = FailureRange { limit: 3, ..within(0, 2000) };
    let counted = FailureRange { counted_only: true, ..three };
    assert_eq!(recover(db, &to, &counted), (3, 0, true));
    assert_eq!(db.count("deliveries WHERE due_at IS NULL"), 5);
    assert_eq!(recover(db, &to, &three), (3, 3, true));
    assert_eq!(due(db, 5000, 2).len(), 3);
    assert_eq!(recover(db, &to, &three), (2, 2, false));
    let all = FailureRange { limit: 5, ..within(0, 2000) };
    assert_eq!(recover(db, &to, &all).0, 0, "{}", sent.len());
}

fn a_delivery_is_found_by_its_newest_failure(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    let held = db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap();
    record(db, &held[0], 1100, retry(1200));
    let held = db.claim(&claim_of(1200, 1, LeaseToken(2))).unwrap();
    record(db, &held[0], 1300, retry(9000));
    assert_eq!(recover(db, &to, &within(1000, 1299)).0, 0);
    assert_eq!(recover(db, &to, &within(1300, 1300)), (1, 1, false));
}
