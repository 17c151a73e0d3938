//! Tests that migrations are applied once, can be reverted, keep rows, and accept the statements of earlier versions.

use std::{collections::BTreeSet, fs, thread};

use diesel_migrations::MigrationHarness;
use sealpost_domain::{
    DecisionId, GovernanceSubject, LeaseToken,
    ports::{Durability::Durable, Outbox, Store, StoreError},
};

use super::fixture::{self, Fixture, at};
use crate::{connection::AnyConnection, migrations};

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
    migrations_can_be_reverted_and_applied_again,
    later_migrations_keep_existing_rows,
    renamed_tables_keep_their_rows,
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

fn migrations_can_be_reverted_and_applied_again(db: &Fixture) {
    db.migrate().unwrap();
    match db.raw() {
        AnyConnection::Postgres(mut pg) => {
            pg.revert_all_migrations(migrations::POSTGRES).unwrap();
        }
        AnyConnection::Sqlite(mut lite) => {
            lite.revert_all_migrations(migrations::SQLITE).unwrap();
        }
    }
    assert_eq!(db.pending_migrations().unwrap(), names("sqlite"));
    db.migrate().unwrap();
    db.activate();
}

fn later_migrations_keep_existing_rows(db: &Fixture) {
    db.migrate().unwrap();
    // The account keeps its row, without the columns of later versions.
    let key = db.activate();
    revert_to(db, &names("sqlite")[0]);
    let to = fixture::webhook(&key.id);
    // Inserts rows as the first version wrote them. The secret is arbitrary, and a query selects it because the
    // databases write binary literals differently.
    db.execute(&format!(
        "INSERT INTO webhooks (id, api_key_id, url, events, secret, status, created_at)
         VALUES ('{}', '{}', '{}', 'envelope.received', {SOME_BYTES}, 'enabled', 3)",
        to.id, key.id, to.url
    ))
    .unwrap();
    let sent = [(); 2].map(|()| fixture::envelope(&key.id, &key.id).meta.id);
    for id in &sent {
        db.execute(&format!(
            "INSERT INTO envelopes (id, sender, recipient, suite, hash, signature, sealed,
                 payload_size_bytes, created_at)
             VALUES ('{id}', '{key}', '{key}', 2, {HASH_BYTES}, {SOME_BYTES}, {SOME_BYTES}, 4, 1000);
             INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at)
             VALUES ('{id}', '{}', 0, 1000)",
            to.id,
            key = key.id,
        ))
        .unwrap();
    }
    db.execute(&format!(
        "UPDATE deliveries SET attempts = 10, due_at = NULL, last_failure = 'dns'
         WHERE envelope_id = '{}'",
        sent[1]
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
    assert_eq!(
        due.iter().map(|delivery| delivery.event.id()).collect::<Vec<_>>(),
        [sent[0].into()]
    );
    assert_eq!(db.count("deliveries WHERE failed_at = 1000 AND due_at IS NULL"), 1);
    let subject = GovernanceSubject::Key(key.id);
    let open = db.store().write(Durable, |tx| tx.open_decisions(&subject)).unwrap();
    assert_eq!(open[0].by, "unknown");
}

fn renamed_tables_keep_their_rows(db: &Fixture) {
    db.migrate().unwrap();
    db.activate();
    revert_to(db, "0009_attempt_numbers");
    db.execute(&format!(
        "INSERT INTO remembered (api_key_id, idempotency_key, fingerprint, envelope_id, created_at)
             VALUES ('ak_1', 'key', {SOME_BYTES}, 'env_1', 5);
         INSERT INTO former_webhooks (id) VALUES ('wh_1');
         INSERT INTO chores (name, node, until) VALUES ('purge', 7, 9);
         INSERT INTO counted (what, up_to) VALUES ('attempts', '41')"
    ))
    .unwrap();
    db.migrate().unwrap();
    for row in [
        "idempotency_keys WHERE api_key_id = 'ak_1' AND idempotency_key = 'key' AND created_at = 5",
        "deleted_webhooks WHERE id = 'wh_1'",
        "housekeeping_tasks WHERE name = 'purge' AND node = 7 AND until = 9",
        "daily_count_progress WHERE source = 'attempts' AND last_counted = '41'",
    ] {
        assert_eq!(db.count(row), 1, "{row}");
    }
    revert_to(db, "0009_attempt_numbers");
    for row in
        ["remembered", "former_webhooks", "chores WHERE until = 9", "counted WHERE up_to = '41'"]
    {
        assert_eq!(db.count(row), 1, "{row}");
    }
    db.migrate().unwrap();
}

/// During an update, nodes of the previous version still write to the tables by their previous names.
#[test]
fn postgres_accepts_statements_with_the_previous_table_names() {
    let db = fixture::postgres();
    db.activate();
    let statements = [
        &*format!(
            "INSERT INTO remembered (api_key_id, idempotency_key, fingerprint, envelope_id, created_at)
             SELECT 'ak_1', 'key', {SOME_BYTES}, 'env_1', 5
             ON CONFLICT (api_key_id, idempotency_key) DO NOTHING"
        ),
        "INSERT INTO former_webhooks (id) VALUES ('wh_1') ON CONFLICT DO NOTHING",
        "INSERT INTO chores (name, node, until) VALUES ('purge', 7, 9)
         ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = chores.until + 1
         WHERE chores.node = excluded.node RETURNING until",
        "INSERT INTO counted (what, up_to) VALUES ('attempts', '41')
         ON CONFLICT (what) DO UPDATE SET up_to = '42'",
    ];
    for statement in statements.iter().chain(&statements) {
        db.execute(statement).unwrap();
    }
    db.execute("DELETE FROM remembered AS r USING unnest('{5}'::BIGINT[]) AS n (at) WHERE r.created_at = n.at")
        .unwrap();
    assert_eq!(db.count("idempotency_keys"), 0);
    assert_eq!(db.count("deleted_webhooks"), 1);
    assert_eq!(db.count("housekeeping_tasks WHERE until = 10"), 1);
    assert_eq!(db.count("daily_count_progress WHERE last_counted = '42'"), 1);
}

/// Nodes of the previous version use cached facts (rows that admission depends on) while the database returns the same
/// stamp, a text. The current schema returns another stamp each time, so that these nodes read the facts again for each
/// batch.
#[test]
fn nodes_of_the_previous_version_get_another_stamp_for_each_batch() {
    let db = fixture::postgres();
    let key = db.activate();
    let lock = format!("lock_usage_and_facts('{{{}}}')", key.id);
    assert_eq!(db.count(&format!("{lock} WHERE api_key_id = '{}' AND stamp = ''", key.id)), 1);
    let both = format!("{lock} AS a JOIN {lock} AS b USING (api_key_id) WHERE api_key_id = ''");
    assert_eq!(db.count(&format!("{both} AND length(a.stamp) = 36 AND a.stamp <> b.stamp")), 1);
}

/// Nodes of the previous version store envelopes for up to a day after the migration, but create no partitions.
#[test]
fn the_first_partition_of_a_used_database_ends_a_day_later() {
    let db = fixture::postgres();
    let bound = "partitions WHERE name LIKE '%_first' AND upper_bound
        - (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT BETWEEN";
    revert_to(&db, "0028_closed_accounts");
    db.migrate().unwrap();
    assert_eq!(db.count(&format!("{bound} -600000 AND 0")), 2, "no envelope is stored");
    db.send(&db.register(&db.activate().id), 1);
    revert_to(&db, "0028_closed_accounts");
    db.migrate().unwrap();
    assert_eq!(db.count(&format!("{bound} 85800000 AND 86400000")), 2);
    assert_eq!(db.count("envelopes_first"), 1);
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

/// Reverts all migrations after the migration `last`.
pub(in crate::tests) fn revert_to(db: &Fixture, last: &str) {
    for _ in names("sqlite").iter().filter(|name| name.as_str() > last) {
        match db.raw() {
            AnyConnection::Postgres(mut pg) => {
                pg.revert_last_migration(migrations::POSTGRES).unwrap();
            }
            AnyConnection::Sqlite(mut lite) => {
                lite.revert_last_migration(migrations::SQLITE).unwrap();
            }
        }
    }
}

/// Returns the names of all migrations for one database, in order.
fn names(backend: &str) -> Vec<String> {
    let folder = format!("{}/../../migrations/{backend}", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>().into_iter().collect()
}

const SOME_BYTES: &str = "(SELECT root FROM api_keys LIMIT 1)";
/// An SQL expression for 32 arbitrary bytes.
const HASH_BYTES: &str = "(SELECT login_secret FROM accounts LIMIT 1)";
