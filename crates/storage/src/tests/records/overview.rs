//! Tests the keys, sessions and deliveries that the owner of an account sees.

use sealpost_domain::{
    DecisionId, GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStatus,
    GovernanceSubject, PartnerId, Session, ports::Durability::Durable,
};

use crate::tests::fixture::{Fixture, account, at, open_session, token};

on_both!(
    an_owner_sees_the_keys_of_the_account_and_no_others,
    an_owner_sees_decisions_on_key_account_and_partner,
    an_owner_sees_the_live_sessions_that_last_longest_first,
    an_owner_sees_the_number_of_pending_deliveries,
    an_owner_sees_unhealthy_webhooks_longest_failing_first,
);

fn an_owner_sees_the_keys_of_the_account_and_no_others(db: &Fixture) {
    let oldest = db.activate();
    let revoked = db.activate_beside(&oldest);
    let newest = db.activate_beside(&oldest);
    db.activate();
    db.register(&newest.id);
    db.register(&newest.id);
    db.write(Durable, |tx| tx.revoke_key(&revoked.id, at(9))).unwrap();
    let seen = |limit| {
        let mut owner = db.reader();
        let keys = owner.keys_of(&oldest.account_id, limit, at(0), 9).unwrap();
        keys.iter().map(|seen| (seen.key.id, seen.webhooks)).collect::<Vec<_>>()
    };
    assert_eq!(seen(9), [(newest.id, 2), (oldest.id, 0), (revoked.id, 0)]);
    assert_eq!(seen(1), [(newest.id, 2)]);
    assert!(db.read(|reader| reader.keys_of(&account().id, 9, at(0), 9)).unwrap().is_empty());
}

fn an_owner_sees_decisions_on_key_account_and_partner(db: &Fixture) {
    let (key, partner) = (db.activate(), PartnerId::parse("acme").unwrap());
    let other = db.activate_beside(&key);
    let subjects = [
        GovernanceSubject::Key(key.id),
        GovernanceSubject::Account(key.account_id),
        GovernanceSubject::Partner(partner.clone()),
    ];
    db.write(Durable, |tx| {
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
    let keys = db.read(|reader| reader.keys_of(&key.account_id, 9, at(0), 9)).unwrap();
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
    db.write(Durable, |tx| sessions.iter().try_for_each(|session| open_session(tx, session)))
        .unwrap();
    let seen = |limit| {
        let seen = db.read(|reader| reader.sessions_of(&mine, at(4), limit)).unwrap();
        seen.into_iter().map(|details| details.session).collect::<Vec<_>>()
    };
    assert_eq!(seen(9), [sessions[1].clone(), sessions[0].clone()]);
    assert_eq!(seen(1), [sessions[1].clone()]);
}

fn an_owner_sees_the_number_of_pending_deliveries(db: &Fixture) {
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
    let waiting = |limit| db.read(|reader| reader.count_pending(&key.id, at(0), limit)).unwrap();
    assert_eq!([9, 2, 1, 0].map(waiting), [2, 2, 1, 0], "the limit is respected");
}

fn an_owner_sees_unhealthy_webhooks_longest_failing_first(db: &Fixture) {
    let key = db.activate();
    let second = db.activate_beside(&key);
    let stranger = db.register(&db.activate().id);
    let (healthy, disabled) = (db.register(&key.id), db.register(&key.id));
    let (failing, failed_before) = (db.register(&key.id), db.register(&second.id));
    for (webhook, change) in [
        (&stranger, "failing_since = 1"),
        (&disabled, "status = 'disabled'"),
        (&failing, "failing_since = 7"),
        (&failed_before, "failing_since = 5"),
    ] {
        db.execute(&format!("UPDATE webhooks SET {change} WHERE id = '{}'", webhook.id)).unwrap();
    }
    let seen = |limit| {
        let mut owner = db.reader();
        let webhooks = owner.unhealthy_webhooks(&key.account_id, limit).unwrap();
        webhooks.into_iter().map(|webhook| webhook.id).collect::<Vec<_>>()
    };
    assert_eq!(seen(9), [failed_before.id, failing.id, disabled.id]);
    assert_eq!(seen(1), [failed_before.id]);
    assert!(!seen(9).contains(&healthy.id));
    // Another node can have recorded a success that is not in the row.
    db.execute(&format!(
        "INSERT INTO attempts (at, attempt, duration_ms, outcome, webhook_id, envelope_id)
        VALUES (6, 1, 1, 'succeeded', '{}', 'env_1'), (6, 1, 1, 'succeeded', '{}', 'env_2')",
        failing.id, failed_before.id
    ))
    .unwrap();
    assert_eq!(seen(9), [failing.id, disabled.id], "it succeeded after its failure");
    assert_eq!(seen(1), [failing.id]);
    db.execute(&format!(
        "UPDATE webhooks SET status = 'disabled' WHERE id = '{}'",
        failed_before.id
    ))
    .unwrap();
    assert_eq!(seen(9), [failing.id, failed_before.id, disabled.id], "failing ones come first");
}
