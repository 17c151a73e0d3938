//! Webhooks.

use std::{thread, time::Duration};

use sealpost_domain::{
    LeaseToken, Webhook, WebhookStatus,
    ports::{Durability::Durable, Durability::Relaxed, Outbox, Store},
};

use super::fixture::{Fixture, at, claim_of, webhook};
use crate::{
    batch::{self, End, Held},
    settling,
};

on_both!(
    webhooks_are_listed_oldest_first,
    only_the_key_itself_deletes_its_webhook,
    a_deleted_webhook_takes_its_deliveries_along,
    of_two_that_delete_a_webhook_one_does_it,
    a_deletion_and_outcomes_do_not_wait_in_a_circle,
);

fn webhooks_are_listed_oldest_first(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    db.register(&other.id);
    let young = Webhook { created_at: at(20), ..webhook(&key.id) };
    let old = Webhook {
        created_at: at(10),
        status: WebhookStatus::Disabled,
        last_success_at: Some(at(30)),
        last_failure: Some(sealpost_domain::LastFailure { at: at(31), error: "dns".to_owned() }),
        ..webhook(&key.id)
    };
    let (listed, count) = db
        .store()
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

fn only_the_key_itself_deletes_its_webhook(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let mine = db.register(&key.id);
    let delete = |by| db.store().write(Durable, |tx| tx.delete_webhook(by, &mine.id)).unwrap();
    assert!(!delete(&other.id));
    assert!(delete(&key.id));
    assert!(!delete(&key.id));
}

fn a_deleted_webhook_takes_its_deliveries_along(db: &Fixture) {
    let key = db.activate();
    let (gone, stays) = (db.register(&key.id), db.register(&key.id));
    db.send(&gone, 3);
    db.send(&stays, 2);
    db.store().write(Durable, |tx| tx.delete_webhook(&key.id, &gone.id)).unwrap();
    let due = db.claim(&claim_of(1000, 10, LeaseToken(1))).unwrap();
    assert_eq!(due.len(), 2);
    assert!(due.iter().all(|delivery| delivery.target.webhook_id == stays.id));
}

fn of_two_that_delete_a_webhook_one_does_it(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 2);
    let deleted = thread::scope(|scope| {
        let mut first = db.begin(Durable).unwrap();
        assert!(first.delete_webhook(&key.id, &to.id).unwrap());
        let second = scope.spawn(|| {
            let mut tx = db.begin(Durable)?;
            let is_deleted = tx.delete_webhook(&key.id, &to.id)?;
            tx.commit().map(|()| is_deleted)
        });
        thread::sleep(PAUSE);
        first.commit().unwrap();
        second.join().unwrap()
    });
    assert!(!deleted.unwrap());
}

/// A settlement in its two steps, and nobody who tries again.
fn a_deletion_and_outcomes_do_not_wait_in_a_circle(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    db.send(&to, 1);
    let held = db.claim(&claim_of(1000, 1, LeaseToken(1))).unwrap();
    let end = End {
        held: Held::new(&held[0].id(), held[0].lease),
        attempts: 1,
        at: 1001,
        duration_ms: 1,
        outcome: "succeeded",
        failure: None,
        status_code: None,
        excerpt: None,
        due_at: None,
        is_gone: false,
    };
    let webhook_id = to.id.to_string();
    thread::scope(|scope| {
        let mut settlement = db.unit(Relaxed).unwrap();
        let removed = settlement.run(|conn| batch::remove(conn, &[&end])).unwrap();
        assert_eq!(removed.len(), 1);
        let deletion = scope.spawn(|| {
            let mut tx = db.begin(Durable)?;
            let is_deleted = tx.delete_webhook(&key.id, &to.id)?;
            tx.commit().map(|()| is_deleted)
        });
        thread::sleep(PAUSE);
        let health = settlement.run(|conn| {
            let rows = settling::lock_health(conn, &[&*webhook_id])?;
            batch::set_health(conn, &rows)?;
            Ok(rows)
        });
        assert_eq!(health.unwrap().len(), 1);
        settlement.commit().unwrap();
        assert!(deletion.join().unwrap().unwrap());
    });
    assert_eq!((db.count("webhooks"), db.count("deliveries")), (0, 0));
}

/// Long enough that whoever does not wait would be through.
const PAUSE: Duration = Duration::from_millis(150);
