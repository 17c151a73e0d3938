//! Tests that claims are fair: a long queue of one webhook leaves room for deliveries to others.

use std::collections::BTreeMap;

use sealpost_domain::{
    LeaseToken, Webhook, WebhookId,
    ports::{Claim, Outbox},
};

use crate::tests::fixture::{Fixture, at, claim_of};

on_both!(
    a_long_queue_leaves_room_for_others_in_the_first_claim,
    recently_due_webhooks_are_found_among_many_waiting_ones,
    a_single_webhook_gets_all_the_room,
    the_long_queue_gets_the_room_that_others_leave,
    every_webhook_is_claimed_in_turn,
    deliveries_that_are_not_due_stay,
    a_long_queue_of_a_disabled_webhook_blocks_no_other,
    a_full_webhook_keeps_its_deliveries_and_blocks_no_other,
);

fn claim(db: &Fixture, limit: usize, per_target_max: usize) -> BTreeMap<WebhookId, usize> {
    let claim = Claim { per_target_max, ..claim_of(2000, limit, LeaseToken(1)) };
    let mut counts = BTreeMap::new();
    for delivery in db.claim(&claim).unwrap() {
        *counts.entry(delivery.target.webhook_id).or_default() += 1;
    }
    counts
}

/// Creates a webhook with `count` deliveries that are due at `due_at`.
fn target(db: &Fixture, count: usize, due_at: i64) -> Webhook {
    let to = db.register(&db.activate().id);
    db.send(&to, count);
    db.execute(&format!("UPDATE deliveries SET due_at = {due_at} WHERE webhook_id = '{}'", to.id))
        .unwrap();
    to
}

fn a_long_queue_leaves_room_for_others_in_the_first_claim(db: &Fixture) {
    let early: Vec<_> = (0..3).map(|_| target(db, 2, 1500)).collect();
    let long = target(db, 300, 1000);
    let late: Vec<_> = (0..3).map(|_| target(db, 2, 1500)).collect();
    let taken = claim(db, 64, 8);
    for other in early.iter().chain(&late) {
        assert_eq!(taken.get(&other.id), Some(&2));
    }
    assert_eq!(taken[&long.id], 52);
    assert_eq!(taken.values().sum::<usize>(), 64);
}

/// Inserts deliveries to 1,500 webhooks, which are more than a claim visits. These deliveries are not due yet. The
/// claim must still find the due deliveries to other webhooks.
fn recently_due_webhooks_are_found_among_many_waiting_ones(db: &Fixture) {
    db.execute(
        "INSERT INTO deliveries (webhook_id, envelope_id, attempts, due_at)
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1500)
         SELECT 'wg_' || (10000 + n), 'env', 1, 9000 FROM n",
    )
    .unwrap();
    let long = target(db, 200, 1000);
    let others: Vec<_> = (0..3).map(|_| target(db, 2, 1500)).collect();
    let taken = claim(db, 64, 8);
    assert!(others.iter().all(|other| taken.get(&other.id) == Some(&2)), "{taken:?}");
    assert_eq!(taken[&long.id], 58);
}

fn a_full_webhook_keeps_its_deliveries_and_blocks_no_other(db: &Fixture) {
    let full = target(db, 300, 1000);
    target(db, 100, 1500);
    target(db, 2, 1600);
    let claim_beside_full = || {
        let claim = claim_of(2000, 64, LeaseToken(1));
        let claim = Claim { per_target_max: 8, full: vec![full.id], ..claim };
        let claimed = db.claim(&claim).unwrap();
        assert!(claimed.iter().all(|it| it.target.webhook_id != full.id));
        claimed.len()
    };
    // Each of two webhooks gets half of the claim. A single webhook gets the whole claim.
    let counts: Vec<_> = (0..4).map(|_| claim_beside_full()).collect();
    assert_eq!(counts, [34, 64, 4, 0]);
    assert_eq!(claim(db, 64, 8), BTreeMap::from([(full.id, 64)]));
}

fn a_single_webhook_gets_all_the_room(db: &Fixture) {
    let lone = target(db, 150, 1000);
    for expected in [64, 64, 22] {
        assert_eq!(claim(db, 64, 8), BTreeMap::from([(lone.id, expected)]));
    }
    assert!(claim(db, 64, 8).is_empty());
}

fn the_long_queue_gets_the_room_that_others_leave(db: &Fixture) {
    let long = target(db, 200, 1000);
    let other = target(db, 40, 1500);
    let taken = claim(db, 20, 5);
    assert_eq!((taken[&long.id], taken[&other.id]), (15, 5));
    let taken = claim(db, 230, 230);
    assert_eq!((taken[&long.id], taken[&other.id]), (185, 35));
}

fn every_webhook_is_claimed_in_turn(db: &Fixture) {
    let long = target(db, 500, 1000);
    let others: Vec<_> = (0..12).map(|_| target(db, 2, 1500)).collect();
    let mut turns = BTreeMap::<_, usize>::new();
    for _ in 0..6 {
        let taken = claim(db, 8, 4);
        assert_eq!(taken.values().sum::<usize>(), 8);
        for (id, count) in taken {
            *turns.entry(id).or_default() += count;
        }
    }
    for other in &others {
        assert_eq!(turns.remove(&other.id), Some(2), "each webhook got its two deliveries");
    }
    assert_eq!(turns, BTreeMap::from([(long.id, 24)]));
}

fn deliveries_that_are_not_due_stay(db: &Fixture) {
    let long = target(db, 30, 1000);
    let other = target(db, 3, 1500);
    db.send(&target(db, 3, 9000), 1);
    db.execute(&format!(
        "UPDATE deliveries SET due_at = 9000 WHERE webhook_id = '{}' AND envelope_id <>
         (SELECT min(envelope_id) FROM deliveries WHERE webhook_id = '{0}')",
        other.id
    ))
    .unwrap();
    db.execute("UPDATE deliveries SET due_at = 9000 WHERE due_at = 1000 AND lease IS NOT NULL")
        .unwrap();
    let taken = claim(db, 10, 2);
    assert_eq!(taken[&other.id], 1);
    assert_eq!(db.count("deliveries WHERE due_at = 9000"), 5);
    assert!(taken[&long.id] >= 8);
    let untouched = claim_of(8999, 100, LeaseToken(5));
    let left = db.claim(&untouched).unwrap();
    assert!(left.iter().all(|it| it.lease_until == at(9999)));
}

fn a_long_queue_of_a_disabled_webhook_blocks_no_other(db: &Fixture) {
    let off = target(db, 100, 1000);
    let others: Vec<_> = (0..3).map(|_| target(db, 5, 1500)).collect();
    db.execute(&format!("UPDATE webhooks SET status = 'disabled' WHERE id = '{}'", off.id))
        .unwrap();
    let taken = claim(db, 30, 5);
    assert_eq!(taken.len(), 3);
    assert!(others.iter().all(|other| taken[&other.id] == 5));
    assert_eq!(
        db.count("deliveries WHERE due_at <= 2000"),
        0,
        "the disabled deliveries are parked"
    );
}
