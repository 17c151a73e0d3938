//! The cache of facts, and the lock on all facts.

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

use crate::{
    Database,
    tests::fixture::{FAILING_MAX, Fixture, at, claim_of, result_of, retried, token, webhook},
};

on_both!(
    a_batch_uses_cached_facts,
    a_new_connection_clears_the_cache,
    a_change_on_another_node_invalidates_the_cache,
    a_missing_facts_version_is_an_error,
    every_change_is_seen_by_the_next_batch,
    other_changes_keep_the_facts_version,
    a_rollback_keeps_the_facts_version,
    a_change_waits_for_the_batches_that_rely_on_the_facts,
    facts_do_not_change_during_a_batch,
    changes_of_usage_and_facts_do_not_deadlock_with_batches,
);

/// A key that sends to itself, with session, handle, webhook and partner.
struct Participant {
    wanted: FactsQuery,
    owner: HandleOwner,
    session: Session,
    handle: Handle,
    webhook: Webhook,
}

impl Participant {
    fn of(db: &Fixture) -> Self {
        let (wanted, owner, session, handle) = Self::create(db);
        let webhook = db.register(&owner.api_key_id);
        Self { wanted, owner, session, handle, webhook }
    }

    fn create(db: &Fixture) -> (FactsQuery, HandleOwner, Session, Handle) {
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

    fn read_in_batch(&self, db: &Fixture) -> AdmissionFacts {
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

/// Opens all connections of the pool at once, so that none is opened later.
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

fn a_batch_uses_cached_facts(db: &Fixture) {
    open_every_connection(db);
    let party = Participant::of(db);
    let before = party.read_in_batch(db);
    assert_eq!(before, party.read(db));
    // Restores the version, as if no fact had changed.
    db.execute("CREATE TABLE kept AS SELECT stamp FROM facts_stamp").unwrap();
    db.execute("UPDATE api_keys SET status = 'rotating'; DELETE FROM sessions").unwrap();
    db.execute("DELETE FROM webhooks").unwrap();
    db.execute("UPDATE facts_stamp SET stamp = (SELECT stamp FROM kept)").unwrap();
    assert_eq!(party.read_in_batch(db), before);
    db.execute("UPDATE facts_stamp SET stamp = 'another'").unwrap();
    assert_eq!(party.read_in_batch(db), party.read(db));
}

fn a_new_connection_clears_the_cache(db: &Fixture) {
    let party = Participant::of(db);
    party.read_in_batch(db);
    db.execute("CREATE TABLE kept AS SELECT stamp FROM facts_stamp").unwrap();
    db.execute("DELETE FROM sessions").unwrap();
    db.execute("UPDATE facts_stamp SET stamp = (SELECT stamp FROM kept)").unwrap();
    // At least one of these connections is new.
    open_every_connection(db);
    assert!(party.read_in_batch(db).sessions.is_empty());
}

fn a_change_on_another_node_invalidates_the_cache(db: &Fixture) {
    let other = Database::open(&db.url, db.settings).unwrap();
    let other: &dyn Store = &other;
    let party = Participant::of(db);
    for _ in 0..2 {
        assert_eq!(party.read_in_batch(db).sessions.len(), 1);
        other.write(Durable, |tx| tx.delete_session(&party.session.token)).unwrap();
        assert!(party.read_in_batch(db).sessions.is_empty());
        other.write(Durable, |tx| tx.insert_session(&party.session)).unwrap();
    }
}

/// Without a version, changes cannot be detected.
fn a_missing_facts_version_is_an_error(db: &Fixture) {
    let party = Participant::of(db);
    party.read_in_batch(db);
    db.execute("DELETE FROM facts_stamp").unwrap();
    let batch = db.store().write(Durable, |tx| tx.lock_batch_facts(&party.wanted));
    assert!(batch.is_err(), "{batch:?}");
    assert!(db.execute("INSERT INTO facts_stamp (id, stamp) VALUES (2, 'a')").is_err());
    db.execute("INSERT INTO facts_stamp (stamp) VALUES ('a')").unwrap();
    assert!(db.execute("INSERT INTO facts_stamp (stamp) VALUES ('b')").is_err());
    assert_eq!(party.read_in_batch(db), party.read(db));
}

type Change = (&'static str, fn(&mut dyn Tx, &Participant) -> Result<(), StoreError>);

/// A change of each fact, in an order in which each has an effect.
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
        let key = crate::tests::fixture::key(&it.owner.account_id);
        tx.insert_key(&key)?;
        tx.assign_handle(&it.handle, &HandleOwner { api_key_id: key.id, ..it.owner })
    }),
    ("revoked", |tx, it| tx.revoke_key(&it.owner.api_key_id).map(drop)),
    ("session deleted", |tx, it| tx.delete_session(&it.session.token)),
    ("all sessions deleted", |tx, it| {
        tx.insert_session(&it.session)?;
        tx.delete_sessions_of(&it.owner.account_id)
    }),
];

fn every_change_is_seen_by_the_next_batch(db: &Fixture) {
    let party = Participant::of(db);
    let mut before = party.read_in_batch(db);
    for (name, change) in CHANGES {
        db.store().write(Durable, |tx| change(tx, &party)).unwrap();
        let after = party.read_in_batch(db);
        assert_eq!(after, party.read(db), "{name}");
        if name != "all sessions deleted" {
            assert_ne!(after, before, "{name}");
        }
        before = after;
    }
    disabling_and_enabling_is_seen(db);
}

fn disabling_and_enabling_is_seen(db: &Fixture) {
    let party = Participant::of(db);
    let enabled = || {
        let facts = party.read_in_batch(db);
        assert_eq!(facts, party.read(db));
        facts.webhooks[&party.owner.api_key_id].enabled.len()
    };
    assert_eq!(enabled(), 1);
    db.send(&party.webhook, 1);
    let held = db.claim(&claim_of(2000, 1, LeaseToken(1))).unwrap();
    db.settle(&[result_of(&held[0], 2001, Outcome::Gone)], FAILING_MAX).unwrap();
    assert_eq!(enabled(), 0);
    db.store().write(Durable, |tx| tx.enable_webhook(&party.webhook.id)).unwrap();
    assert_eq!(enabled(), 1);
}

fn other_changes_keep_the_facts_version(db: &Fixture) {
    let party = Participant::of(db);
    let before = version(db);
    let usage = party.read_in_batch(db).usage.into_iter().collect();
    db.apply(&WriteSet { usage, ..WriteSet::default() });
    Participant::create(db);
    db.send(&party.webhook, 2);
    let held = db.claim(&claim_of(2000, 2, LeaseToken(1))).unwrap();
    let failed = Outcome::Retry { failure: AttemptFailure::Connect, due_at: at(9000) };
    let ends = [result_of(&held[0], 2001, Outcome::Succeeded), result_of(&held[1], 2002, failed)];
    db.settle(&ends, FAILING_MAX).unwrap();
    assert_eq!(version(db), before);
}

fn a_rollback_keeps_the_facts_version(db: &Fixture) {
    let party = Participant::of(db);
    let before = (party.read_in_batch(db), version(db));
    let mut tx = db.begin(Durable).unwrap();
    tx.revoke_key(&party.owner.api_key_id).unwrap();
    drop(tx);
    assert_eq!((party.read_in_batch(db), version(db)), before);
}

fn a_change_waits_for_the_batches_that_rely_on_the_facts(db: &Fixture) {
    for place in [8, 13, 19, 20] {
        let (name, change) = CHANGES[place];
        let party = Participant::of(db);
        let other = Participant::of(db);
        let is_changed = AtomicBool::new(false);
        thread::scope(|scope| {
            let batch = db.standing_batch(&other.wanted);
            scope.spawn(|| {
                db.change(|tx| change(tx, &party)).unwrap();
                is_changed.store(true, Ordering::SeqCst);
            });
            thread::sleep(PAUSE);
            assert!(!is_changed.load(Ordering::SeqCst), "{name}");
            batch.commit().unwrap();
        });
        assert!(is_changed.load(Ordering::SeqCst));
        db.execute("DELETE FROM governance").unwrap();
    }
}

fn facts_do_not_change_during_a_batch(db: &Fixture) {
    let party = Participant::of(db);
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

fn changes_of_usage_and_facts_do_not_deadlock_with_batches(db: &Fixture) {
    let parties = [Participant::of(db), Participant::of(db)];
    thread::scope(|scope| {
        for turn in 0..4 {
            let party = &parties[turn % 2];
            scope.spawn(move || {
                for _ in 0..20 {
                    let webhook = webhook(&party.owner.api_key_id);
                    // No retry after contention, because a retry would hide a deadlock.
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

fn version(db: &Fixture) -> String {
    let version = sql::<Text>("(SELECT stamp FROM facts_stamp)");
    diesel::select(version).get_result(&mut db.raw()).unwrap()
}

fn acme() -> PartnerId {
    PartnerId::parse("acme").unwrap()
}

/// Long enough for a transaction that does not wait to finish.
const PAUSE: Duration = Duration::from_millis(150);
