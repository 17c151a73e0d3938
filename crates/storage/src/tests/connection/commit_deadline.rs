//! Tests of commits without a response, of cancelled waits for a standby, and of servers that refuse writes.

use std::{thread, time::Duration};

use sealpost_domain::ports::{
    Durability::{self, Durable, Relaxed},
    StoreError,
};
use sealpost_testkit::{FsyncMode, Server};

use crate::{
    Database, DatabaseUrl, Settings,
    tests::fixture::{Fixture, account, at_url, eventually, keyring},
};

on_both!(a_probe_write_leaves_no_row);

fn a_probe_write_leaves_no_row(db: &Fixture) {
    db.check_writes().unwrap();
    assert!(db.last_commit().age().is_some());
    assert_eq!(db.count("write_probes"), 0);
}

#[test]
fn after_a_commit_without_a_response_writes_are_refused_until_a_probe_succeeds() {
    let server = Server::start(FsyncMode::Off).unwrap();
    let (admin, db) = with_commit_timeout(&server, Duration::from_millis(500));
    db.check_writes().unwrap();
    wait_for_standby(&admin, "'gone'");
    let lost = eventually("a commit waits for the standby", || insert(&db, Durable).err());
    assert!(matches!(lost, StoreError::InDoubt(_)), "{lost:?}");

    let refused = insert(&db, Durable).unwrap_err();
    let StoreError::Unavailable(reason) = &refused else { panic!("{refused:?}") };
    assert!(reason.to_string().contains("until a probe write succeeds"), "{reason}");
    insert(&db, Relaxed).unwrap();
    let unready = db.check_writes().unwrap_err().to_string();
    assert!(unready.contains("last commit"), "{unready}");
    let hung = "pg_stat_activity WHERE application_name = 'sealpost' AND wait_event = 'SyncRep'";
    eventually("hung commits are ended", || (admin.count(hung) == 0).then_some(()));

    wait_for_standby(&admin, "''");
    eventually("a probe write succeeds", || insert(&db, Durable).ok());
    db.check_writes().unwrap();
}

/// If the wait for a standby is cancelled, PostgreSQL reports success with a warning, although no standby has the
/// commit.
#[test]
fn a_cancelled_wait_for_a_standby_is_in_doubt() {
    let server = Server::start(FsyncMode::Off).unwrap();
    let (admin, db) = with_commit_timeout(&server, Duration::from_secs(8));
    wait_for_standby(&admin, "'gone'");
    let waits = "pg_stat_activity WHERE application_name = 'sealpost' AND query = 'COMMIT'
        AND wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '1100 ms'";
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| eventually("a commit waits", || insert(&db, Durable).err()));
        eventually("the commit has waited", || (admin.count(waits) == 1).then_some(()));
        admin.execute(&format!("SELECT pg_cancel_backend(pid) FROM {waits}")).unwrap();
        writer.join().unwrap()
    });
    assert!(matches!(written, StoreError::InDoubt(_)), "{written:?}");
}

#[test]
fn of_several_hosts_the_one_that_stores_writes_is_used() {
    let (standby, primary) =
        (Server::start(FsyncMode::Off).unwrap(), Server::start(FsyncMode::Off).unwrap());
    let (first, second) = (standby.create_database(), primary.create_database());
    for url in [&first, &second] {
        at_url(url).migrate().unwrap();
    }
    let name = first.split('?').next().unwrap();
    set(&at_url(&first), "default_transaction_read_only = on");
    let open =
        |url: &str| Database::open(&url.parse::<DatabaseUrl>().unwrap(), Settings::default());
    let refused = eventually("the standby is read-only", || open(&first).err());
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");

    let hosts = [&first, &second].map(|url| host(url));
    let both = format!("{name}?host={}&user=postgres", hosts.join(","));
    let db = open(&both).unwrap();
    db.check_writes().unwrap();
    let standby_only = open(&format!("{first}&target_session_attrs=any")).unwrap();
    let unready = standby_only.check_writes().unwrap_err().to_string();
    assert!(unready.contains("read-only"), "{unready}");
}

fn insert(db: &Database, durability: Durability) -> Result<(), StoreError> {
    db.write(durability, |tx| tx.insert_account(&account()))
}

/// Opens a new database twice. The first connection is for changes of the server's settings. The second one is for the
/// service, and has this commit timeout.
fn with_commit_timeout(server: &Server, commit_timeout: Duration) -> (Fixture, Database) {
    let url = server.create_database();
    let admin = at_url(&url);
    admin.migrate().unwrap();
    let settings = Settings { commit_timeout, ..Settings::default() };
    let db = Database::open(&url.parse().unwrap(), settings).unwrap();
    db.authenticate_rows(keyring(1));
    (admin, db)
}

fn wait_for_standby(admin: &Fixture, names: &str) {
    set(admin, &format!("synchronous_standby_names = {names}"));
}

fn set(admin: &Fixture, setting: &str) {
    admin.execute(&format!("ALTER SYSTEM SET {setting}")).unwrap();
    admin.execute("SELECT pg_reload_conf()").unwrap();
}

/// Returns the folder of the server's Unix socket, which is part of the URL.
fn host(url: &str) -> &str {
    let tail = url.split_once("?host=").map(|(_, tail)| tail).unwrap();
    tail.split('&').next().unwrap()
}
