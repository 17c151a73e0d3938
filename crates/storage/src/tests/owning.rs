//! What an account's owner looks at, and how its days are counted.

use std::sync::Arc;

use sealpost_domain::{
    DecisionId, Envelope, EnvelopeId, GovernanceDecision, GovernanceKind, GovernanceReason,
    GovernanceStatus, GovernanceSubject, PartnerId, Session, Timestamp, Webhook,
    ports::{DailyCount, Durability::Durable, Durability::Relaxed, Store, WriteSet},
};

use super::fixture::{Fixture, account, at, envelope, token};

on_both!(
    an_owner_sees_the_keys_of_the_account_and_no_others,
    an_owner_sees_what_governance_says_of_key_account_and_partner,
    an_owner_sees_the_live_sessions_that_last_longest_first,
    an_owner_sees_what_waits_for_a_key,
    every_envelope_is_counted_once_for_sender_and_recipient,
    notices_that_were_taken_are_counted_once_for_the_webhooks_key,
    an_envelope_that_is_too_young_is_counted_later,
    no_more_envelopes_are_counted_than_were_asked_for,
    days_are_forgotten_the_oldest_first,
);

fn an_owner_sees_the_keys_of_the_account_and_no_others(db: &Fixture) {
    let oldest = db.activate();
    let revoked = db.activate_beside(&oldest);
    let newest = db.activate_beside(&oldest);
    db.activate();
    db.register(&newest.id);
    db.register(&newest.id);
    db.store().write(Durable, |tx| tx.revoke_key(&revoked.id)).unwrap();
    let seen = |limit| {
        let mut owner = db.owner_lookup().unwrap();
        let keys = owner.keys_of(&oldest.account_id, limit).unwrap();
        keys.iter().map(|seen| (seen.key.id, seen.webhooks)).collect::<Vec<_>>()
    };
    assert_eq!(seen(9), [(newest.id, 2), (oldest.id, 0), (revoked.id, 0)]);
    assert_eq!(seen(1), [(newest.id, 2)]);
    assert!(db.owner_lookup().unwrap().keys_of(&account().id, 9).unwrap().is_empty());
}

fn an_owner_sees_what_governance_says_of_key_account_and_partner(db: &Fixture) {
    let (key, partner) = (db.activate(), PartnerId::parse("acme").unwrap());
    let other = db.activate_beside(&key);
    let subjects = [
        GovernanceSubject::Key(key.id),
        GovernanceSubject::Account(key.account_id),
        GovernanceSubject::Partner(partner.clone()),
    ];
    db.store()
        .write(Durable, |tx| {
            tx.set_partner(&key.account_id, Some(&partner))?;
            subjects.iter().zip(1..).try_for_each(|(subject, since)| {
                tx.insert_decision(&GovernanceDecision {
                    id: DecisionId::new(at(since), [1; 10]),
                    subject: subject.clone(),
                    reason: GovernanceReason {
                        kind: GovernanceKind::CouncilAction,
                        status: GovernanceStatus::Enforced,
                        reason: subject.to_string(),
                        since: at(since),
                    },
                    by: "operator:test".to_owned(),
                })
            })
        })
        .unwrap();
    let keys = db.owner_lookup().unwrap().keys_of(&key.account_id, 9).unwrap();
    let reasons = |id| {
        let seen = keys.iter().find(|seen| seen.key.id == id).unwrap();
        seen.standing.0.iter().map(|reason| reason.reason.clone()).collect::<Vec<_>>()
    };
    assert_eq!(reasons(key.id), subjects.each_ref().map(ToString::to_string));
    assert_eq!(reasons(other.id), reasons(key.id)[1..]);
}

fn an_owner_sees_the_live_sessions_that_last_longest_first(db: &Fixture) {
    let (mine, other) = (db.activate().account_id, db.activate().account_id);
    let session = |account_id, end| Session { token: token(), account_id, expires_at: at(end) };
    let sessions = [session(mine, 5), session(mine, 7), session(mine, 4), session(other, 9)];
    db.store()
        .write(Durable, |tx| sessions.iter().try_for_each(|session| tx.insert_session(session)))
        .unwrap();
    let seen = |limit| db.owner_lookup().unwrap().sessions_of(&mine, at(4), limit).unwrap();
    assert_eq!(seen(9), [sessions[1].clone(), sessions[0].clone()]);
    assert_eq!(seen(1), [sessions[1].clone()]);
}

fn an_owner_sees_what_waits_for_a_key(db: &Fixture) {
    let (key, other) = (db.activate(), db.activate());
    let (to, elsewhere) = (db.register(&key.id), db.register(&other.id));
    db.send(&to, 3);
    db.send(&elsewhere, 2);
    db.execute(&format!(
        "UPDATE deliveries SET due_at = NULL WHERE webhook_id = '{}' AND envelope_id IN
            (SELECT min(envelope_id) FROM deliveries WHERE webhook_id = '{}')",
        to.id, to.id
    ))
    .unwrap();
    let waiting = |limit| db.owner_lookup().unwrap().count_pending(&key.id, limit).unwrap();
    assert_eq!([9, 2, 1, 0].map(waiting), [2, 2, 1, 0], "no more are counted than were asked for");
}

const DAY: i64 = 86_400_000;

/// From the first to the second, so long after the epoch.
fn sent(db: &Fixture, keys: [&sealpost_domain::ApiKeyId; 2], millis: i64) {
    let mut envelope: Envelope = envelope(keys[0], keys[1]);
    envelope.meta.id = EnvelopeId::new(at(millis), *b"ten bytes!");
    envelope.meta.timestamp = at(millis);
    db.apply(&WriteSet { envelopes: vec![Arc::new(envelope)], ..WriteSet::default() });
}

fn count(db: &Fixture, before: Timestamp, limit: u32) -> u64 {
    db.store().write(Relaxed, |tx| tx.count_envelopes(before, limit)).unwrap()
}

fn days(db: &Fixture, key: &sealpost_domain::ApiKeyId, since: i64) -> Vec<(i64, u64, u64)> {
    let days = db.owner_lookup().unwrap().daily_counts(key, at(since)).unwrap();
    let day = |DailyCount { day, sent, received, .. }| (day.as_millis() / DAY, sent, received);
    days.into_iter().map(day).collect()
}

fn every_envelope_is_counted_once_for_sender_and_recipient(db: &Fixture) {
    let (a, b) = (&db.activate().id, &db.activate().id);
    sent(db, [a, b], 1);
    sent(db, [a, b], DAY - 1);
    sent(db, [b, b], DAY - 2);
    sent(db, [a, b], DAY);
    assert_eq!(count(db, at(9 * DAY), 99), 4);
    sent(db, [b, a], DAY + 1);
    assert_eq!((count(db, at(9 * DAY), 99), count(db, at(9 * DAY), 99)), (1, 0));
    assert_eq!(days(db, a, 0), [(0, 2, 0), (1, 1, 1)]);
    assert_eq!(days(db, b, 0), [(0, 1, 3), (1, 1, 1)]);
    assert_eq!(days(db, b, 1), [(1, 1, 1)]);
}

fn notices_that_were_taken_are_counted_once_for_the_webhooks_key(db: &Fixture) {
    let key = db.activate().id;
    let (to, gone) = (db.register(&key), db.register(&key));
    let attempt = |webhook: &Webhook, outcome: &str, at: i64| {
        db.execute(&format!(
            "INSERT INTO attempts (at, attempt, duration_ms, outcome, webhook_id, envelope_id)
            VALUES ({at}, 1, 1, '{outcome}', '{}', 'env_1')",
            webhook.id
        ))
        .unwrap();
    };
    attempt(&to, "succeeded", 1);
    attempt(&to, "failed", 2);
    attempt(&gone, "succeeded", 3);
    attempt(&to, "succeeded", DAY);
    attempt(&to, "succeeded", 9 * DAY);
    attempt(&to, "succeeded", 4);
    db.store().write(Durable, |tx| tx.delete_webhook(&key, &gone.id)).unwrap();
    let count = |before| db.store().write(Relaxed, |tx| tx.count_attempts(at(before), 99)).unwrap();
    assert_eq!((count(5 * DAY), count(5 * DAY)), (4, 0), "the fifth is too young, and ends it");
    let delivered = || {
        let days = db.owner_lookup().unwrap().daily_counts(&key, at(0)).unwrap();
        days.iter().map(|day| (day.day.as_millis() / DAY, day.delivered)).collect::<Vec<_>>()
    };
    assert_eq!(delivered(), [(0, 1), (1, 1)]);
    assert_eq!(count(10 * DAY), 2);
    assert_eq!(delivered(), [(0, 2), (1, 1), (9, 1)]);

    db.execute("DELETE FROM attempts").unwrap();
    attempt(&to, "succeeded", 9 * DAY);
    assert_eq!(count(10 * DAY), 1, "its number is greater than those that were counted");
}

fn an_envelope_that_is_too_young_is_counted_later(db: &Fixture) {
    let key = &db.activate().id;
    sent(db, [key, key], 10);
    sent(db, [key, key], 20);
    assert_eq!(count(db, at(10), 99), 0);
    assert_eq!(count(db, at(20), 99), 1);
    assert_eq!(days(db, key, 0), [(0, 1, 1)]);
    assert_eq!(count(db, at(21), 99), 1);
    assert_eq!(days(db, key, 0), [(0, 2, 2)]);
}

fn no_more_envelopes_are_counted_than_were_asked_for(db: &Fixture) {
    let key = &db.activate().id;
    (1..=5).for_each(|millis| sent(db, [key, key], millis));
    assert_eq!([2, 0, 2, 2].map(|limit| count(db, at(9), limit)), [2, 0, 2, 1]);
    assert_eq!(days(db, key, 0), [(0, 5, 5)]);
}

fn days_are_forgotten_the_oldest_first(db: &Fixture) {
    let key = &db.activate().id;
    for day in [3, 1, 2] {
        sent(db, [key, key], day * DAY);
    }
    // Ids are in the order of time, not of arrival: all of them are there before the first is counted.
    assert_eq!(count(db, at(9 * DAY), 99), 3);
    let purge =
        |before, limit| db.store().write(Relaxed, |tx| tx.purge_daily_counts(before, limit));
    assert_eq!(purge(at(2 * DAY - 1), 9).unwrap(), 0, "the first day has not ended");
    assert_eq!(purge(at(3 * DAY), 1).unwrap(), 1);
    assert_eq!(days(db, key, 0), [(2, 1, 1), (3, 1, 1)]);
    assert_eq!(purge(at(3 * DAY), 9).unwrap(), 1);
    assert_eq!(days(db, key, 0), [(3, 1, 1)]);
}
