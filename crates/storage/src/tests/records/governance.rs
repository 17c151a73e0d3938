//! Tests of governance decisions, and of the API keys that they affect.

use sealpost_domain::{
    ApiKey, DecisionId, GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStanding,
    GovernanceStatus, GovernanceSubject, PartnerId,
    ports::{Durability::Durable, FactsQuery, StoreError},
};

use crate::tests::fixture::{Fixture, at};

on_both!(
    a_decision_belongs_to_its_subject_only,
    a_decision_is_updated_with_its_author,
    a_lifted_decision_stays_as_history,
    a_lifted_decision_cannot_be_changed,
    a_key_is_affected_by_decisions_on_key_account_and_partner,
    leaving_a_partner_ends_its_suspension,
);

fn decision(
    subject: GovernanceSubject,
    status: GovernanceStatus,
    since: i64,
) -> GovernanceDecision {
    let kind = match subject {
        GovernanceSubject::Account(_) | GovernanceSubject::Key(_) => GovernanceKind::CouncilAction,
        GovernanceSubject::Partner(_) => GovernanceKind::PartnerSuspension,
    };
    let reason = GovernanceReason { kind, status, reason: format!("O'{since}"), since: at(since) };
    GovernanceDecision {
        id: DecisionId::new(at(since), [0; 10]),
        subject,
        reason,
        by: "root".to_owned(),
    }
}

fn insert(db: &Fixture, decisions: &[GovernanceDecision]) {
    db.write(Durable, |tx| decisions.iter().try_for_each(|one| tx.insert_decision(one))).unwrap();
}

fn update(db: &Fixture, decision: &GovernanceDecision) -> Result<(), StoreError> {
    db.write(Durable, |tx| tx.update_decision(decision))
}

fn open(db: &Fixture, subject: &GovernanceSubject) -> Vec<GovernanceDecision> {
    db.write(Durable, |tx| tx.open_decisions(subject)).unwrap()
}

/// Returns the standing of the key, which is the same for a caller and a recipient.
fn standing(db: &Fixture, key: &ApiKey) -> GovernanceStanding {
    let callers = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    let recipients = FactsQuery { recipients: vec![key.id], ..FactsQuery::default() };
    let [caller, recipient] = [callers, recipients].map(|wanted| {
        let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
        facts.keys[&key.id].standing.clone()
    });
    assert_eq!(caller.0, recipient.0);
    caller
}

fn acme() -> PartnerId {
    PartnerId::parse("acme").unwrap()
}

fn a_decision_belongs_to_its_subject_only(db: &Fixture) {
    let key = db.activate();
    let subjects = [
        GovernanceSubject::Key(key.id),
        GovernanceSubject::Account(key.account_id),
        GovernanceSubject::Partner(acme()),
    ];
    let decisions =
        [(0, 10), (1, 9), (2, 8)].map(|(n, since)| decision(subjects[n].clone(), PROPOSED, since));
    insert(db, &decisions);
    let second = decision(subjects[0].clone(), ENFORCED, 20);
    insert(db, std::slice::from_ref(&second));
    assert_eq!(open(db, &subjects[0]), [decisions[0].clone(), second]);
    assert_eq!(open(db, &subjects[1]), [decisions[1].clone()]);
    assert_eq!(open(db, &subjects[2]), [decisions[2].clone()]);
    assert_eq!(open(db, &GovernanceSubject::Key(db.activate().id)), []);
}

fn a_decision_is_updated_with_its_author(db: &Fixture) {
    let key = db.activate();
    let proposed = decision(GovernanceSubject::Key(key.id), PROPOSED, 5);
    let other = decision(GovernanceSubject::Key(key.id), PROPOSED, 6);
    insert(db, &[proposed.clone(), other.clone()]);
    assert!(!standing(db, &key).is_blocked());
    let mut enforced = GovernanceDecision { by: "council".to_owned(), ..proposed };
    enforced.reason = GovernanceReason {
        status: ENFORCED,
        reason: "proved".to_owned(),
        since: at(9),
        ..enforced.reason
    };
    update(db, &enforced).unwrap();
    assert_eq!(open(db, &enforced.subject), [other, enforced]);
    assert!(standing(db, &key).is_blocked());
}

fn a_lifted_decision_stays_as_history(db: &Fixture) {
    let key = db.activate();
    let mut one = decision(GovernanceSubject::Key(key.id), ENFORCED, 5);
    insert(db, std::slice::from_ref(&one));
    (one.reason.status, one.reason.since, one.by) = (LIFTED, at(8), "appeal".to_owned());
    update(db, &one).unwrap();
    assert_eq!(open(db, &one.subject), []);
    assert!(standing(db, &key).0.is_empty());
    assert_eq!(
        db.count("governance WHERE status = 'lifted' AND \"by\" = 'appeal' AND since = 8"),
        1
    );
}

fn a_lifted_decision_cannot_be_changed(db: &Fixture) {
    let mut one = decision(GovernanceSubject::Key(db.activate().id), LIFTED, 5);
    insert(db, std::slice::from_ref(&one));
    one.reason.status = ENFORCED;
    let moved = update(db, &one);
    assert!(matches!(moved, Err(StoreError::Contended(_))), "{moved:?}");
    assert_eq!(open(db, &one.subject), []);
}

fn a_key_is_affected_by_decisions_on_key_account_and_partner(db: &Fixture) {
    let (key, free) = (db.activate(), db.activate());
    db.write(Durable, |tx| tx.set_partner(&key.account_id, Some(&acme()))).unwrap();
    let decisions = [
        decision(GovernanceSubject::Key(key.id), PROPOSED, 1),
        decision(GovernanceSubject::Key(key.id), LIFTED, 2),
        decision(GovernanceSubject::Account(key.account_id), PROPOSED, 3),
        decision(GovernanceSubject::Partner(acme()), ENFORCED, 4),
    ];
    insert(db, &decisions);
    let reasons = [0, 2, 3].map(|n| decisions[n].reason.clone());
    assert_eq!(standing(db, &key).0, reasons);
    assert!(standing(db, &free).0.is_empty());
}

fn leaving_a_partner_ends_its_suspension(db: &Fixture) {
    let key = db.activate();
    insert(db, &[decision(GovernanceSubject::Partner(acme()), ENFORCED, 4)]);
    for (partner, is_blocked) in [(None, false), (Some(acme()), true), (None, false)] {
        db.write(Durable, |tx| tx.set_partner(&key.account_id, partner.as_ref())).unwrap();
        assert_eq!(standing(db, &key).is_blocked(), is_blocked);
    }
}

const ENFORCED: GovernanceStatus = GovernanceStatus::Enforced;
const LIFTED: GovernanceStatus = GovernanceStatus::Lifted;
const PROPOSED: GovernanceStatus = GovernanceStatus::Proposed;
