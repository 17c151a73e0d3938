//! Tests of a database that has several names: symbolic links, hard links and linked folders. One server runs on one
//! database under all names.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{doctor, finds};
use crate::support::{Database, Process, SOON, run, wait_until};

/// Returns a new database whose data folder has a copy of the other one's key file.
fn beside(database: &Database) -> Database {
    let other = Database::embedded();
    fs::create_dir(other.data()).unwrap();
    fs::copy(database.kek_file(), other.kek_file()).unwrap();
    other
}

#[track_caller]
fn is_refused(database: &Database, reason: &str) {
    let ended = run(database.command(&["--dev"]));
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
}

#[test]
fn a_database_has_one_server_under_all_its_names() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();

    let linked = beside(&database);
    symlink(database.file(), linked.file()).unwrap();
    is_refused(&linked, "another server is running");
    let twice = beside(&database);
    symlink(linked.file(), twice.file()).unwrap();
    is_refused(&twice, "another server is running");
    let relative = Database::embedded();
    symlink(database.data(), relative.data()).unwrap();
    is_refused(&relative, "another server is running");
    let hard = beside(&database);
    fs::hard_link(database.file(), hard.file()).unwrap();
    is_refused(&hard, "another hard link");
    let command = hard.backup_to(PathBuf::from(hard.data()).join("backup.db"));
    for mut command in [command, hard.admin_command(&["stats"]), doctor(&hard, &[])] {
        command.stderr(std::process::Stdio::null());
        assert_eq!(run(command).status, Some(1));
    }
    fs::remove_file(hard.file()).unwrap();
    server.stop();

    let server = twice.serve();
    server.status(&alice).ok();
    is_refused(&database, "another server is running");
    assert!(!twice.file().with_extension("db.lock").exists(), "the lock is beside the database");
    server.stop();
}

#[test]
fn a_link_to_a_missing_database_is_kept() {
    let disk = tempfile::tempdir().unwrap();
    let database = Database::embedded();
    fs::create_dir(database.data()).unwrap();
    symlink(disk.path().join("volume.db"), database.file()).unwrap();
    // The key file of an existing database is never created, and the link leads to no database yet.
    let server = database.serve();
    server.new_identity();
    server.stop();
    assert!(disk.path().join("volume.db").exists());
    assert!(disk.path().join("volume.db.lock").exists());
}

#[test]
fn a_restore_keeps_the_link_and_the_disk_of_the_database() {
    let original = Database::embedded();
    let server = original.serve();
    let alice = server.new_identity();
    server.stop();
    let disk = tempfile::tempdir().unwrap();
    let target = disk.path().join("volume.db");
    fs::rename(original.file(), &target).unwrap();
    symlink(&target, original.file()).unwrap();
    let backup = disk.path().join("backup.db");
    let ran = run(original.backup_to(&backup));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let server = original.serve();
    let late = server.new_identity();
    server.stop();

    run(original.restore_from(&backup)).ok();
    assert_eq!(fs::read_link(original.file()).unwrap(), target);
    // The replaced database keeps its log, if the server left one.
    let mut replaced = names(disk.path(), "volume.db.replaced-");
    replaced
        .retain(|name| !["-wal", "-shm"].iter().any(|end| name.to_string_lossy().ends_with(end)));
    assert_eq!(
        (replaced.len(), names(Path::new(&original.data()), "sealpost.db.replaced").len()),
        (1, 0)
    );
    let server = original.serve();
    server.log_in(&alice).ok();
    server.status(&late).refused(401, "UNAUTHORIZED");
    server.stop();
}

#[test]
fn a_restore_replaces_no_database_that_a_command_uses() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    let backup = PathBuf::from(database.data()).join("backup.db");
    assert_eq!(run(database.backup_to(&backup)).status, Some(0));
    server.stop();
    let restore = || run(database.restore_from(&backup));
    // A rotation keeps the database open for some seconds.
    let mut command = database.admin_command(&["kek", "rotate"]);
    let mut rotation = Process::start(command.stdout(std::process::Stdio::null()));
    let shared_memory = PathBuf::from(format!("{}-shm", database.file().display()));
    wait_until("the rotation opens the database", || shared_memory.exists());
    let ended = restore();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("is in use"), "{ended:?}");
    assert_eq!(rotation.ended(SOON), Some(0));
    let server = database.serve();
    server.status(&alice).ok();
    server.stop();
    assert_eq!(restore().status, Some(0));
}

#[test]
fn a_second_name_that_an_interrupted_restore_left_is_removed() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    server.stop();
    let second = PathBuf::from(format!("{}.replaced-1700000000", database.file().display()));
    fs::hard_link(database.file(), &second).unwrap();
    finds(doctor(&database, &[]), "folder", "ok", "only the owner");
    let server = database.serve();
    server.status(&alice).ok();
    server.stop();
    assert!(!second.exists());
    // A replaced database is another file, and stays.
    fs::copy(database.file(), &second).unwrap();
    database.serve().stop();
    assert!(second.exists());
}

fn names(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    named.map(|entry| entry.path()).collect()
}
