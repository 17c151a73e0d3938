//! Tests that `sealpost doctor` and the metrics name what keeps old row versions.

use diesel::{Connection as _, PgConnection, SqliteConnection, connection::SimpleConnection as _};
use sealpost_testkit::{FsyncMode, Server as Postgres};

use super::{doctor, finds};
use crate::support::{Database, wait_until};

#[test]
fn the_session_or_prepared_transaction_with_the_oldest_snapshot_is_named() {
    let postgres =
        Postgres::start_with(FsyncMode::Off, &["-c max_prepared_transactions=2"]).unwrap();
    let database = Database::at(postgres.create_database());
    let server = database.serve();
    server.new_identity();
    let names = ["sealpost_oldest_snapshot_seconds ", "sealpost_oldest_snapshot_transactions "];
    wait_until("the metrics", || {
        let metrics = server.metrics();
        names.iter().all(|name| metrics.contains(&format!("\n{name}")))
    });
    finds(doctor(&database, &[]), "snapshots", "ok", "");

    let mut report = PgConnection::establish(database.postgres_url().unwrap()).unwrap();
    report.batch_execute(BEGIN_REPORT).unwrap();
    server.new_identity();
    let holder = "(user postgres, application monthly report, idle in transaction)";
    finds(doctor(&database, &[]), "snapshots", "ok", holder);
    drop(report);

    database.by_hand("BEGIN; DELETE FROM invites; PREPARE TRANSACTION 'left over'");
    server.new_identity();
    let holder = "the prepared transaction left over of postgres";
    finds(doctor(&database, &[]), "snapshots", "ok", holder);
    database.by_hand("ROLLBACK PREPARED 'left over'");
}

#[test]
fn the_session_of_another_user_is_named_to_a_role_without_pg_read_all_stats() {
    let postgres = Postgres::start(FsyncMode::Off).unwrap();
    let url = postgres.create_database();
    let mut superuser = PgConnection::establish(&url).unwrap();
    let grant = "CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain";
    superuser.batch_execute(grant).unwrap();
    let database = Database::at(url.replace("user=postgres", "user=plain"));
    let server = database.serve();
    server.new_identity();
    superuser.batch_execute(BEGIN_REPORT).unwrap();
    server.new_identity();
    let holder = "(user postgres, application monthly report, state unknown)";
    finds(doctor(&database, &[]), "snapshots", "ok", holder);
}

#[test]
fn a_process_that_keeps_a_long_log_of_sqlite_is_named() {
    let database = Database::embedded();
    let server = database.serve();
    finds(doctor(&database, &[]), "snapshots", "ok", "no open snapshot");
    let mut reader = SqliteConnection::establish(database.file().to_str().unwrap()).unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM accounts").unwrap();
    // 80 MiB. The log is usually shorter than 32 MiB.
    database.by_hand(
        "CREATE TABLE filler (bytes BLOB);
         INSERT INTO filler WITH RECURSIVE n (n) AS (
             SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000
         ) SELECT randomblob(4000) FROM n;
         DROP TABLE filler",
    );
    let holder = format!("process {} (", std::process::id());
    finds(doctor(&database, &[]), "snapshots", "warn", &holder);
    drop(reader);
    // The next commit starts a checkpoint.
    server.new_identity();
    wait_until("the log is copied", || {
        let ended = crate::support::run(doctor(&database, &[]));
        ended.stdout.contains("no open snapshot")
    });
}

/// Opens a transaction whose snapshot lasts until the connection is closed.
const BEGIN_REPORT: &str =
    "SET application_name = 'monthly report'; BEGIN ISOLATION LEVEL REPEATABLE READ;
    SELECT count(*) FROM accounts";
