//! Tests that transactions on PostgreSQL lock rows in one order. Otherwise two transactions could wait for each other
//! (deadlock).

mod deliveries;

use std::thread;

use diesel::connection::SimpleConnection as _;
use sealpost_domain::{
    ApiKeyId, EventKind, Outcome, OwnEventId, RecipientPolicy, RetiringSecret, Webhook, Wrapped,
    ports::{
        Durability::{Durable, Relaxed},
        StoreError,
    },
};

use crate::{
    connection::{AnyConnection, transaction::Transaction},
    queue::{
        outcomes::{self, AttemptRecording},
        success_throttle::SuccessThrottle,
    },
    tests::fixture::{FAILING_MAX, Fixture, at, claim, postgres, result_of},
};

/// Locks the rows of `table` that meet the condition `rows`, until the connection commits.
fn hold(db: &Fixture, table: &str, rows: &str) -> AnyConnection {
    let mut holder = db.raw();
    holder.batch_execute(&format!("BEGIN; SELECT FROM {table} WHERE {rows} FOR UPDATE")).unwrap();
    holder
}

/// Checks that `work` locks the row `first` before the row `second`. Both rows are given as SQL conditions. Another
/// transaction holds `first`, and locks `second` while `work` waits: a deadlock if `work` has already locked `second`.
/// Index scans are off, so the plans of `work` read rows in the order in which they were stored.
fn assert_locks_in_order(
    db: &Fixture,
    table: &str,
    [first, second]: [&str; 2],
    work: impl FnOnce(&mut Transaction) -> Result<(), StoreError> + Send,
) {
    let mut holder = hold(db, table, first);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut tx = db.begin(Relaxed).unwrap();
            execute(
                &mut tx,
                "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
                 SET LOCAL enable_bitmapscan = off",
            );
            work(&mut tx).unwrap();
            tx.commit().unwrap();
        });
        db.await_waiting();
        let lock_second = format!("SELECT FROM {table} WHERE {second} FOR UPDATE; COMMIT");
        holder.batch_execute(&lock_second).unwrap();
    });
}

fn execute(tx: &mut Transaction, sql: &str) {
    tx.run(|conn| Ok(conn.batch_execute(sql)?)).unwrap();
}

#[test]
fn deliveries_of_old_events_are_locked_in_the_order_of_webhooks() {
    let db = postgres();
    let event = OwnEventId::new(at(5), [0; 10]);
    db.execute(&format!(
        "INSERT INTO events (id, kind, api_key_id, created_at, body)
             VALUES ('{event}', 'webhook.failing', 'ak_1', 5, '');
         INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at)
             VALUES ('{event}', 'wh_2', 0, 5), ('{event}', 'wh_1', 0, 5)"
    ))
    .unwrap();
    let rows = ["webhook_id = 'wh_1'", "webhook_id = 'wh_2'"];
    assert_locks_in_order(&db, "deliveries", rows, |tx| tx.purge_events(at(9), 9).map(drop));
    assert_eq!((db.count("events"), db.count("deliveries")), (0, 0));
}

#[test]
fn old_daily_counts_are_locked_in_the_order_of_keys() {
    let db = postgres();
    let day = 86_400_000;
    db.execute(&format!(
        "INSERT INTO daily_counts (api_key_id, day, sent, received, delivered)
         VALUES ('ak_2', 0, 1, 1, 1), ('ak_1', {day}, 1, 1, 1)"
    ))
    .unwrap();
    let rows = ["api_key_id = 'ak_1'", "api_key_id = 'ak_2'"];
    assert_locks_in_order(&db, "daily_counts", rows, |tx| {
        tx.purge_daily_counts(at(3 * day), 9).map(drop)
    });
    assert_eq!(db.count("daily_counts"), 0);
}

/// A trigger changes the facts version of a key at the commit, or at once if constraints are immediate.
#[test]
fn facts_versions_are_locked_in_the_order_of_keys() {
    let db = postgres();
    let [first, second] = [db.activate().id, db.activate().id];
    for key in [&second, &first] {
        let to = db.register(key);
        let retiring = [RetiringSecret { secret: Wrapped(vec![1; 61]), until: at(8000) }];
        db.write(Durable, |tx| tx.set_secrets(&to.id, &Wrapped(vec![9; 61]), &retiring)).unwrap();
    }
    assert_versions_are_locked_in_order(&db, [first, second], |tx| {
        assert_eq!(tx.purge_retired_secrets(at(8000), 9).unwrap(), 2);
    });
}

#[test]
fn facts_versions_of_disabled_webhooks_are_locked_in_the_order_of_keys() {
    let db = postgres();
    let [first, second] = [db.activate().id, db.activate().id];
    for key in [&second, &first] {
        db.send(&db.register(key), 1);
    }
    let held = claim(&db, 1000, 1);
    let results: Vec<_> = held.iter().map(|held| result_of(held, 1001, Outcome::Gone)).collect();
    let throttle = SuccessThrottle::new(9);
    let recording = AttemptRecording { failing_max: FAILING_MAX, throttle: &throttle };
    assert_versions_are_locked_in_order(&db, [first, second], |tx| {
        let recorded = tx.run(|conn| outcomes::record(conn, &results, Some(&recording))).unwrap();
        assert_eq!(recorded.disabled.len(), 2);
    });
}

/// Checks that `work` locks the facts version of the first key before that of the second.
fn assert_versions_are_locked_in_order(
    db: &Fixture,
    [first, second]: [ApiKeyId; 2],
    work: impl FnOnce(&mut Transaction) + Send,
) {
    let mut holder = db.begin(Durable).unwrap();
    execute(&mut holder, "SET CONSTRAINTS ALL IMMEDIATE");
    holder.set_policy(&first, &RecipientPolicy::default()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut tx = db.begin(Relaxed).unwrap();
            work(&mut tx);
            tx.commit().unwrap();
        });
        db.await_waiting();
        holder.set_policy(&second, &RecipientPolicy::default()).unwrap();
        holder.commit().unwrap();
    });
}

/// Transactions that end deliveries lock envelopes first, and then request transfers for their recipients.
#[test]
fn a_revocation_requests_its_transfer_after_its_envelopes() {
    let db = postgres();
    let key = db.activate();
    db.send(&db.register(&key.id), 1);
    let mut holder = hold(&db, "envelopes", "true");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut tx = db.begin(Durable).unwrap();
            tx.lock_key(&key.id).unwrap();
            tx.revoke_key(&key.id, at(9)).unwrap();
            tx.commit().unwrap();
        });
        db.await_waiting();
        let request = format!(
            "INSERT INTO waiting_transfers (api_key_id) VALUES ('{}')
             ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL; COMMIT",
            key.id
        );
        holder.batch_execute(&request).unwrap();
    });
    assert_eq!(db.count("waiting_transfers WHERE horizon IS NULL"), 1);
}

/// A change of the events requests a transfer after it has locked the webhook. A deletion requests a transfer for its
/// undelivered envelopes before it locks the webhook.
#[test]
fn a_deletion_of_a_webhook_waits_for_a_change_of_its_events() {
    let db = postgres();
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 1);
    let mut change = db.begin(Durable).unwrap();
    change.lock_webhook(&key.id, &to.id).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut tx = db.begin(Durable).unwrap();
            assert!(tx.delete_webhook(&key.id, &to.id, at(9)).unwrap());
            tx.commit().unwrap();
        });
        db.await_waiting();
        let events = vec![EventKind::EnvelopeBounced];
        change.update_webhook(&Webhook { events, ..to.clone() }).unwrap();
        change.commit().unwrap();
    });
    assert_eq!((db.count("webhooks"), db.count("waiting_envelopes")), (0, 1));
}
