//! Tests that need SQLite: the database file, the single writer, and the durability pragma.

use std::{
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use diesel::{
    connection::{InstrumentationEvent, SimpleConnection},
    dsl::sql,
    prelude::*,
    sql_types::Integer,
};
use sealpost_domain::{
    LeaseToken, Usage,
    ports::{
        Durability::{Durable, Relaxed},
        FactsQuery, StoreError, WriteSet,
    },
};

use crate::{
    Database, DatabaseUrl, Settings,
    connection::{
        connect::{Target, connect},
        transaction::Transaction,
    },
    tests::fixture::{Fixture, account, delivery, empty_sqlite, envelope, sqlite},
};

fn synchronous(transaction: &mut Transaction) -> i32 {
    let pragma = sql::<Integer>("synchronous FROM pragma_synchronous");
    transaction.run(|conn| Ok(diesel::select(pragma).get_result::<i32>(conn)?)).unwrap()
}

const NORMAL: i32 = 1;
const FULL: i32 = 2;

#[test]
fn a_durable_transaction_syncs_after_relaxed_ones() {
    let db = sqlite();
    for (durability, expected) in
        [(Durable, FULL), (Relaxed, NORMAL), (Relaxed, NORMAL), (Durable, FULL), (Durable, FULL)]
    {
        let mut transaction = db.begin(durability).unwrap();
        assert_eq!(synchronous(&mut transaction), expected);
        transaction.commit().unwrap();
        // A transaction that is rolled back also does not change the setting.
        drop(db.begin(Relaxed).unwrap());
        let mut transaction = db.begin(durability).unwrap();
        assert_eq!(synchronous(&mut transaction), expected);
    }
}

#[test]
fn a_failed_begin_of_a_relaxed_transaction_restores_durability() {
    let db = sqlite();
    let mut other = db.raw();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    db.execute("SELECT 1").unwrap();
    shorten_busy_timeout(&db);
    let blocked = db.begin(Relaxed).map(drop);
    assert!(matches!(blocked, Err(StoreError::Contended(_))), "{blocked:?}");
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(synchronous(&mut db.begin(Durable).unwrap()), FULL);
}

/// Shortens SQLite's busy timeout (the maximum wait for a lock) on the connection of the writer.
fn shorten_busy_timeout(db: &Fixture) {
    let mut connection = db.writers.get().unwrap();
    connection.backend.batch_execute("PRAGMA busy_timeout = 50").unwrap();
}

#[test]
fn the_hot_path_uses_prepared_statements() {
    let db = sqlite();
    let key = db.activate();
    let to = db.register(&key.id);
    let kept = kept_statements(&db);
    for _ in 0..2 {
        let envelope = Arc::new(envelope(&key.id, &key.id));
        let changes = WriteSet {
            leased: vec![delivery(&envelope, &to, LeaseToken(1), 5)],
            envelopes: vec![envelope],
            usage: vec![(key.id, Usage::UNUSED)],
            ..WriteSet::default()
        };
        db.write(Durable, |tx| tx.apply(&changes)).unwrap();
    }
    let kept = kept.lock().unwrap();
    let starts =
        ["INSERT INTO `envelopes`", "INSERT INTO `deliveries`", "/* update_usage */ UPDATE usage"];
    assert_eq!(kept.len(), starts.len(), "{kept:?}");
    assert!(kept.iter().zip(starts).all(|(sql, start)| sql.starts_with(start)), "{kept:?}");
}

/// Checks that the query for open governance decisions has no bound value. SQLite compares bound values with the
/// conditions of partial indexes, and would prepare the statement again for each value.
#[test]
fn the_check_for_open_decisions_binds_no_value() {
    let db = sqlite();
    let key = db.activate();
    let kept = kept_statements(&db);
    let query = FactsQuery { callers: vec![key.id], ..FactsQuery::default() };
    for _ in 0..2 {
        db.write(Durable, |tx| tx.lock_facts(&query)).unwrap();
    }
    let kept = kept.lock().unwrap();
    let checks: Vec<_> = kept.iter().filter(|sql| sql.contains("governance")).collect();
    assert!(matches!(checks[..], [check] if !check.contains('?')), "{kept:?}");
}

/// Collects the statements that the writer prepares and caches.
fn kept_statements(db: &Fixture) -> Arc<Mutex<Vec<String>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&kept);
    let mut connection = db.writers.get().unwrap();
    connection.backend.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::CacheQuery { sql, .. } = event {
            seen.lock().unwrap().push(sql.to_owned());
        }
    });
    kept
}

#[test]
fn the_database_files_are_readable_by_their_owner_only() {
    let db = sqlite();
    db.activate();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
}

/// Other processes see only locks of the kernel. Linux lists these locks in `/proc/locks`.
#[cfg(target_os = "linux")]
#[test]
fn opening_the_database_again_keeps_the_locks_of_other_connections() {
    let db = sqlite();
    let key = db.activate();
    assert!(db.read(|reader| reader.find_key(&key.id)).unwrap().is_some());
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let inode = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    let is_locked = || std::fs::read_to_string("/proc/locks").unwrap().contains(&inode);
    assert!(is_locked());
    drop(connect(&Target::SqliteWriter(path.clone()), &Settings::default()).unwrap());
    assert!(is_locked());
}

#[test]
fn a_writer_waits_for_another_process() {
    let db = sqlite();
    let mut other = db.raw();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| db.write(Durable, |tx| tx.insert_account(&account())));
        thread::sleep(Duration::from_millis(150));
        other.batch_execute("COMMIT").unwrap();
        writer.join().unwrap().unwrap();
    });
}

#[test]
fn readers_do_not_wait_for_the_writer() {
    let db = sqlite();
    let key = db.activate();
    let _writer = db.begin(Durable).unwrap();
    assert!(db.read(|reader| reader.find_key(&key.id)).unwrap().is_some());
    db.check().unwrap();
}

#[test]
fn waiting_for_the_write_lock_times_out() {
    let db = sqlite();
    let mut impatient = db.clone();
    impatient.settings.connection_timeout = Duration::from_millis(50);
    let _writer = db.begin(Durable).unwrap();
    let waited = impatient.begin(Durable).map(drop);
    assert!(matches!(waited, Err(StoreError::Unavailable(_))), "{waited:?}");
}

#[test]
fn an_error_of_creating_the_file_names_it() {
    let url: DatabaseUrl = "sqlite:/nonexistent/folder/test.db".parse().unwrap();
    let Err(StoreError::Refused(reason)) = Database::open(&url, Settings::default()) else {
        panic!("not refused")
    };
    let source = std::error::Error::source(&*reason).unwrap().to_string();
    assert!(source.contains("/nonexistent/folder/test.db"), "{source}");
}

#[test]
fn a_symbolic_link_may_point_to_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let (link, file) = (folder.path().join("link.db"), folder.path().join("file.db"));
    symlink(&file, &link).unwrap();
    for _ in 0..2 {
        let db = Database::open(&DatabaseUrl::Sqlite(link.clone()), Settings::default()).unwrap();
        db.migrate().unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_database_with_a_replaced_or_deleted_file_gets_no_writes() {
    let db = sqlite();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let is_refused = |durability| match db.begin(durability).map(drop) {
        Err(StoreError::Unavailable(reason)) => reason.to_string().contains("replaced or deleted"),
        _ => false,
    };
    for file in [path.clone(), path.with_extension("db-wal")] {
        let aside = path.with_extension("aside");
        std::fs::rename(&file, &aside).unwrap();
        assert!(is_refused(Durable) && is_refused(Relaxed), "deleted: {}", file.display());
        assert!(db.check_writes().is_err());
        std::fs::write(&file, "another file").unwrap();
        assert!(is_refused(Durable) && is_refused(Relaxed), "replaced: {}", file.display());
        std::fs::rename(&aside, &file).unwrap();
        assert!(!is_refused(Durable) && !is_refused(Relaxed), "put back: {}", file.display());
    }
}

#[test]
fn a_file_of_another_format_is_refused() {
    let db = empty_sqlite();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let other = path.with_extension("txt");
    std::fs::write(&other, "this is no database, and long enough to be seen as none ".repeat(99))
        .unwrap();
    let opened = Database::open(&DatabaseUrl::Sqlite(other), Settings::default());
    assert!(matches!(opened, Err(StoreError::Refused(_))), "{opened:?}");
}
