//! Tests webhooks that are disabled after failures or a response with status 410, and enabled again.

use std::thread;

use sealpost_domain::{
    AttemptFailure, DeliveryId, DisabledReason, LeaseToken, Outcome, Webhook, WebhookId,
    WebhookStatus,
    ports::{
        Durability::{Durable, Relaxed},
        FactsQuery, Outbox, ParkedDelivery, WriteSet,
    },
};

use crate::{
    connection::transaction::Transaction,
    queue::{claim_cursor::ClaimCursor, claims},
    tests::fixture::{
        FAILING_MAX, Fixture, WAITING, at, claim_of, envelope, eventually, find, fresh, postgres,
        result_of,
    },
};

on_both!(
    a_410_disables_and_exhausts_the_delivery,
    failures_without_success_disable_after_the_limit,
    a_success_resets_the_failure_period,
    only_active_webhooks_have_targets,
    enabling_clears_the_disabled_reason,
    deliveries_to_a_disabled_webhook_wait_until_woken,
    waking_respects_its_limit,
);

const DUE: i64 = 1_000_000_000_000;

/// Makes all deliveries due at `now`, claims one of them, and records this outcome for it.
fn attempt(db: &Fixture, now: i64, outcome: Outcome) {
    db.execute(&format!("UPDATE deliveries SET due_at = {now}")).unwrap();
    let held = db.claim(&claim_of(now, 1, LeaseToken(now))).unwrap();
    db.record_outcomes(&[result_of(&held[0], now, outcome)], FAILING_MAX).unwrap();
}

fn fail() -> Outcome {
    Outcome::Retry { failure: AttemptFailure::Connect, due_at: at(DUE) }
}

fn days(count: i64) -> i64 {
    1000 + count * 86_400_000
}

fn a_410_disables_and_exhausts_the_delivery(db: &Fixture) {
    let key = db.activate();
    let (deleted, stays) = (db.register(&key.id), db.register(&key.id));
    db.send(&deleted, 1);
    attempt(db, 1000, Outcome::Gone);
    let shown = find(db, &deleted);
    assert_eq!(shown.status, WebhookStatus::Disabled);
    assert_eq!(shown.disabled_reason, Some(DisabledReason::Gone));
    assert_eq!(shown.last_failure.unwrap().error, "http_status");
    assert_eq!(find(db, &stays).status, WebhookStatus::Enabled);
    assert_eq!(db.count("deliveries WHERE due_at IS NULL AND lease IS NULL"), 1);
}

fn failures_without_success_disable_after_the_limit(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    for day in [0, 2, 4] {
        attempt(db, days(day), fail());
        let shown = find(db, &to);
        assert_eq!((shown.status, shown.disabled_reason), (WebhookStatus::Enabled, None));
        assert_eq!(shown.failing_since, Some(at(days(0))));
    }
    attempt(db, days(5), fail());
    let shown = find(db, &to);
    assert_eq!(shown.status, WebhookStatus::Disabled);
    assert_eq!(shown.disabled_reason, Some(DisabledReason::Failing));
    assert_eq!(shown.failing_since, Some(at(days(0))));
}

fn a_success_resets_the_failure_period(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    attempt(db, days(0), fail());
    attempt(db, days(4), Outcome::Succeeded);
    assert_eq!(find(db, &to).failing_since, None);
    db.send(&to, 1);
    attempt(db, days(6), fail());
    let shown = find(db, &to);
    assert_eq!((shown.status, shown.failing_since), (to.status, Some(at(days(6)))));
}

fn only_active_webhooks_have_targets(db: &Fixture) {
    let key = db.activate();
    let [on, off, paused, deleted] = [(); 4].map(|()| db.register(&key.id));
    db.send(&off, 1);
    attempt(db, 1000, Outcome::Gone);
    let updated = Webhook { url: "https://new.test/".to_owned(), ..on.clone() };
    db.write(Durable, |tx| {
        tx.update_webhook(&updated)?;
        tx.update_webhook(&Webhook { paused: true, ..paused.clone() })?;
        tx.delete_webhook(&key.id, &deleted.id, at(9))
    })
    .unwrap();
    assert_eq!(db.active_targets(&[]).unwrap(), []);
    let many = (0..1000).map(|_| fresh(WebhookId::new));
    let many: Vec<_> = many.chain([deleted.id, on.id, off.id, paused.id]).collect();
    assert_eq!(db.active_targets(&many).unwrap(), [updated.target(key.account_id)]);
}

fn enabling_clears_the_disabled_reason(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    attempt(db, days(0), fail());
    attempt(db, days(5), fail());
    db.write(Durable, |tx| tx.enable_webhook(&to.id)).unwrap();
    let shown = find(db, &to);
    assert_eq!(shown.status, WebhookStatus::Enabled);
    assert_eq!((shown.disabled_reason, shown.failing_since), (None, None));
    attempt(db, days(6), fail());
    assert_eq!(find(db, &to).failing_since, Some(at(days(6))), "the failure period starts again");
}

fn deliveries_to_a_disabled_webhook_wait_until_woken(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 1);
    attempt(db, 1000, Outcome::Gone);
    let wanted = FactsQuery { recipients: vec![key.id], ..FactsQuery::default() };
    let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
    let webhooks = &facts.webhooks[&key.id];
    let found: Vec<_> = webhooks.0.iter().map(|it| (it.target.webhook_id, it.is_active)).collect();
    assert_eq!(found, [(to.id, false)]);
    let sealed = std::sync::Arc::new(envelope(&key.id, &key.id));
    let id = DeliveryId { event_id: sealed.meta.id.into(), webhook_id: to.id };
    let parked = vec![ParkedDelivery { id, event_at: at(1000) }];
    db.apply(&WriteSet { envelopes: vec![sealed], parked, ..WriteSet::default() });
    assert!(db.claim(&claim_of(2000, 10, LeaseToken(2))).unwrap().is_empty());

    db.write(Durable, |tx| tx.enable_webhook(&to.id)).unwrap();
    let woken =
        db.write(Durable, |tx| tx.expedite_deliveries(&to.id, at(0), at(3000), 10)).unwrap();
    assert_eq!(woken, 1, "the exhausted delivery stays");
    let due = db.claim(&claim_of(3000, 10, LeaseToken(3))).unwrap();
    assert_eq!(due.iter().map(|it| (it.id(), it.attempts)).collect::<Vec<_>>(), [(id, 0)]);
}

fn waking_respects_its_limit(db: &Fixture) {
    let key = db.activate();
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    db.send(&to, 5);
    db.send(&other, 1);
    assert_eq!(db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap().len(), 1);
    db.execute("UPDATE deliveries SET due_at = 9000 WHERE lease IS NULL").unwrap();
    let wake =
        || db.write(Durable, |tx| tx.expedite_deliveries(&to.id, at(0), at(2000), 3)).unwrap();
    assert_eq!([wake(), wake(), wake()], [3, 1, 0], "one is leased");
    assert_eq!(db.count("deliveries WHERE due_at = 9000"), 1);
}

/// Returns a database with a disabled webhook and a delivery to it that is due at the time 1000 ms.
fn with_due_delivery(db: &Fixture) -> Webhook {
    let to = db.register(&db.activate().id);
    db.send(&to, 1);
    db.execute("UPDATE webhooks SET status = 'disabled'").unwrap();
    to
}

/// Runs on PostgreSQL only. On SQLite, which has one writer, a claim and the enabling cannot run at the same time.
#[test]
fn enabling_during_a_claim_makes_the_parked_delivery_due() {
    let db = &postgres();
    let to = with_due_delivery(db);
    let mut claim = db.begin(Relaxed).unwrap();
    let wanted = claim_of(1000, 10, LeaseToken(1));
    let taken = claim.run(|conn| {
        let cursor = ClaimCursor::default();
        let search = claims::search(conn, wanted.now, &cursor)?.unwrap();
        claims::take_ready(conn, &wanted, &search, &cursor)
    });
    let taken = taken.unwrap();
    assert!(taken.is_empty());
    thread::scope(|scope| {
        let enabling = scope.spawn(|| {
            db.write(Durable, |tx| tx.enable_webhook(&to.id)).unwrap();
            let expedite =
                |tx: &mut Transaction| tx.expedite_deliveries(&to.id, at(0), at(1000), 10);
            db.write(Durable, expedite).unwrap();
        });
        eventually("the webhook is enabled, or that waits for the claim", || {
            (enabling.is_finished() || db.count(WAITING) == 1).then_some(())
        });
        claim.commit().unwrap();
    });
    assert_eq!(db.count("deliveries WHERE due_at <= 1000 AND lease IS NULL"), 1);
}

/// Runs on PostgreSQL only, for the same reason as the test above.
#[test]
fn a_claim_during_the_enabling_leaves_the_delivery_due() {
    let db = &postgres();
    let to = with_due_delivery(db);
    let mut enabling = db.begin(Durable).unwrap();
    enabling.enable_webhook(&to.id).unwrap();
    assert!(db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap().is_empty());
    enabling.commit().unwrap();
    assert_eq!(db.claim(&claim_of(1000, 10, LeaseToken(2))).unwrap().len(), 1);
}
