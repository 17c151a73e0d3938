//! Tests of the readiness check and the responses to sends while the database responds but cannot store.

use sealpost_testkit::{FsyncMode, Server as Postgres};

use crate::support::{Database, SOON, eventually, on_both, text, wait_until};

#[test]
fn without_its_standby_the_database_stores_nothing_and_sends_end_within_the_deadline() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    let server = database.serve_with(&["--commit-timeout", "500ms"]);
    let alice = server.new_identity();
    server.send(&alice, &alice.key, "before").ok();
    assert_eq!(server.readiness(), (200, "ok\n".to_owned()));

    set(&database, "synchronous_standby_names = 'gone'");
    let lost = eventually("a commit waits for the standby", SOON, || {
        Some(server.send(&alice, &alice.key, "x")).filter(|response| response.status != 200)
    });
    let problem = lost.refused(500, "INTERNAL_ERROR");
    assert!(text(&problem, "detail").contains("may have been stored"), "{problem}");
    server.send(&alice, &alice.key, "x").refused(503, "SERVICE_UNAVAILABLE");
    let (status, reason) = server.readiness();
    assert_eq!(status, 503);
    assert!(reason.contains("last commit"), "{reason}");

    set(&database, "synchronous_standby_names = ''");
    wait_until("a send is stored again", || server.send(&alice, &alice.key, "after").status == 200);
    assert_eq!(server.readiness().0, 200);
    assert!(server.metrics().contains("\nsealpost_last_commit_age_seconds "));
    server.stop();
}

#[test]
fn a_server_on_a_read_only_database_is_not_ready() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let database = Database::at(postgres.create_database());
    let server = database.serve();
    let alice = server.new_identity();
    assert_eq!(server.readiness().0, 200);
    set(&database, "default_transaction_read_only = on");
    wait_until("the server is not ready", || server.readiness().0 == 503);
    server.send(&alice, &alice.key, "x").refused(503, "SERVICE_UNAVAILABLE");
    set(&database, "default_transaction_read_only = off");
    wait_until("the server is ready again", || server.readiness().0 == 200);
    server.send(&alice, &alice.key, "x").ok();
    server.stop();
}

fn set(database: &Database, setting: &str) {
    database.by_hand(&format!("ALTER SYSTEM SET {setting}"));
    database.by_hand("SELECT pg_reload_conf()");
}

on_both!(an_old_server_stays_ready_after_an_additive_migration);

fn an_old_server_stays_ready_after_an_additive_migration(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let versions = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    database
        .by_hand(&format!("INSERT INTO additive_migrations (version) VALUES ('9999'); {versions}"));
    assert_eq!(server.readiness(), (200, "ok\n".to_owned()));
    server.stop();
    let restarted = database.serve();
    restarted.send(&alice, &alice.key, "after a restart").ok();
    database.by_hand("DELETE FROM additive_migrations WHERE version = '9999'");
    assert_eq!(restarted.readiness().0, 503);
}
