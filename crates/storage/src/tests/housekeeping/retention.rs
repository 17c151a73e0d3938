//! Tests that retention deletes rows in batches, the oldest rows first.

use std::sync::Arc;

use sealpost_domain::{
    ApiKey, ApiKeyId, ApiToken, EnvelopeId, EventKind, Fingerprint, IdempotencyKey, LeaseToken,
    Outcome, ReceiptState, Session, Webhook,
    ports::{
        Contact,
        Durability::{Durable, Relaxed},
        ExpiringRows, IdempotencyResult, NewIdempotencyRecord, Outbox, StoreError, WriteSet,
    },
};

use crate::{
    connection::transaction::Transaction,
    tests::{
        fixture::{
            FAILING_MAX, Fixture, at, claim_of, delivery, envelope, fresh, open_session, result_of,
            token,
        },
        records::api_tokens::api_token,
    },
};

on_both!(
    expired_rows_are_deleted_oldest_first,
    old_envelopes_are_deleted_by_id_with_their_deliveries,
    deletion_of_envelopes_respects_its_limit,
    few_envelopes_bounce_in_one_transaction,
    reading_ahead_changes_nothing,
    an_attempt_is_kept_as_long_as_older_envelopes,
    only_old_attempts_are_deleted,
    attempts_behind_those_of_a_clock_ahead_are_deleted,
    attempts_of_a_deleted_webhook_are_deleted_in_batches,
    attempts_of_a_revoked_key_are_deleted,
);

fn expired_rows_are_deleted_oldest_first(db: &Fixture) {
    let key = db.activate();
    for (rows, table, time) in [
        (ExpiringRows::ApiTokens, "api_tokens", "expires_at"),
        (ExpiringRows::Contacts, "contacts", "sent_at"),
        (ExpiringRows::IdempotencyKeys, "idempotency_keys", "created_at"),
        (ExpiringRows::Sessions, "sessions", "expires_at"),
        (ExpiringRows::UsedForms, "used_forms", "used_at"),
    ] {
        for millis in [4, 0, 3, 1, 2] {
            db.write(Durable, |tx| insert_expiring(tx, rows, &key, millis)).unwrap();
        }
        let count = |condition: &str| db.count(&format!("{table} WHERE {time} {condition}"));
        let purge = |limit| db.write(Relaxed, |tx| tx.purge_expired(rows, at(3), limit)).unwrap();
        assert_eq!([purge(0), purge(2)], [0, 2], "{table}");
        assert_eq!((count("< 2"), count(">= 2")), (0, 3), "{table}");
        assert_eq!((purge(2), purge(2)), (1, 0), "{table}");
        assert_eq!(count(">= 3"), 2, "{table}");
    }
}

/// Inserts a row that expires, or that was created, sent or used, at this time.
fn insert_expiring(
    tx: &mut Transaction,
    rows: ExpiringRows,
    key: &ApiKey,
    millis: i64,
) -> Result<(), StoreError> {
    let (account_id, caller, time) = (key.account_id, key.id, at(millis));
    match rows {
        ExpiringRows::ApiTokens => {
            tx.insert_api_token(&ApiToken { expires_at: time, ..api_token(key) })
        }
        ExpiringRows::Contacts => {
            let contact = fresh(ApiKeyId::new);
            tx.insert_contacts(&[Contact { api_key_id: caller, contact, sent_at: time }])
        }
        ExpiringRows::IdempotencyKeys => {
            let envelope = envelope(&caller, &caller).meta.id;
            let record = NewIdempotencyRecord {
                caller,
                key: IdempotencyKey::parse(&format!("key {millis}")).unwrap(),
                fingerprint: Fingerprint([1; 32]),
                result: IdempotencyResult::Send { envelope, state: ReceiptState::Sent },
                at: time,
                expired_before: at(0),
            };
            tx.apply(&WriteSet { idempotency: vec![record], ..WriteSet::default() })
        }
        ExpiringRows::Sessions => {
            open_session(tx, &Session { token: token(), account_id, expires_at: time })
        }
        ExpiringRows::UsedForms => tx.use_form(&token(), time).map(drop),
    }
}

fn reading_ahead_changes_nothing(db: &Fixture) {
    let key = db.activate().id;
    let envelopes = (1..=9).map(|millis| {
        let mut envelope = envelope(&key, &key);
        envelope.meta.id = EnvelopeId::new(at(millis), [0; 10]);
        Arc::new(envelope)
    });
    db.apply(&WriteSet { envelopes: envelopes.collect(), ..WriteSet::default() });
    for (before, limit) in [(0, 99), (9, 0), (9, 1), (9, 3), (9, 99)] {
        db.read_ahead(at(before), limit).unwrap();
    }
    assert_eq!(db.count("envelopes"), 9);
}

fn old_envelopes_are_deleted_by_id_with_their_deliveries(db: &Fixture) {
    let key = db.activate();
    let to = [db.register(&key.id), db.register(&key.id)];
    let ids = [(8, [0; 10]), (9, [255; 10]), (10, [0; 10]), (10, [255; 10]), (11, [0; 10])];
    let envelopes = ids.map(|(millis, random)| {
        let mut envelope = envelope(&key.id, &key.id);
        envelope.meta.id = EnvelopeId::new(at(millis), random);
        Arc::new(envelope)
    });
    let deliveries = envelopes.iter().flat_map(|envelope| {
        to.each_ref().map(|webhook| delivery(envelope, webhook, LeaseToken(1), 9000))
    });
    let leased = deliveries.collect();
    db.apply(&WriteSet { envelopes: envelopes.to_vec(), leased, ..WriteSet::default() });
    db.execute(&format!("UPDATE deliveries SET due_at = NULL WHERE webhook_id = '{}'", to[0].id))
        .unwrap();
    let purge = |time| db.write(Relaxed, |tx| tx.purge_envelopes(at(time), at(9), 99)).unwrap();
    assert_eq!(purge(8), 0);
    assert_eq!(purge(10), 2);
    assert_eq!(purge(10), 0);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (3, 6));
    let bound = envelopes[2].meta.id;
    assert_eq!(db.count(&format!("deliveries WHERE envelope_id < '{bound}'")), 0);
    assert_eq!(purge(12), 3);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (0, 0));
}

fn deletion_of_envelopes_respects_its_limit(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 5);
    let purge =
        |limit| db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(9), limit)).unwrap();
    assert_eq!(purge(0), 0);
    assert_eq!(purge(2), 2);
    let old = sent[2].event.id();
    assert_eq!(db.count(&format!("envelopes WHERE id < '{old}'")), 0);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (3, 3));
    assert_eq!((purge(2), purge(2), purge(2)), (2, 1, 0));
}

fn few_envelopes_bounce_in_one_transaction(db: &Fixture) {
    let key = db.activate().id;
    let to = db.register_for(&key, &[EventKind::EnvelopeReceived, EventKind::EnvelopeBounced]);
    db.send(&to, 700);
    let purge = || {
        let purge = |tx: &mut Transaction| tx.purge_envelopes(at(1 << 40), at(9), 2000);
        (db.write(Relaxed, purge).unwrap(), db.count("events"))
    };
    assert_eq!(purge(), (2000, 501), "more work is left");
    assert_eq!((purge(), purge()), ((199, 700), (0, 700)));
    assert_eq!(db.count("envelopes"), 0);
}

fn an_attempt_is_kept_as_long_as_older_envelopes(db: &Fixture) {
    let to = db.register(&db.activate().id);
    attempt(db, &to, 1, 2000);
    let purge = || db.write(Relaxed, |tx| tx.purge_attempts(at(3000), 9)).unwrap();
    assert_eq!((purge(), db.count("attempts")), (0, 1), "a receipt needs the attempt");
    db.write(Relaxed, |tx| tx.purge_envelopes(at(1 << 40), at(9), 9)).unwrap();
    assert_eq!((purge(), db.count("attempts")), (1, 0));
}

/// Stores successful attempts, one for each millisecond from `when`.
fn attempt(db: &Fixture, to: &Webhook, count: usize, when: i64) {
    db.send(to, count);
    let held = db.claim(&claim_of(1000, count, LeaseToken(1))).unwrap();
    let ends: Vec<_> = held
        .iter()
        .zip(when..)
        .map(|(held, when)| result_of(held, when, Outcome::Succeeded))
        .collect();
    db.record_outcomes(&ends, FAILING_MAX).unwrap();
}

fn only_old_attempts_are_deleted(db: &Fixture) {
    let to = db.register(&db.activate().id);
    attempt(db, &to, 3, 100);
    attempt(db, &to, 3, 200);
    let purge =
        |before, limit| db.write(Relaxed, |tx| tx.purge_attempts(at(before), limit)).unwrap();
    assert_eq!((purge(100, 9), purge(202, 0)), (0, 0));
    assert_eq!((purge(202, 2), purge(202, 2), purge(202, 2)), (2, 2, 1));
    assert_eq!(db.count("attempts WHERE at >= 202"), 1);
    assert_eq!(db.count("attempts"), 1);
}

fn attempts_behind_those_of_a_clock_ahead_are_deleted(db: &Fixture) {
    let to = db.register(&db.activate().id);
    for (count, when) in [(2, 900_000), (4, 100), (1, 150), (3, 160)] {
        attempt(db, &to, count, when);
    }
    let purge = || db.write(Relaxed, |tx| tx.purge_attempts(at(151), 3)).unwrap();
    assert_eq!((purge(), purge(), purge()), (3, 2, 0));
    assert_eq!((db.count("attempts WHERE at >= 160"), db.count("attempts")), (5, 5));
}

fn attempts_of_a_deleted_webhook_are_deleted_in_batches(db: &Fixture) {
    let key = db.activate();
    let (deleted, stays) = (db.register(&key.id), db.register(&key.id));
    attempt(db, &deleted, 5, 100);
    attempt(db, &stays, 2, 100);
    let purge = || db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(9), 3)).unwrap();
    assert_eq!(purge(), 0);
    let foreign = db.activate().id;
    let delete = |by| db.write(Durable, |tx| tx.delete_webhook(by, &deleted.id, at(9))).unwrap();
    assert!(!delete(&foreign));
    assert_eq!(purge(), 0, "the webhook still exists");
    assert!(delete(&key.id));
    let left = |of: &Webhook| db.count(&format!("attempts WHERE webhook_id = '{}'", of.id));
    assert_eq!((purge(), left(&deleted)), (3, 2));
    assert_eq!((purge(), left(&deleted)), (3, 0));
    assert_eq!((purge(), db.count("deleted_webhooks"), left(&stays)), (0, 0, 2));
}

fn attempts_of_a_revoked_key_are_deleted(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let mine = [db.register(&key.id), db.register(&key.id)];
    let theirs = db.register(&other.id);
    for to in mine.iter().chain([&theirs]) {
        attempt(db, to, 2, 100);
    }
    db.write(Durable, |tx| tx.revoke_key(&key.id, at(9))).unwrap();
    let purge = || db.write(Relaxed, |tx| tx.purge_deleted_webhooks(at(9), 100)).unwrap();
    assert_eq!((purge(), purge()), (6, 0));
    assert_eq!((db.count("attempts"), db.count("deleted_webhooks")), (2, 0));
}
