//! What SQLite alone has: a file, one writer, and a pragma that says what waits for the disk.

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
use diesel_migrations::MigrationHarness as _;
use sealpost_domain::{
    LeaseToken, Usage,
    ports::{
        Durability::{Durable, Relaxed},
        Store, StoreError, WriteSet,
    },
};

use super::fixture::{Fixture, account, delivery, empty_sqlite, envelope, sqlite};
use crate::{
    Database, DatabaseUrl, Settings,
    connect::{Target, connect},
    connection::AnyConnection,
    migrate::SQLITE,
    unit::Unit,
};

fn synchronous(unit: &mut Unit) -> i32 {
    let pragma = sql::<Integer>("synchronous FROM pragma_synchronous");
    unit.run(|conn| Ok(diesel::select(pragma).get_result::<i32>(conn)?)).unwrap()
}

const NORMAL: i32 = 1;
const FULL: i32 = 2;

#[test]
fn a_durable_transaction_waits_for_the_disk_whatever_came_before() {
    let db = sqlite();
    for (durability, expected) in
        [(Durable, FULL), (Relaxed, NORMAL), (Relaxed, NORMAL), (Durable, FULL), (Durable, FULL)]
    {
        let mut unit = db.unit(durability).unwrap();
        assert_eq!(synchronous(&mut unit), expected);
        unit.commit().unwrap();
        // Given up half-way, it leaves nothing behind either.
        drop(db.unit(Relaxed).unwrap());
        let mut unit = db.unit(durability).unwrap();
        assert_eq!(synchronous(&mut unit), expected);
    }
}

#[test]
fn a_relaxed_transaction_that_did_not_come_about_leaves_nothing_behind() {
    let db = sqlite();
    let mut other = db.raw();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    db.execute("SELECT 1").unwrap();
    shorten_busy_timeout(&db);
    let blocked = db.begin(Relaxed).map(drop);
    assert!(matches!(blocked, Err(StoreError::Contended(_))), "{blocked:?}");
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(synchronous(&mut db.unit(Durable).unwrap()), FULL);
}

#[test]
fn numbers_of_attempts_begin_after_those_that_were_counted_before_they_were_kept() {
    let db = sqlite();
    let AnyConnection::Sqlite(mut lite) = db.raw() else { panic!("not SQLite") };
    lite.revert_last_migration(SQLITE).unwrap();
    db.execute("INSERT INTO counted (what, up_to) VALUES ('attempts', '41')").unwrap();
    db.migrate().unwrap();
    db.execute(
        "INSERT INTO attempts (at, attempt, duration_ms, outcome, webhook_id, envelope_id)
        VALUES (1, 1, 1, 'succeeded', 'wh_1', 'env_1')",
    )
    .unwrap();
    assert_eq!(db.count("attempts WHERE number = 42"), 1);
}

/// On the one connection that writes.
fn shorten_busy_timeout(db: &Fixture) {
    let mut link = db.writers.get().unwrap();
    link.connection.batch_execute("PRAGMA busy_timeout = 50").unwrap();
}

#[test]
fn the_hot_path_stays_prepared() {
    let db = sqlite();
    let key = db.activate();
    let to = db.register(&key.id);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&kept);
    let mut link = db.writers.get().unwrap();
    link.connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::CacheQuery { sql, .. } = event {
            seen.lock().unwrap().push(sql.to_owned());
        }
    });
    drop(link);
    for _ in 0..2 {
        let envelope = Arc::new(envelope(&key.id, &key.id));
        db.apply(&WriteSet {
            leased: vec![delivery(&envelope, &to, LeaseToken(1), 5)],
            envelopes: vec![envelope],
            usage: vec![(key.id, Usage::UNUSED)],
            ..WriteSet::default()
        });
    }
    let kept = kept.lock().unwrap();
    let starts = ["INSERT INTO `envelopes`", "INSERT INTO `deliveries`", "UPDATE usage"];
    assert_eq!(kept.len(), starts.len(), "{kept:?}");
    assert!(kept.iter().zip(starts).all(|(sql, start)| sql.starts_with(start)), "{kept:?}");
}

#[test]
fn the_database_is_its_owners_alone() {
    let db = sqlite();
    db.activate();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
}

/// Other processes go by the locks that the kernel keeps, and Linux lists those.
#[cfg(target_os = "linux")]
#[test]
fn whoever_opens_the_database_anew_takes_no_lock_from_the_others() {
    let db = sqlite();
    let key = db.activate();
    assert!(db.lookup().unwrap().find_key(&key.id).unwrap().is_some());
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let inode = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    let is_locked = || std::fs::read_to_string("/proc/locks").unwrap().contains(&inode);
    assert!(is_locked());
    drop(connect(&Target::SqliteWriter(path.clone()), &Settings::default()).unwrap());
    assert!(is_locked());
}

#[test]
fn what_another_process_writes_is_waited_for() {
    let db = sqlite();
    let mut other = db.raw();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| db.store().write(Durable, |tx| tx.insert_account(&account())));
        thread::sleep(Duration::from_millis(150));
        other.batch_execute("COMMIT").unwrap();
        writer.join().unwrap().unwrap();
    });
}

#[test]
fn reading_does_not_wait_for_who_writes() {
    let db = sqlite();
    let key = db.activate();
    let _writer = db.begin(Durable).unwrap();
    assert!(db.lookup().unwrap().find_key(&key.id).unwrap().is_some());
    db.check().unwrap();
}

#[test]
fn the_turn_to_write_is_not_waited_for_forever() {
    let db = sqlite();
    let mut hasty = db.clone();
    hasty.patience = Duration::from_millis(50);
    let _writer = db.begin(Durable).unwrap();
    let waited = hasty.begin(Durable).map(drop);
    assert!(matches!(waited, Err(StoreError::Unavailable(_))), "{waited:?}");
}

#[test]
fn a_file_that_cannot_be_made_is_refused_with_its_name() {
    let url: DatabaseUrl = "sqlite:/nonexistent/folder/test.db".parse().unwrap();
    let Err(StoreError::Refused(reason)) = Database::open(&url, Settings::default()) else {
        panic!("not refused")
    };
    let source = std::error::Error::source(&*reason).unwrap().to_string();
    assert!(source.contains("/nonexistent/folder/test.db"), "{source}");
}

#[test]
fn a_link_may_lead_to_where_the_file_is_to_be() {
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
fn a_file_that_is_no_database_is_refused() {
    let db = empty_sqlite();
    let DatabaseUrl::Sqlite(path) = &db.url else { panic!("not SQLite") };
    let other = path.with_extension("txt");
    std::fs::write(&other, "this is no database, and long enough to be seen as none ".repeat(99))
        .unwrap();
    let opened = Database::open(&DatabaseUrl::Sqlite(other), Settings::default());
    assert!(matches!(opened, Err(StoreError::Refused(_))), "{opened:?}");
}
