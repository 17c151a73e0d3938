//! Tests that each threshold of a usage limit gives at most one event per day or month.

use std::thread;

use sealpost_domain::{
    ApiKeyId, EventKind, ReachedThreshold, ThresholdWindow, UsageThreshold,
    ports::{Durability::Durable, FactsQuery, WriteSet},
};

use crate::tests::fixture::{Fixture, at, retried};

on_both!(
    a_threshold_gives_one_event_for_each_window,
    the_thresholds_of_a_key_are_independent,
    without_a_subscribed_webhook_the_threshold_is_past,
    concurrent_transactions_store_one_event,
    a_rolled_back_threshold_is_not_recorded,
);

const KINDS: &[EventKind] = &[EventKind::UsageThreshold];

fn reached(
    key: &ApiKeyId,
    window: ThresholdWindow,
    threshold: u8,
    window_start: i64,
) -> ReachedThreshold {
    ReachedThreshold {
        window_start: at(window_start),
        at: at(window_start + 5),
        details: UsageThreshold {
            api_key_id: *key,
            window,
            threshold,
            used: 8,
            limit: 10,
            resets_at: at(window_start + 100),
        },
    }
}

fn record(db: &Fixture, thresholds: &[ReachedThreshold]) {
    db.apply(&WriteSet { thresholds: thresholds.to_vec(), ..WriteSet::default() });
}

fn a_threshold_gives_one_event_for_each_window(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, KINDS);
    db.register_for(&key, KINDS);
    db.register(&key);
    let today = reached(&key, ThresholdWindow::Day, 80, 1000);
    let later = ReachedThreshold { at: at(1009), ..today.clone() };
    let tomorrow = reached(&key, ThresholdWindow::Day, 80, 2000);
    record(db, &[today, later.clone()]);
    record(db, std::slice::from_ref(&later));
    assert_eq!((db.count("events"), db.count("deliveries")), (1, 2));
    record(db, &[tomorrow]);
    assert_eq!((db.count("events"), db.count("deliveries")), (2, 4));
    assert_eq!(db.count("events WHERE kind = 'usage.threshold' AND created_at = 1005"), 1);
    assert_eq!(db.count("usage_thresholds"), 1, "a key keeps the newest window only");
}

fn the_thresholds_of_a_key_are_independent(db: &Fixture) {
    use ThresholdWindow as W;
    let (key, other) = (db.activate().id, db.activate().id);
    for key in [key, other] {
        db.register_for(&key, KINDS);
        let all = [(W::Day, 80), (W::Day, 100), (W::Month, 80), (W::Month, 100)];
        record(db, &all.map(|(window, threshold)| reached(&key, window, threshold, 1000)));
    }
    assert_eq!(db.count("events"), 8);
}

fn without_a_subscribed_webhook_the_threshold_is_past(db: &Fixture) {
    let key = db.activate().id;
    let today = [reached(&key, ThresholdWindow::Day, 80, 1000)];
    record(db, &today);
    db.register_for(&key, KINDS);
    record(db, &today);
    assert_eq!(db.count("events"), 0);
}

/// Runs concurrent transactions like several nodes do. Each transaction first locks the usage row of the key.
fn concurrent_transactions_store_one_event(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, KINDS);
    let query = FactsQuery { callers: vec![key], ..FactsQuery::default() };
    let write = WriteSet {
        thresholds: vec![reached(&key, ThresholdWindow::Month, 100, 1000)],
        ..WriteSet::default()
    };
    let node = || {
        retried(|| {
            db.write(Durable, |tx| {
                tx.lock_facts(&query)?;
                tx.apply(&write)
            })
        })
        .unwrap();
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(node))));
    assert_eq!(db.count("events"), 1);
}

fn a_rolled_back_threshold_is_not_recorded(db: &Fixture) {
    let key = db.activate().id;
    db.register_for(&key, KINDS);
    let thresholds = vec![reached(&key, ThresholdWindow::Day, 80, 1000)];
    let write = WriteSet { thresholds, ..WriteSet::default() };
    let mut lost = db.begin(Durable).unwrap();
    lost.apply(&write).unwrap();
    drop(lost);
    assert_eq!((db.count("events"), db.count("usage_thresholds")), (0, 0));
    db.apply(&write);
    assert_eq!(db.count("events"), 1);
}
