//! Tests of backup and restore with the commands of `docs/operating/backup.md`.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::support::{Database, Pairs, Receiver, binary, on_both, postgres_tool, run, text};

on_both!(a_restore_of_a_backup_taken_under_load_opens_its_envelopes);

fn a_restore_of_a_backup_taken_under_load_opens_its_envelopes(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let pairs = Pairs::activate(&server, &receiver);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let acknowledged = pairs.send_during(&server, || {
        let acknowledged = pairs.acknowledged();
        back_up(database, &copy);
        acknowledged
    });
    assert!(!acknowledged.is_empty() && pairs.count() > acknowledged.len(), "there was load");
    let identity = server.new_identity();
    server.kill();

    let restored = restore(database, &copy);
    let server = restored.serve();
    pairs.check_open(&server, &acknowledged);
    server.status(&identity).refused(401, "UNAUTHORIZED");
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let sent = server.send(&alice, &bob.key, "after").ok();
    assert_eq!(server.open(&bob, &text(&sent, "envelope_id")).ok()["message"], "after");
    assert_eq!(restored.operate(&["audit", "verify"])["verdict"], "whole");
    server.stop();
    eprintln!("{} of {} envelopes were in the backup", acknowledged.len(), pairs.count());
}

fn back_up(database: &Database, copy: &Path) {
    let command = match database.postgres_url() {
        None => database.backup_to(copy),
        Some(url) => {
            let mut command = postgres_tool("pg_dump");
            command.args(["--format=custom", "--dbname", url, "--file"]).arg(copy);
            command
        }
    };
    done(command);
}

/// Restores a backup into another data folder with the same key file.
fn restore(database: &Database, copy: &Path) -> Database {
    let restored = if database.postgres_url().is_some() {
        let restored = Database::empty_postgres();
        let mut command = postgres_tool("pg_restore");
        command.args(["--exit-on-error", "--no-owner", "--dbname", restored.url()]).arg(copy);
        done(command);
        restored
    } else {
        let restored = Database::embedded();
        fs::create_dir(restored.data()).unwrap();
        fs::set_permissions(restored.data(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o600);
        fs::copy(copy, restored.file()).unwrap();
        restored
    };
    fs::copy(database.kek_file(), restored.kek_file()).unwrap();
    restored
}

#[track_caller]
fn done(command: Command) {
    run(command).ok();
}

#[test]
fn a_backup_replaces_no_existing_file() {
    let database = Database::embedded();
    let server = database.serve();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::write(&copy, "mine").unwrap();
    let ended = run(database.backup_to(&copy));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("there already") && ended.stderr.lines().count() == 1);
    assert_eq!(fs::read_to_string(&copy).unwrap(), "mine");
    let nowhere = database.backup_to(folder.path().join("no/such/folder/copy.db"));
    let ended = run(nowhere);
    assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1), "{ended:?}");
    assert!(ended.stderr.contains("no/such/folder of the backup does not exist"), "{ended:?}");
    assert!(!ended.stderr.contains("sealpost.db"), "{ended:?}");
    server.stop();
}

#[test]
fn a_killed_backup_leaves_no_file_with_its_name() {
    let database = Database::embedded();
    let server = database.serve();
    // Makes each step of the backup long enough to be seen.
    database.by_hand(
        "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         SELECT randomblob(10000) AS bytes FROM n",
    );
    let folder = tempfile::tempdir().unwrap();
    let back_up = |name: &str| {
        let mut command = binary(&["backup", "--data-dir", &database.data()]);
        command.arg(folder.path().join(name)).stdout(std::process::Stdio::null());
        command
    };
    let partial_bytes = || {
        let partial = folder.path().join("killed.db.sealpost-partial");
        fs::metadata(partial).map_or(0, |found| found.len())
    };
    for bytes in [1, 1_000_000, 30_000_000] {
        let mut process = crate::support::Process::start(back_up("killed.db"));
        while partial_bytes() < bytes && process.child().try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        process.kill();
        assert!(!folder.path().join("killed.db").exists() && partial_bytes() >= bytes);
    }
    done(back_up("complete.db"));
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left, ["complete.db"]);
    done(back_up("killed.db"));
    server.stop();
}

#[test]
fn a_backup_is_not_written_beside_a_log() {
    let database = Database::embedded();
    database.serve().stop();
    let folder = tempfile::tempdir().unwrap();
    for suffix in ["-wal", "-journal"] {
        let log = folder.path().join(format!("copy.db{suffix}"));
        fs::write(&log, "of another database").unwrap();
        let ended = run(database.backup_to(folder.path().join("copy.db")));
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(
            ended.stderr.contains(suffix) && ended.stderr.contains("there already"),
            "{ended:?}"
        );
        fs::remove_file(&log).unwrap();
    }
}

#[test]
fn a_backup_of_another_programs_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (foreign, copy) = (folder.path().join("foreign.db"), folder.path().join("copy.db"));
    fs::write(&foreign, "").unwrap();
    let url = format!("sqlite:{}", foreign.display());
    let mut command = binary(&["backup", "--database-url", &url]);
    command.current_dir(folder.path()).arg(&copy);
    let ended = run(command);
    assert_eq!((ended.status, copy.exists()), (Some(1), false), "{ended:?}");
    assert!(ended.stderr.contains("another program"), "{ended:?}");
}
