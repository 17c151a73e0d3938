//! Tests of backup and restore with the commands of `docs/operating.md`.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::support::{Database, Pairs, Receiver, binary, on_both, postgres_tool, run, text};

on_both!(a_restore_of_a_backup_taken_under_load_opens_its_envelopes);

fn a_restore_of_a_backup_taken_under_load_opens_its_envelopes(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let pairs = Pairs::activate(server.client(), &receiver);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let acknowledged = pairs.send_during(server.client(), || {
        let acknowledged = pairs.acknowledged();
        back_up(database, &copy);
        acknowledged
    });
    assert!(!acknowledged.is_empty() && pairs.count() > acknowledged.len(), "there was load");
    let identity = server.client().new_identity();
    server.kill();

    let restored = restore(database, &copy);
    let server = restored.serve();
    let client = server.client();
    pairs.check_open(client, &acknowledged);
    client.status(&identity).refused(401, "UNAUTHORIZED");
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let sent = client.send(&alice, &bob.key, "after").ok();
    assert_eq!(client.open(&bob, &text(&sent, "envelope_id")).ok()["message"], "after");
    assert_eq!(restored.operate(&["audit", "verify"])["verdict"], "whole");
    server.stop();
    eprintln!("{} of {} envelopes were in the backup", acknowledged.len(), pairs.count());
}

fn back_up(database: &Database, copy: &Path) {
    let command = match database.postgres_url() {
        None => {
            let mut command = binary(&["backup", "--data-dir", &database.data()]);
            command.arg(copy);
            command
        }
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
        let restored = Database::postgres();
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
    let ended = run(command);
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

#[test]
fn a_backup_replaces_no_existing_file() {
    let database = Database::embedded();
    let server = database.serve();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::write(&copy, "mine").unwrap();
    let mut command = binary(&["backup", "--data-dir", &database.data()]);
    command.arg(&copy);
    let ended = run(command);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("there already") && ended.stderr.lines().count() == 1);
    assert_eq!(fs::read_to_string(&copy).unwrap(), "mine");
    let mut nowhere = binary(&["backup", "--data-dir", &database.data()]);
    nowhere.arg(folder.path().join("no/such/folder/copy.db"));
    let ended = run(nowhere);
    assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1), "{ended:?}");
    server.stop();
}
