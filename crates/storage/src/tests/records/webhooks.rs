//! Tests of webhooks: lists, deletion, and the row locks that a deletion takes.

use std::{thread, time::Duration};

use sealpost_domain::{
    LeaseToken, Webhook, WebhookStatus,
    ports::{
        Durability::{Durable, Relaxed},
        Outbox,
    },
};

use crate::{
    queue::{outcomes, statements},
    rows::{attempt::FinishedAttempt, delivery::DeliveryLease},
    tests::fixture::{Fixture, at, claim_of, webhook},
};

on_both!(
    webhooks_are_listed_oldest_first,
    one_of_two_deletions_of_a_webhook_wins,
    deletion_and_outcomes_do_not_deadlock,
);

fn webhooks_are_listed_oldest_first(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    db.register(&other.id);
    let young = Webhook { created_at: at(20), ..webhook(&key.id) };
    let old = Webhook {
        created_at: at(10),
        status: WebhookStatus::Disabled,
        last_success_at: Some(at(30)),
        last_failure: Some(sealpost_domain::LastFailure {
            at: at(31),
            error: "dns".to_owned(),
            error_detail: Some("no such name".to_owned()),
        }),
        ..webhook(&key.id)
    };
    let (listed, count) = db
        .write(Durable, |tx| {
            tx.insert_webhook(&young)?;
            tx.insert_webhook(&old)?;
            Ok((tx.list_webhooks(&key.id)?, tx.count_webhooks(&key.id)?))
        })
        .unwrap();
    assert_eq!(format!("{listed:?}"), format!("{:?}", [&old, &young]));
    assert_eq!(listed[0].secret, old.secret);
    assert_eq!(count, 2);
}

fn one_of_two_deletions_of_a_webhook_wins(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 2);
    let deleted = thread::scope(|scope| {
        let mut first = db.begin(Durable).unwrap();
        assert!(first.delete_webhook(&key.id, &to.id, at(9)).unwrap());
        let second = scope.spawn(|| {
            let mut tx = db.begin(Durable)?;
            let is_deleted = tx.delete_webhook(&key.id, &to.id, at(9))?;
            tx.commit().map(|()| is_deleted)
        });
        thread::sleep(PAUSE);
        first.commit().unwrap();
        second.join().unwrap()
    });
    assert!(!deleted.unwrap());
}

/// Records an outcome in two steps of one transaction, without retries, while another thread deletes the webhook.
fn deletion_and_outcomes_do_not_deadlock(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 1);
    let held = db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap();
    let attempt = FinishedAttempt {
        lease: DeliveryLease::new(&held[0].id(), held[0].lease),
        attempts: 1,
        at: 1001,
        duration_ms: 1,
        outcome: "succeeded",
        failure: None,
        status_code: None,
        excerpt: None,
        due_at: None,
        gone_url: None,
    };
    let webhook_id = to.id.to_string();
    thread::scope(|scope| {
        let mut transaction = db.begin(Relaxed).unwrap();
        let removed =
            transaction.run(|conn| statements::remove_succeeded(conn, &[&attempt])).unwrap();
        assert_eq!(removed.len(), 1);
        let deletion = scope.spawn(|| {
            let mut tx = db.begin(Durable)?;
            let is_deleted = tx.delete_webhook(&key.id, &to.id, at(9))?;
            tx.commit().map(|()| is_deleted)
        });
        thread::sleep(PAUSE);
        let health = transaction.run(|conn| {
            let rows = outcomes::lock_health(conn, &[&*webhook_id])?;
            let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
            statements::set_health(conn, &rows)?;
            Ok(rows)
        });
        assert_eq!(health.unwrap().len(), 1);
        transaction.commit().unwrap();
        assert!(deletion.join().unwrap().unwrap());
    });
    assert_eq!((db.count("webhooks"), db.count("deliveries")), (0, 0));
}

/// A pause that is long enough for a transaction to finish if it does not wait for a lock.
const PAUSE: Duration = Duration::from_millis(150);
