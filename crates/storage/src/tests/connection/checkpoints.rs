//! Tests of the checkpoints of SQLite on their own thread.

use std::{fs, path::PathBuf};

use diesel::{Connection as _, RunQueryDsl as _, SqliteConnection, connection::SimpleConnection};
use sealpost_domain::ports::Durability::Relaxed;

use crate::{
    DatabaseUrl,
    connection::{
        AnyConnection,
        checkpointer::{LOG_PAGES_LONG, LogState, checkpoint},
        query_error::QueryError,
    },
    tests::fixture::{Fixture, eventually, sqlite},
};

fn log_state(conn: &mut AnyConnection) -> LogState {
    let AnyConnection::Sqlite(conn) = conn else { panic!("not SQLite") };
    checkpoint(conn, "NOOP").unwrap()
}

fn log_file(db: &Fixture) -> PathBuf {
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    PathBuf::from(format!("{}-wal", path.display()))
}

/// Writes about `pages` pages in one transaction.
fn write(db: &Fixture, pages: u32) {
    let insert = |conn: &mut AnyConnection| -> Result<(), QueryError> {
        Ok(conn.batch_execute(&format!(
            "INSERT INTO filler WITH RECURSIVE n (n) AS (
                 SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {pages}
             ) SELECT randomblob(4000) FROM n"
        ))?)
    };
    db.transact(Relaxed, insert).unwrap();
}

/// A database with a table for tests.
fn with_filler() -> Fixture {
    let db = sqlite();
    db.execute("CREATE TABLE filler (bytes BLOB)").unwrap();
    db
}

#[test]
fn a_completed_file_is_the_whole_database() {
    let db = with_filler();
    // An open connection keeps SQLite from copying the log when the others close.
    let _other = db.raw();
    write(&db, 3);
    db.complete_file().unwrap();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy).unwrap();
    let mut copied = SqliteConnection::establish(&copy.display().to_string()).unwrap();
    let rows =
        diesel::sql_query("INSERT INTO filler SELECT bytes FROM filler").execute(&mut copied);
    assert_eq!(rows, Ok(3));
}

#[test]
fn a_long_log_is_copied_and_begins_again() {
    let db = with_filler();
    let mut observer = db.raw();
    for _ in 0..4 {
        write(&db, 5000);
        eventually("a checkpoint", || {
            let LogState { log, checkpointed } = log_state(&mut observer);
            (checkpointed == log).then_some(())
        });
    }
    let pages = fs::metadata(log_file(&db)).unwrap().len() / 4096;
    assert!(pages < 8000, "{pages}");
}

#[test]
fn a_short_log_is_left_alone() {
    let db = with_filler();
    let mut observer = db.raw();
    write(&db, 5000);
    eventually("a checkpoint", || {
        let LogState { log, checkpointed } = log_state(&mut observer);
        (checkpointed == log).then_some(())
    });
    write(&db, 100);
    let LogState { log, checkpointed } = log_state(&mut observer);
    assert!((100..200).contains(&log) && checkpointed == 0, "{log} {checkpointed}");
}

/// SQLite deletes the log when the last connection is closed.
#[test]
fn closing_the_database_closes_the_connection_of_the_thread() {
    let db = with_filler();
    write(&db, 100);
    let log = log_file(&db);
    assert!(log.exists());
    let folder = db.close();
    assert!(!log.exists());
    drop(folder);
}

#[test]
fn a_log_that_a_reader_has_kept_is_copied_after_its_end() {
    let db = with_filler();
    let mut reader = db.raw();
    reader.batch_execute("BEGIN; SELECT count(*) FROM filler").unwrap();
    for _ in 0..8 {
        write(&db, 5000);
    }
    let mut observer = db.raw();
    let LogState { log, checkpointed } = log_state(&mut observer);
    assert!(log - checkpointed > 2 * LOG_PAGES_LONG, "{log} {checkpointed}");
    eventually("the reader is noticed", || {
        db.oldest_snapshot().unwrap().is_some_and(|oldest| oldest.age.is_some()).then_some(())
    });
    drop(reader);
    // The checkpoint runs although no later commit wakes the thread.
    eventually("a checkpoint", || {
        let LogState { log, checkpointed } = log_state(&mut observer);
        (checkpointed == log).then_some(())
    });
    assert_eq!(db.oldest_snapshot().unwrap(), None);
}
