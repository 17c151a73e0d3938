//! Tests that migrations are applied once, by one of several nodes, and which newer databases are refused.

use std::{collections::BTreeSet, fs, thread};

use sealpost_domain::ports::StoreError;

use super::fixture::{self, Fixture};

macro_rules! on_both_empty {
    ($($case:ident),* $(,)?) => {
        mod empty_sqlite { $(#[test] fn $case() { super::$case(&super::fixture::empty_sqlite()); })* }
        mod empty_postgres { $(#[test] fn $case() { super::$case(&super::fixture::empty_postgres()); })* }
    };
}

on_both_empty!(
    an_empty_database_has_pending_migrations,
    migrations_are_applied_once,
    one_of_many_nodes_migrates,
);
on_both!(a_newer_database_is_refused, unknown_additive_migrations_are_accepted);

fn an_empty_database_has_pending_migrations(db: &Fixture) {
    assert_eq!(db.pending_migrations().unwrap(), names("sqlite"));
    let Err(StoreError::Refused(reason)) = db.check() else { panic!("not refused") };
    assert!(reason.to_string().contains("run `sealpost migrate`"), "{reason}");
}

fn migrations_are_applied_once(db: &Fixture) {
    assert_eq!(db.migrate().unwrap(), names("postgres"));
    assert_eq!(db.pending_migrations().unwrap(), Vec::<String>::new());
    assert_eq!(db.migrate().unwrap(), Vec::<String>::new());
    db.check().unwrap();
}

fn one_of_many_nodes_migrates(db: &Fixture) {
    let applied: Vec<_> = thread::scope(|scope| {
        let nodes: Vec<_> = (0..4).map(|_| scope.spawn(|| db.migrate().unwrap())).collect();
        nodes.into_iter().flat_map(|node| node.join().unwrap()).collect()
    });
    assert_eq!(applied, names("sqlite"));
    db.check().unwrap();
}

fn a_newer_database_is_refused(db: &Fixture) {
    db.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')").unwrap();
    for done in [db.check(), db.migrate().map(drop), db.pending_migrations().map(drop)] {
        let Err(StoreError::Refused(reason)) = done else { panic!("not refused") };
        assert!(reason.to_string().contains("newer than this version"), "{reason}");
        assert!(reason.to_string().contains("9999"), "{reason}");
    }
}

fn unknown_additive_migrations_are_accepted(db: &Fixture) {
    let versions = "INSERT INTO __diesel_schema_migrations (version) VALUES";
    db.execute(&format!("{versions} ('9998'), ('9999')")).unwrap();
    db.execute("INSERT INTO additive_migrations (version) VALUES ('9998')").unwrap();
    let Err(StoreError::Refused(reason)) = db.check() else { panic!("not refused") };
    assert!(reason.to_string().contains("unknown migrations 9999:"), "{reason}");
    db.execute("INSERT INTO additive_migrations (version) VALUES ('9999')").unwrap();
    db.check().unwrap();
    assert_eq!(db.migrate().unwrap(), [""; 0]);
    db.activate();
}

#[test]
fn both_databases_have_the_same_migrations() {
    assert_eq!(names("sqlite"), names("postgres"));
    assert!(!names("sqlite").is_empty());
}

/// Returns the names of all migrations for one database, in order.
fn names(backend: &str) -> Vec<String> {
    let folder = format!("{}/../../migrations/{backend}", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>().into_iter().collect()
}
