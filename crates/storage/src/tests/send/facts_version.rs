//! Tests facts, the rows that decide whether a send is admitted. Some facts are cached by API key. A change of cached
//! facts replaces the version number of their key, so that the next send reads the facts again. The tests also change
//! facts while sends run.

use std::{
    collections::BTreeMap,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use diesel::RunQueryDsl;
use sealpost_domain::{
    AttemptFailure, DecisionId, Description, EnterpriseTerms, GovernanceDecision, GovernanceKind,
    GovernanceReason, GovernanceStatus, GovernanceSubject, Handle, KeyStatus, LeaseToken, Outcome,
    PartnerId, Plan, RetiringSecret, Session, Webhook, Wrapped,
    ports::{
        AdmissionFacts, Durability::Durable, FactsQuery, HandleOwner, Outbox, RecipientWebhooks,
        StoreError, WriteSet,
    },
};

use crate::{
    Database,
    connection::transaction::Transaction,
    schema::facts_versions,
    tests::fixture::{
        FAILING_MAX, Fixture, at, claim_of, open_session, result_of, retried, token, webhook,
    },
};

on_both!(
    unchanged_facts_come_from_the_cache,
    a_new_connection_clears_the_cache,
    a_change_replaces_the_version_of_its_key_alone,
    other_changes_keep_the_versions,
    a_change_on_one_node_is_seen_by_the_next_send_on_another,
    disabling_and_enabling_is_seen_by_the_next_send,
    a_rollback_has_no_effect,
    a_key_does_not_change_while_its_sends_are_decided,
    changes_of_usage_and_facts_do_not_deadlock_with_batches,
);

/// An API key that sends to itself, with a session, a handle, a webhook and a partner.
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
        db.write(Durable, |tx| {
            open_session(tx, &session)?;
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

    fn read(&self, store: &Database) -> AdmissionFacts {
        store.write(Durable, |tx| tx.lock_facts(&self.wanted)).unwrap()
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

/// Opens all connections of the pool at once, so that no connection is opened later.
fn open_every_connection(db: &Fixture) {
    let count = db.readers_max();
    let all = Barrier::new(count);
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                db.look_up(|conn| {
                    all.wait();
                    Ok(diesel::sql_query("SELECT 1").execute(conn).map(drop)?)
                })
                .unwrap();
            });
        }
    });
}

type Change = (&'static str, fn(&mut Transaction, &Participant) -> Result<(), StoreError>);

/// Named changes of facts. Each change has an effect if all are made in this order.
const CHANGES: [Change; 25] = [
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
    ("webhook URL", |tx, it| {
        let url = "https://new.test/".to_owned();
        tx.update_webhook(&Webhook { url, ..it.webhook.clone() })
    }),
    ("webhook events", |tx, it| {
        tx.update_webhook(&Webhook { events: vec![], ..it.webhook.clone() })
    }),
    ("paused", |tx, it| tx.update_webhook(&Webhook { paused: true, ..it.webhook.clone() })),
    ("secrets", |tx, it| {
        let old = RetiringSecret { secret: it.webhook.secret.clone(), until: at(900) };
        tx.set_secrets(&it.webhook.id, &Wrapped(vec![8; 40]), &[old])
    }),
    ("re-encrypted", |tx, it| {
        let old = &it.webhook.secret;
        tx.replace_secret(&it.webhook.id, old, &Wrapped(vec![7; 40])).map(drop)
    }),
    ("retired", |tx, _| tx.purge_retired_secrets(at(901), 9).map(drop)),
    ("no webhook", |tx, it| {
        tx.delete_webhook(&it.owner.api_key_id, &it.webhook.id, at(9)).map(drop)
    }),
    ("handle", |tx, it| {
        let key = crate::tests::fixture::key(&it.owner.account_id);
        tx.insert_key(&key)?;
        tx.assign_handle(&it.handle, &HandleOwner { api_key_id: key.id, ..it.owner })
    }),
    ("revoked", |tx, it| tx.revoke_key(&it.owner.api_key_id, at(9)).map(drop)),
    ("session deleted", |tx, it| tx.delete_session(&it.session.token)),
    ("all sessions deleted", |tx, it| {
        open_session(tx, &it.session)?;
        tx.delete_sessions_of(&it.owner.account_id)
    }),
];

/// Changes rows and restores the facts versions. The cache then does not notice the change.
fn change_without_versions(db: &Fixture, change: &str) {
    db.execute("CREATE TABLE kept AS SELECT * FROM facts_versions").unwrap();
    db.execute(change).unwrap();
    db.execute("DELETE FROM facts_versions").unwrap();
    db.execute("INSERT INTO facts_versions SELECT * FROM kept").unwrap();
    db.execute("DROP TABLE kept").unwrap();
}

fn unchanged_facts_come_from_the_cache(db: &Fixture) {
    open_every_connection(db);
    let party = Participant::of(db);
    let before = party.read(db);
    let change = "UPDATE api_keys SET status = 'rotating'; DELETE FROM webhooks";
    change_without_versions(db, change);
    assert_eq!(party.read(db), before);
    db.execute("UPDATE facts_versions SET version = 7").unwrap();
    let after = party.read(db);
    let id = party.owner.api_key_id;
    assert_eq!(after.keys[&id].status, KeyStatus::Rotating);
    assert!(enabled_count(&after.webhooks[&id]) == 0);
}

fn a_new_connection_clears_the_cache(db: &Fixture) {
    let party = Participant::of(db);
    party.read(db);
    change_without_versions(db, "DELETE FROM webhooks");
    // At least one of these connections is new, so the cache is cleared.
    open_every_connection(db);
    let facts = party.read(db);
    assert_eq!(enabled_count(&facts.webhooks[&party.owner.api_key_id]), 0);
}

/// Returns the facts version of each API key, by the id of the key.
fn versions(db: &Fixture) -> BTreeMap<String, i64> {
    let rows = facts_versions::table.load(&mut db.raw());
    rows.unwrap().into_iter().collect()
}

fn a_change_replaces_the_version_of_its_key_alone(db: &Fixture) {
    let (party, other) = (Participant::of(db), Participant::of(db));
    let id = party.owner.api_key_id.to_string();
    let mut before = versions(db);
    for (name, change) in CHANGES {
        db.write(Durable, |tx| change(tx, &party)).unwrap();
        let after = versions(db);
        let is_cached = !UNCACHED.contains(&name);
        assert_eq!(after[&id] != before[&id], is_cached, "{name}");
        let of_other = other.owner.api_key_id.to_string();
        assert_eq!(after[&of_other], before[&of_other], "{name}");
        before = after;
    }
}

/// Names of changes that affect only sessions, partners and decisions. These facts are not cached by key, so the
/// changes keep the facts versions.
const UNCACHED: [&str; 7] = [
    "partner",
    "no partner",
    "suspension again",
    "lifted",
    "decision on the key",
    "session deleted",
    "all sessions deleted",
];

fn other_changes_keep_the_versions(db: &Fixture) {
    let party = Participant::of(db);
    let before = versions(db);
    let usage = party.read(db).usage.into_iter().collect();
    db.apply(&WriteSet { usage, ..WriteSet::default() });
    db.activate();
    db.send(&party.webhook, 2);
    let held = db.claim(&claim_of(2000, 2, LeaseToken(1))).unwrap();
    let failed = Outcome::Retry { failure: AttemptFailure::Connect, due_at: at(9000) };
    let ends = [result_of(&held[0], 2001, Outcome::Succeeded), result_of(&held[1], 2002, failed)];
    db.record_outcomes(&ends, FAILING_MAX).unwrap();
    let description = Description::parse("orders").unwrap();
    let described = Webhook { description, ..party.webhook.clone() };
    db.write(Durable, |tx| tx.update_webhook(&described)).unwrap();
    assert_eq!(versions(db), before);
}

fn a_change_on_one_node_is_seen_by_the_next_send_on_another(db: &Fixture) {
    let other = Database::open(&db.url, db.settings).unwrap();
    let party = Participant::of(db);
    let mut before = party.read(&other);
    for (name, change) in CHANGES {
        db.write(Durable, |tx| change(tx, &party)).unwrap();
        let after = party.read(&other);
        assert_eq!(after, party.read(db), "{name}");
        if name != "all sessions deleted" {
            assert_ne!(after, before, "{name}");
        }
        before = after;
    }
}

fn disabling_and_enabling_is_seen_by_the_next_send(db: &Fixture) {
    let other = Database::open(&db.url, db.settings).unwrap();
    let party = Participant::of(db);
    let enabled = || {
        let facts = party.read(&other);
        enabled_count(&facts.webhooks[&party.owner.api_key_id])
    };
    assert_eq!(enabled(), 1);
    db.send(&party.webhook, 1);
    let held = db.claim(&claim_of(2000, 1, LeaseToken(1))).unwrap();
    db.record_outcomes(&[result_of(&held[0], 2001, Outcome::Gone)], FAILING_MAX).unwrap();
    assert_eq!(enabled(), 0);
    db.write(Durable, |tx| tx.enable_webhook(&party.webhook.id)).unwrap();
    assert_eq!(enabled(), 1);
}

fn a_rollback_has_no_effect(db: &Fixture) {
    let party = Participant::of(db);
    let before = party.read(db);
    let mut tx = db.begin(Durable).unwrap();
    tx.revoke_key(&party.owner.api_key_id, at(9)).unwrap();
    drop(tx);
    assert_eq!(party.read(db), before);
}

/// Cases for PostgreSQL only. On SQLite, which has one writer, every change waits for every batch.
mod concurrent {
    use super::*;
    use crate::tests::fixture::postgres;

    #[test]
    fn changes_do_not_wait_for_sends_of_other_keys() {
        let db = postgres();
        let (party, other) = (Participant::of(&db), Participant::of(&db));
        let batch = db.standing_batch(&other.wanted);
        for (_, change) in CHANGES {
            db.write(Durable, |tx| change(tx, &party)).unwrap();
        }
        batch.commit().unwrap();
    }

    #[test]
    fn sends_do_not_wait_for_changes_of_other_keys() {
        let db = postgres();
        let (party, other) = (Participant::of(&db), Participant::of(&db));
        let before = other.read(&db);
        for (name, change) in CHANGES {
            let mut tx = db.begin(Durable).unwrap();
            change(&mut tx, &party).unwrap();
            assert_eq!(other.read(&db), before, "{name}");
            tx.commit().unwrap();
        }
    }

    /// Enabling a webhook must wait for a running batch. Otherwise the deliveries that the batch postpones (parks) for
    /// the disabled webhook would not become due.
    #[test]
    fn enabling_a_webhook_waits_for_batches_that_park_deliveries() {
        let db = postgres();
        let party = Participant::of(&db);
        db.execute("UPDATE webhooks SET status = 'disabled'").unwrap();
        let is_enabled = AtomicBool::new(false);
        let recipients = vec![party.owner.api_key_id];
        thread::scope(|scope| {
            let batch = db.standing_batch(&FactsQuery { recipients, ..FactsQuery::default() });
            scope.spawn(|| {
                db.write(Durable, |tx| tx.enable_webhook(&party.webhook.id)).unwrap();
                is_enabled.store(true, Ordering::SeqCst);
            });
            db.await_waiting();
            assert!(!is_enabled.load(Ordering::SeqCst));
            batch.commit().unwrap();
        });
        assert!(is_enabled.load(Ordering::SeqCst));
    }

    #[test]
    fn a_batch_that_waits_for_enabling_reads_the_webhook_as_enabled() {
        let db = postgres();
        let party = Participant::of(&db);
        db.execute("UPDATE webhooks SET status = 'disabled'").unwrap();
        thread::scope(|scope| {
            let mut tx = db.begin(Durable).unwrap();
            tx.enable_webhook(&party.webhook.id).unwrap();
            let batch = scope.spawn(|| party.read(&db));
            db.await_waiting();
            tx.commit().unwrap();
            let facts = batch.join().unwrap();
            let webhooks = &facts.webhooks[&party.owner.api_key_id];
            assert_eq!((enabled_count(webhooks), webhooks.0.len()), (1, 1));
        });
    }
}

fn a_key_does_not_change_while_its_sends_are_decided(db: &Fixture) {
    let party = Participant::of(db);
    let id = party.owner.api_key_id;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..40 {
                let status =
                    if round % 2 == 0 { KeyStatus::Deactivated } else { KeyStatus::Active };
                db.write(Durable, |tx| {
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
                        let known = tx.lock_facts(&party.wanted)?.keys[&id].status;
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
                        let usage = tx.lock_facts(&party.wanted)?.usage.into_iter().collect();
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

fn acme() -> PartnerId {
    PartnerId::parse("acme").unwrap()
}

fn enabled_count(webhooks: &RecipientWebhooks) -> usize {
    webhooks.0.iter().filter(|webhook| webhook.is_active).count()
}
