//! Tests the deletion of webhooks that have more deliveries than one transaction deletes.

use sealpost_domain::{
    ApiKeyId, LeaseToken, Webhook,
    ports::{
        Durability::{Durable, Relaxed},
        Outbox, RevocationSummary,
    },
};

use crate::{
    housekeeping::deleted_webhooks::AT_ONCE_MAX,
    tests::fixture::{Fixture, at, claim_of},
};

on_both!(
    a_long_backlog_is_deleted_in_batches,
    deliveries_to_a_deleted_webhook_are_never_claimed,
    a_key_with_a_long_backlog_can_be_revoked,
);

/// Inserts deliveries without envelopes. The deliveries are due at `due_at`, or exhausted (without further attempts) if
/// `due_at` is `None`.
fn backlog(db: &Fixture, to: &Webhook, count: usize, due_at: Option<i64>) {
    let due = due_at.map_or_else(|| "NULL".to_owned(), |at| at.to_string());
    let state = due_at.map_or("exhausted", |_| "waiting");
    db.execute(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, failed_at)
         SELECT '{state}' || i, '{}', 1, {due}, 5 FROM n",
        to.id
    ))
    .unwrap();
}

fn left(db: &Fixture, of: &Webhook) -> i64 {
    db.count(&format!("deliveries WHERE webhook_id = '{}'", of.id))
}

fn delete(db: &Fixture, webhook: &Webhook) {
    let Webhook { api_key_id, id, .. } = webhook;
    assert!(db.write(Durable, |tx| tx.delete_webhook(api_key_id, id, at(9))).unwrap());
}

fn purge(db: &Fixture, limit: u32) -> u64 {
    db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(9), limit)).unwrap()
}

fn waiting(db: &Fixture, for_key: &ApiKeyId) -> u64 {
    db.read(|reader| reader.count_pending(for_key, at(0), 9_999)).unwrap()
}

fn a_long_backlog_is_deleted_in_batches(db: &Fixture) {
    let key = db.activate();
    let (deleted, stays) = (db.register(&key.id), db.register(&key.id));
    backlog(db, &deleted, AT_ONCE_MAX + 4, Some(9_000));
    backlog(db, &deleted, 3, None);
    db.send(&stays, 2);
    delete(db, &deleted);
    assert_eq!((left(db, &deleted), waiting(db, &key.id)), (7, 2));
    assert_eq!((purge(db, 3), left(db, &deleted)), (3, 4));
    assert_eq!((purge(db, 3), left(db, &deleted)), (3, 1));
    assert_eq!(
        (purge(db, 3), db.count("deleted_webhooks")),
        (2, 0),
        "the last delivery and the mark"
    );
    assert_eq!((purge(db, 3), left(db, &deleted), left(db, &stays)), (0, 0, 2));
}

fn deliveries_to_a_deleted_webhook_are_never_claimed(db: &Fixture) {
    let key = db.activate();
    let (deleted, stays) = (db.register(&key.id), db.register(&key.id));
    backlog(db, &deleted, AT_ONCE_MAX + 7, Some(900));
    db.send(&stays, 2);
    delete(db, &deleted);
    assert_eq!(left(db, &deleted), 7);
    let due = db.claim(&claim_of(1000, 3, LeaseToken(1))).unwrap();
    assert_eq!(due.len(), 2);
    assert!(due.iter().all(|delivery| delivery.target.webhook_id == stays.id));
    assert_eq!((left(db, &deleted), left(db, &stays)), (0, 2));
}

fn a_key_with_a_long_backlog_can_be_revoked(db: &Fixture) {
    let key = db.activate();
    let to = [db.register(&key.id), db.register(&key.id)];
    for webhook in &to {
        backlog(db, webhook, AT_ONCE_MAX - 2, Some(9_000));
    }
    let revoked = db.write(Durable, |tx| {
        tx.lock_key(&key.id)?;
        tx.revoke_key(&key.id, at(9))
    });
    let deliveries = u64::try_from(AT_ONCE_MAX).unwrap();
    assert_eq!(revoked.unwrap(), RevocationSummary { webhooks: 2, deliveries });
    assert_eq!(waiting(db, &key.id), 0);
    let mut rest = 0;
    loop {
        let purged = purge(db, 1000);
        rest += purged;
        if purged < 1000 {
            break;
        }
    }
    assert_eq!(rest, deliveries - 4 + 2, "plus two marks");
    assert_eq!((db.count("deliveries"), db.count("deleted_webhooks")), (0, 0));
}
