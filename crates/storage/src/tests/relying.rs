//! What batches remember, and who waits for whom when it changes.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use diesel::{RunQueryDsl, dsl::sql, sql_types::Text};
use sealpost_domain::{
    AttemptFailure, DecisionId, EnterpriseTerms, GovernanceDecision, GovernanceKind,
    GovernanceReason, GovernanceStatus, GovernanceSubject, Handle, KeyStatus, LeaseToken, Outcome,
    PartnerId, Plan, RetiringSecret, Session, Webhook, Wrapped,
    ports::{
        AdmissionFacts, Durability::Durable, FactsQuery, HandleOwner, Outbox, Store, StoreError,
        Tx, WriteSet,
    },
};

use super::fixture::{FAILING_MAX, Fixture, at, claim_of, retried, settlement, token, webhook};
use crate::Database;

on_both!(
    a_batch_remembers_what_has_not_changed,
    a_new_connection_forgets,
    a_change_on_another_node_is_seen,
    without_a_stamp_nothing_is_decided,
    every_change_is_seen_by_the_next_batch,
    what_is_no_fact_changes_nothing,
    what_was_taken_back_has_changed_nothing,
    a_change_waits_for_the_batches_that_rely_on_the_facts,
    nothing_changes_while_a_batch_relies_on_it,
    who_counts_usage_and_changes_facts_never_waits_in_a_circle_with_batches,
);

/// A key that sends to itself, under a session, with a handle and a webhook, from an account of a partner.
struct Party {
    wanted: FactsQuery,
    owner: HandleOwner,
    session: Session,
    handle: Handle,
    webhook: Webhook,
}

impl Party {
    fn of(db: &Fixture) -> Self {
        let (wanted, owner, session, handle) = Self::that_is_new(db);
        let webhook = db.register(&owner.api_key_id);
        Self { wanted, owner, session, handle, webhook }
    }

    fn that_is_new(db: &Fixture) -> (FactsQuery, HandleOwner, Session, Handle) {
        let key = db.activate();
        let (account_id, api_key_id) = (key.account_id, key.id);
        let session = Session { token: token(), account_id, expires_at: at(i64::MAX) };
        let handle = Handle::parse(&api_key_id.to_string().replace('_', "-")).unwrap();
        let owner = HandleOwner { account_id, api_key_id };
        db.store()
            .write(Durable, |tx| {
                tx.insert_session(&session)?;
                tx.assign_handle(&handle, &owner)
            })
            .unwrap();
        let wanted = FactsQuery {
            sessions: vec![session.token],
            callers: vec![api_key_id],
            recipients: vec![api_key_id],
            idempotency: vec![],
        };
        (wanted, owner, session, handle)
    }

    fn read(&self, db: &Fixture) -> AdmissionFacts {
        db.store().write(Durable, |tx| tx.lock_facts(&self.wanted)).unwrap()
    }

    fn relied_on(&self, db: &Fixture) -> AdmissionFacts {
        db.store().write(Durable, |tx| tx.lock_batch_facts(&self.wanted)).unwrap()
    }
}

fn decision(subject: GovernanceSubject) -> GovernanceDecision {
    let reason = GovernanceReason {
        kind: GovernanceKind::CouncilAction,
        status: GovernanceStatus::Enforced,
        reason: "spam".to_owned(),
        since: at(5),
    };
    let id = DecisionId::new(at(6), [9; 10]);
    GovernanceDecision { id, subject, reason, by: "root".to_owned() }
}

/// As many as the pool may have, all in use at once, so that no other is opened later.
fn open_every_connection(db: &Fixture) {
    let all = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                db.read(|conn| {
                    all.wait();
                    Ok(diesel::sql_query("SELECT 1").execute(conn).map(drop)?)
                })
                .unwrap();
            });
        }
    });
}

fn a_batch_remembers_what_has_not_changed(db: &Fixture) {
    open_every_connection(db);
    let party = Party::of(db);
    let before = party.relied_on(db);
    assert_eq!(before, party.read(db));
    // As if nobody had changed anything, which only the stamp tells.
    db.execute("CREATE TABLE kept AS SELECT stamp FROM facts_stamp").unwrap();
    db.execute("UPDATE api_keys SET status = 'rotating'; DELETE FROM sessions").unwrap();
    db.execute("DELETE FROM webhooks").unwrap();
    db.execute("UPDATE facts_stamp SET stamp = (SELECT stamp FROM kept)").unwrap();
    assert_eq!(party.relied_on(db), before);
    db.execute("UPDATE facts_stamp SET stamp = 'another'").unwrap();
    assert_eq!(party.relied_on(db), party.read(db));
}

fn a_new_connection_forgets(db: &Fixture) {
    let party = Party::of(db);
    party.relied_on(db);
    db.execute("CREATE TABLE kept AS SELECT stamp FROM facts_stamp").unwrap();
    db.execute("DELETE FROM sessions").unwrap();
    db.execute("UPDATE facts_stamp SET stamp = (SELECT stamp FROM kept)").unwrap();
    // One of them at least is new.
    open_every_connection(db);
    assert!(party.relied_on(db).sessions.is_empty());
}

fn a_change_on_another_node_is_seen(db: &Fixture) {
    let other = Database::open(&db.url, db.settings).unwrap();
    let other: &dyn Store = &other;
    let party = Party::of(db);
    for _ in 0..2 {
        assert_eq!(party.relied_on(db).sessions.len(), 1);
        other.write(Durable, |tx| tx.delete_session(&party.session.token)).unwrap();
        assert!(party.relied_on(db).sessions.is_empty());
        other.write(Durable, |tx| tx.insert_session(&party.session)).unwrap();
    }
}

/// Nobody could tell any more whether anything has changed.
fn without_a_stamp_nothing_is_decided(db: &Fixture) {
    let party = Party::of(db);
    party.relied_on(db);
    db.execute("DELETE FROM facts_stamp").unwrap();
    let batch = db.store().write(Durable, |tx| tx.lock_batch_facts(&party.wanted));
    assert!(batch.is_err(), "{batch:?}");
    assert!(db.execute("INSERT INTO facts_stamp (id, stamp) VALUES (2, 'a')").is_err());
    db.execute("INSERT INTO facts_stamp (stamp) VALUES ('a')").unwrap();
    assert!(db.execute("INSERT INTO facts_stamp (stamp) VALUES ('b')").is_err());
    assert_eq!(party.relied_on(db), party.read(db));
}

type Change = (&'static str, fn(&mut dyn Tx, &Party) -> Result<(), StoreError>);

/// All that a batch is decided on, in an order in which each changes something.
const CHANGES: [Change; 22] = [
    ("rotating", |tx, it| tx.set_status(&it.owner.api_key_id, KeyStatus::Rotating)),
    ("sealing version", |tx, it| tx.set_sealing_version(&it.owner.api_key_id, 2)),
    ("plan", |tx, it| tx.set_plan(&it.owner.api_key_id, &Plan::Sovereign)),
    ("enterprise", |tx, it| tx.set_plan(&it.owner.api_key_id, &enterprise([1, 1, 1, 1], false))),
    ("a minute", |tx, it| tx.set_plan(&it.owner.api_key_id, &enterprise([2, 1, 1, 1], false))),
    ("a day and a month", |tx, it| {
        tx.set_plan(&it.owner.api_key_id, &enterprise([2, 2, 2, 1], false))
    }),
    ("a second", |tx, it| tx.set_plan(&it.owner.api_key_id, &enterprise([2, 2, 2, 2], false))),
    ("overage", |tx, it| tx.set_plan(&it.owner.api_key_id, &enterprise([2, 2, 2, 2], true))),
    ("partner", |tx, it| {
        tx.insert_decision(&decision(GovernanceSubject::Partner(acme())))?;
        tx.set_partner(&it.owner.account_id, Some(&acme())).map(drop)
    }),
    ("no partner", |tx, it| tx.set_partner(&it.owner.account_id, None).map(drop)),
    ("suspension again", |tx, it| tx.set_partner(&it.owner.account_id, Some(&acme())).map(drop)),
    ("lifted", |tx, _| {
        let mut decision = decision(GovernanceSubject::Partner(acme()));
        decision.reason.status = GovernanceStatus::Lifted;
        tx.update_decision(&decision)
    }),
    ("decision on the key", |tx, it| {
        let decision = decision(GovernanceSubject::Key(it.owner.api_key_id));
        tx.insert_decision(&GovernanceDecision { id: DecisionId::new(at(7), [1; 10]), ..decision })
    }),
    ("one more webhook", |tx, it| tx.insert_webhook(&webhook(&it.owner.api_key_id))),
    ("secrets", |tx, it| {
        let old = RetiringSecret { secret: it.webhook.secret.clone(), until: at(900) };
        tx.set_secrets(&it.webhook.id, &Wrapped(vec![8; 40]), &[old])
    }),
    ("re-encrypted", |tx, it| {
        let old = &it.webhook.secret;
        tx.replace_secret(&it.webhook.id, old, &Wrapped(vec![7; 40])).map(drop)
    }),
    ("retired", |tx, _| tx.purge_retired_secrets(at(901), 9).map(drop)),
    ("no webhook", |tx, it| tx.delete_webhook(&it.owner.api_key_id, &it.webhook.id).map(drop)),
    ("handle", |tx, it| {
        let key = super::fixture::key(&it.owner.account_id);
        tx.insert_key(&key)?;
        tx.assign_handle(&it.handle, &HandleOwner { api_key_id: key.id, ..it.owner })
    }),
    ("revoked", |tx, it| tx.revoke_key(&it.owner.api_key_id).map(drop)),
    ("logged out", |tx, it| tx.delete_session(&it.session.token)),
    ("everybody logged out", |tx, it| {
        tx.insert_session(&it.session)?;
        tx.delete_sessions_of(&it.owner.account_id)
    }),
];

fn every_change_is_seen_by_the_next_batch(db: &Fixture) {
    let party = Party::of(db);
    let mut before = party.relied_on(db);
    for (what, change) in CHANGES {
        db.store().write(Durable, |tx| change(tx, &party)).unwrap();
        let after = party.relied_on(db);
        assert_eq!(after, party.read(db), "{what}");
        if what != "everybody logged out" {
            assert_ne!(after, before, "{what}");
        }
        before = after;
    }
    disabling_and_enabling_is_seen(db);
}

fn disabling_and_enabling_is_seen(db: &Fixture) {
    let party = Party::of(db);
    let relied_on = || {
        let facts = party.relied_on(db);
        assert_eq!(facts, party.read(db));
        facts.webhooks[&party.owner.api_key_id].enabled.len()
    };
    assert_eq!(relied_on(), 1);
    db.send(&party.webhook, 1);
    let held = db.claim(&claim_of(2000, 1, LeaseToken(1))).unwrap();
    db.settle(&[settlement(&held[0], 2001, Outcome::Gone)], FAILING_MAX).unwrap();
    assert_eq!(relied_on(), 0);
    db.store().write(Durable, |tx| tx.enable_webhook(&party.webhook.id)).unwrap();
    assert_eq!(relied_on(), 1);
}

fn what_is_no_fact_changes_nothing(db: &Fixture) {
    let party = Party::of(db);
    let before = stamp(db);
    let usage = party.relied_on(db).usage.into_iter().collect();
    db.apply(&WriteSet { usage, ..WriteSet::default() });
    Party::that_is_new(db);
    db.send(&party.webhook, 2);
    let held = db.claim(&claim_of(2000, 2, LeaseToken(1))).unwrap();
    let failed = Outcome::Retry { failure: AttemptFailure::Connect, due_at: at(9000) };
    let ends = [settlement(&held[0], 2001, Outcome::Succeeded), settlement(&held[1], 2002, failed)];
    db.settle(&ends, FAILING_MAX).unwrap();
    assert_eq!(stamp(db), before);
}

fn what_was_taken_back_has_changed_nothing(db: &Fixture) {
    let party = Party::of(db);
    let before = (party.relied_on(db), stamp(db));
    let mut tx = db.begin(Durable).unwrap();
    tx.revoke_key(&party.owner.api_key_id).unwrap();
    drop(tx);
    assert_eq!((party.relied_on(db), stamp(db)), before);
}

fn a_change_waits_for_the_batches_that_rely_on_the_facts(db: &Fixture) {
    for place in [8, 13, 19, 20] {
        let (what, change) = CHANGES[place];
        let party = Party::of(db);
        let other = Party::of(db);
        let is_changed = AtomicBool::new(false);
        thread::scope(|scope| {
            let batch = db.standing_batch(&other.wanted);
            scope.spawn(|| {
                db.change(|tx| change(tx, &party)).unwrap();
                is_changed.store(true, Ordering::SeqCst);
            });
            thread::sleep(PAUSE);
            assert!(!is_changed.load(Ordering::SeqCst), "{what}");
            batch.commit().unwrap();
        });
        assert!(is_changed.load(Ordering::SeqCst));
        db.execute("DELETE FROM governance").unwrap();
    }
}

fn nothing_changes_while_a_batch_relies_on_it(db: &Fixture) {
    let party = Party::of(db);
    let id = party.owner.api_key_id;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..40 {
                let status =
                    if round % 2 == 0 { KeyStatus::Deactivated } else { KeyStatus::Active };
                db.change(|tx| {
                    tx.lock_key(&id)?;
                    tx.set_status(&id, status)
                })
                .unwrap();
            }
            is_over.store(true, Ordering::SeqCst);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let look = || {
                        let mut tx = db.begin(Durable)?;
                        let known = tx.lock_batch_facts(&party.wanted)?.keys[&id].status;
                        Ok((known, tx.find_key(&id)?.unwrap().status))
                    };
                    let (known, stored) = retried(look).unwrap();
                    assert_eq!(known, stored);
                }
            });
        }
    });
}

fn who_counts_usage_and_changes_facts_never_waits_in_a_circle_with_batches(db: &Fixture) {
    let parties = [Party::of(db), Party::of(db)];
    thread::scope(|scope| {
        for turn in 0..4 {
            let party = &parties[turn % 2];
            scope.spawn(move || {
                for _ in 0..20 {
                    let webhook = webhook(&party.owner.api_key_id);
                    // Whoever begins a transaction anew where it was contended would hide a circle.
                    let count = || {
                        let mut tx = db.begin(Durable)?;
                        let usage = if turn < 2 {
                            tx.lock_facts(&party.wanted)?.usage
                        } else {
                            tx.lock_batch_facts(&party.wanted)?.usage
                        };
                        let usage = usage.into_iter().collect();
                        tx.apply(&WriteSet { usage, ..WriteSet::default() })?;
                        if turn < 2 {
                            tx.insert_webhook(&webhook)?;
                        }
                        tx.commit()
                    };
                    retried(count).unwrap();
                }
            });
        }
    });
}

fn enterprise([per_minute, per_day, per_month, per_second]: [u32; 4], allow_overage: bool) -> Plan {
    Plan::Enterprise(EnterpriseTerms { per_minute, per_day, per_month, per_second, allow_overage })
}

fn stamp(db: &Fixture) -> String {
    let stamp = sql::<Text>("(SELECT stamp FROM facts_stamp)");
    diesel::select(stamp).get_result(&mut db.raw()).unwrap()
}

fn acme() -> PartnerId {
    PartnerId::parse("acme").unwrap()
}

/// Long enough that whoever does not wait would be through.
const PAUSE: Duration = Duration::from_millis(150);
