//! Migrations.

use std::{collections::BTreeSet, fs, thread};

use diesel_migrations::MigrationHarness;
use sealpost_domain::{
    DecisionId, GovernanceSubject, LeaseToken, LeasedDelivery,
    ports::{Durability::Durable, Outbox, Store, StoreError},
};

use super::fixture::{self, Fixture, at};
use crate::{connection::AnyConnection, migrate};

macro_rules! on_both_empty {
    ($($case:ident),* $(,)?) => {
        mod empty_sqlite { $(#[test] fn $case() { super::$case(&super::fixture::empty_sqlite()); })* }
        mod empty_postgres { $(#[test] fn $case() { super::$case(&super::fixture::empty_postgres()); })* }
    };
}

on_both_empty!(
    an_empty_database_is_behind,
    what_was_applied_is_applied_no_more,
    of_many_that_migrate_one_does_it,
    migrations_go_down_and_up_again,
    later_migrations_keep_what_is_there,
);
on_both!(a_newer_database_is_noticed);

fn an_empty_database_is_behind(db: &Fixture) {
    assert_eq!(db.pending_migrations().unwrap(), names("sqlite"));
    let Err(StoreError::Refused(reason)) = db.check() else { panic!("not refused") };
    assert!(reason.to_string().contains("run `sealpost migrate`"), "{reason}");
}

fn what_was_applied_is_applied_no_more(db: &Fixture) {
    assert_eq!(db.migrate().unwrap(), names("postgres"));
    assert_eq!(db.pending_migrations().unwrap(), Vec::<String>::new());
    assert_eq!(db.migrate().unwrap(), Vec::<String>::new());
    db.check().unwrap();
}

fn of_many_that_migrate_one_does_it(db: &Fixture) {
    let applied: Vec<_> = thread::scope(|scope| {
        let nodes: Vec<_> = (0..4).map(|_| scope.spawn(|| db.migrate().unwrap())).collect();
        nodes.into_iter().flat_map(|node| node.join().unwrap()).collect()
    });
    assert_eq!(applied, names("sqlite"));
    db.check().unwrap();
}

fn migrations_go_down_and_up_again(db: &Fixture) {
    db.migrate().unwrap();
    match db.raw() {
        AnyConnection::Postgres(mut pg) => {
            pg.revert_all_migrations(migrate::POSTGRES).unwrap();
        }
        AnyConnection::Sqlite(mut lite) => {
            lite.revert_all_migrations(migrate::SQLITE).unwrap();
        }
    }
    assert_eq!(db.pending_migrations().unwrap(), names("sqlite"));
    db.migrate().unwrap();
    db.activate();
}

fn later_migrations_keep_what_is_there(db: &Fixture) {
    db.migrate().unwrap();
    for _ in 1..names("sqlite").len() {
        match db.raw() {
            AnyConnection::Postgres(mut pg) => {
                pg.revert_last_migration(migrate::POSTGRES).unwrap();
            }
            AnyConnection::Sqlite(mut lite) => {
                lite.revert_last_migration(migrate::SQLITE).unwrap();
            }
        }
    }
    let key = db.activate();
    let to = fixture::webhook(&key.id);
    // As the first version wrote it; any bytes do for a secret, and the databases spell them differently.
    db.execute(&format!(
        "INSERT INTO webhooks (id, api_key_id, url, events, secret, status, created_at)
         VALUES ('{}', '{}', '{}', 'envelope.received', {SOME_BYTES}, 'enabled', 3)",
        to.id, key.id, to.url
    ))
    .unwrap();
    let sent = db.send(&to, 2);
    db.execute(&format!(
        "UPDATE deliveries SET attempts = 10, due_at = NULL, last_failure = 'dns'
         WHERE envelope_id = '{}'",
        sent[1].meta.id
    ))
    .unwrap();
    db.execute(&format!(
        "INSERT INTO governance (id, subject, kind, status, reason, since)
         VALUES ('{}', '{}', 'council_action', 'enforced', 'spam', 5)",
        DecisionId::new(at(5), [0; 10]),
        key.id
    ))
    .unwrap();
    assert_eq!(db.migrate().unwrap(), names("sqlite")[1..]);
    assert_eq!((db.count("envelopes"), db.count("deliveries")), (2, 2));
    let due = db.claim(&fixture::claim_of(1000, 10, LeaseToken(1))).unwrap();
    assert_eq!(due.iter().map(LeasedDelivery::id).collect::<Vec<_>>(), [sent[0].id()]);
    assert_eq!(db.count("deliveries WHERE failed_at = 1000 AND due_at IS NULL"), 1);
    let subject = GovernanceSubject::Key(key.id);
    let open = db.store().write(Durable, |tx| tx.open_decisions(&subject)).unwrap();
    assert_eq!(open[0].by, "unknown");
}

fn a_newer_database_is_noticed(db: &Fixture) {
    db.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')").unwrap();
    for done in [db.check(), db.migrate().map(drop), db.pending_migrations().map(drop)] {
        let Err(StoreError::Refused(reason)) = done else { panic!("not refused") };
        assert!(reason.to_string().contains("newer than this version"), "{reason}");
        assert!(reason.to_string().contains("9999"), "{reason}");
    }
}

#[test]
fn both_databases_have_the_same_migrations() {
    assert_eq!(names("sqlite"), names("postgres"));
    assert!(!names("sqlite").is_empty());
}

/// In order.
fn names(backend: &str) -> Vec<String> {
    let folder = format!("{}/../../migrations/{backend}", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>().into_iter().collect()
}

const SOME_BYTES: &str = "(SELECT root FROM api_keys LIMIT 1)";
