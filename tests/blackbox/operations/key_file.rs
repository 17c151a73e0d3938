//! Tests of the key file: a missing file is created as long as no key has been used with the database, and only as a
//! whole.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use super::{doctor, finds};
use crate::support::{
    Database, Server, SmallDisk, at_once, binary, on_both, on_embedded, run, text,
};

on_both!(
    a_database_without_a_used_key_gets_a_key_file,
    a_missing_key_file_of_a_used_database_is_refused,
    an_operator_command_creates_the_key_file_of_a_new_database,
    nodes_that_start_together_share_one_new_key_file,
);
on_embedded!(an_unfinished_key_file_is_refused_with_advice);

/// Migrates a new database that has no key file.
fn migrate(database: &Database) {
    drop(fs::remove_file(database.kek_file()));
    let mut command = binary(&["migrate", "--data-dir", &database.data()]);
    if let Some(url) = database.postgres_url() {
        command.args(["--database-url", url]);
    }
    let migrated = run(command);
    assert_eq!(migrated.status, Some(0), "{migrated:?}");
    assert!(!database.kek_file().exists());
}

#[track_caller]
fn check_round_trip(server: &Server) {
    let identity = server.new_identity();
    let sent = server.send(&identity, &identity.key, "hello").ok();
    let opened = server.open(&identity, &text(&sent, "envelope_id"));
    assert_eq!(opened.ok()["message"], "hello");
}

#[track_caller]
fn check_refused(command: Command, words: &[&str]) {
    let stderr = run(command).refused(1);
    assert!(words.iter().all(|word| stderr.contains(word)), "{words:?}: {stderr}");
}

fn a_database_without_a_used_key_gets_a_key_file(database: &Database) {
    migrate(database);
    // These commands use no key.
    database.operate(&["stats"]);
    assert!(!database.kek_file().exists());
    finds(doctor(database, &[]), "keys", "ok", "the first start creates");
    assert!(!database.kek_file().exists(), "the doctor creates no key file");
    let server = database.serve();
    check_round_trip(&server);
    let kek = fs::read(database.kek_file()).unwrap();
    server.stop();
    let server = database.serve();
    check_round_trip(&server);
    assert_eq!(fs::read(database.kek_file()).unwrap(), kek);
}

fn an_operator_command_creates_the_key_file_of_a_new_database(database: &Database) {
    migrate(database);
    database.operate(&["issuer", "rotate"]);
    database.operate(&["kek", "rotate"]);
    let lines = fs::read_to_string(database.kek_file()).unwrap();
    assert_eq!(lines.lines().count(), 2);
    check_round_trip(&database.serve());
}

fn a_missing_key_file_of_a_used_database_is_refused(database: &Database) {
    database.serve().stop();
    let (kek, aside) = (database.kek_file(), database.kek_file().with_extension("aside"));
    // The mark of the first version is retired. The second version is in use.
    database.operate(&["kek", "rotate"]);
    database.operate(&["kek", "retire", "1"]);
    fs::rename(&kek, &aside).unwrap();
    let refuse = || {
        let [rotate_key, rotate_issuer] =
            ["kek", "issuer"].map(|noun| database.admin_command(&[noun, "rotate"]));
        for command in [database.command(&["--dev"]), rotate_key, rotate_issuer] {
            check_refused(command, &["kek is missing", "restore the key file"]);
        }
        finds(doctor(database, &[]), "keys", "fail", "restore the key file");
        assert!(!kek.exists(), "no new key was created");
    };
    refuse();
    // The key file may be a link to a folder that is not mounted.
    std::os::unix::fs::symlink("nowhere/kek", &kek).unwrap();
    check_refused(database.command(&["--dev"]), &["missing"]);
    fs::remove_file(&kek).unwrap();
    database.by_hand("UPDATE kek_marks SET retired_at = 1");
    refuse();
    database.by_hand("UPDATE kek_marks SET retired_at = NULL WHERE version = 2");
    fs::rename(&aside, &kek).unwrap();
    check_round_trip(&database.serve());
}

fn an_unfinished_key_file_is_refused_with_advice(database: &Database) {
    migrate(database);
    fs::create_dir_all(database.data()).unwrap();
    let kek = database.kek_file();
    let line = run(binary(&["kek", "new"])).stdout;
    for length in [0, 1, 2, 30, 45] {
        fs::write(&kek, &line.as_bytes()[..length]).unwrap();
        fs::set_permissions(&kek, fs::Permissions::from_mode(0o600)).unwrap();
        check_refused(database.command(&["--dev"]), &["kek", "restore it", "delete it"]);
        assert_eq!(fs::read(&kek).unwrap(), line.as_bytes()[..length]);
    }
    fs::remove_file(&kek).unwrap();
    check_round_trip(&database.serve());
}

fn nodes_that_start_together_share_one_new_key_file(database: &Database) {
    migrate(database);
    let count = if database.postgres_url().is_some() { 4 } else { 1 };
    for server in at_once(count, |_| database.serve()) {
        check_round_trip(&server);
    }
    let folder = database.kek_file().parent().unwrap().to_owned();
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let keys: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("kek")).collect();
    assert_eq!(keys, ["kek"], "no temporary file stays");
}

/// The key file is on a small tmpfs. Mounting needs root, so without root this test does nothing.
#[test]
fn a_first_start_on_a_full_disk_leaves_no_key_file() {
    let (database, folder) = (Database::embedded(), tempfile::tempdir().unwrap());
    let mounted = folder.path().join("disk").display().to_string();
    let Some(disk) = SmallDisk::mount(&mounted) else { return };
    disk.fill();
    let kek = Path::new(&mounted).join("kek");
    let serve = || database.command(&["--dev", "--kek-file", &kek.display().to_string()]);
    check_refused(serve(), &["kek cannot be written", "No space left"]);
    let names = fs::read_dir(&mounted).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["filler"]);
    disk.make_room();
    check_round_trip(&Server::start(serve()));
    assert!(kek.exists());
}
