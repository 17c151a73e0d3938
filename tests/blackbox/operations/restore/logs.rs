//! Tests of `sealpost restore` with a log beside the file, as a killed server leaves it: the log is applied, or the file is
//! refused.

use std::{fs, path::Path};

use diesel::{Connection as _, SqliteConnection, connection::SimpleConnection as _};

use super::inputs::{Scene, empty_with_key_of, log_of, restore};
use crate::support::{Database, text};

#[test]
fn a_restore_applies_the_log_of_a_killed_server() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    let bob = server.new_identity();
    let sent: Vec<_> = (0..5)
        .map(|number| {
            let sent = server.send(&alice, &bob.key, &format!("letter {number}")).ok();
            text(&sent, "envelope_id")
        })
        .collect();
    server.kill();
    let snapshot = tempfile::tempdir().unwrap();
    let copy = snapshot.path().join("sealpost.db");
    fs::copy(database.file(), &copy).unwrap();
    fs::copy(log_of(&database.file()), log_of(&copy)).unwrap();
    assert!(fs::metadata(log_of(&copy)).unwrap().len() > 0);
    let before = (fs::read(&copy).unwrap(), fs::read(log_of(&copy)).unwrap());

    let restored = empty_with_key_of(&database);
    let link = snapshot.path().join("link.db");
    std::os::unix::fs::symlink(&copy, &link).unwrap();
    let stdout = restore(&restored, &link, &[]).ok();
    let server = restored.serve();
    let bob = server.new_session(&bob);
    for (number, id) in sent.iter().enumerate() {
        let opened = server.open(&bob, id).ok();
        assert_eq!(opened["message"], format!("letter {number}"));
    }
    server.stop();
    assert!(!stdout.contains("without a write-ahead log"), "{stdout}");
    assert!(before == (fs::read(&copy).unwrap(), fs::read(log_of(&copy)).unwrap()));
    assert_eq!(fs::read_dir(snapshot.path()).unwrap().count(), 3, "the source gets no new files");
}

#[test]
fn a_restore_rolls_back_an_interrupted_transaction() {
    let scene = Scene::new();
    let source = scene.changed("journaled.db", |_| ());
    let mut connection = SqliteConnection::establish(source.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5").unwrap();
    connection
        .batch_execute(
            "BEGIN; UPDATE api_keys SET label = 'changed'; CREATE TABLE filler (bytes BLOB);
             INSERT INTO filler WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
             SELECT randomblob(10000) FROM n",
        )
        .unwrap();
    let snapshot = scene.path("snapshot.db");
    fs::copy(&source, &snapshot).unwrap();
    let journal = |file: &Path| format!("{}-journal", file.display());
    fs::copy(journal(&source), journal(&snapshot)).unwrap();
    drop(connection);
    restore(&scene.database, &snapshot, &[]).ok();
    assert_eq!(scene.database.count("sqlite_master WHERE name = 'filler'"), 0);
    assert_eq!(scene.database.count("api_keys WHERE label = 'changed'"), 0);
    let server = scene.database.serve();
    server.new_session(&scene.alice);
    server.stop();
}

#[test]
fn a_log_of_another_database_is_refused() {
    let scene = Scene::new();
    let other = Database::embedded();
    let server = other.serve();
    server.new_identity();
    server.kill();
    // The file itself is in the mode with a write-ahead log, as a copy of a stopped server is.
    let source = scene.path("stopped.db");
    fs::copy(scene.database.file(), &source).unwrap();
    fs::copy(log_of(&other.file()), log_of(&source)).unwrap();
    scene.refuses(&source, "backup");
    let backup = scene.path("backup.db");
    fs::copy(log_of(&other.file()), log_of(&backup)).unwrap();
    scene.refuses(&backup, "belongs to another database");
    scene.check_serves();
}

#[test]
fn a_missing_log_is_named() {
    let scene = Scene::new();
    let copy = scene.path("sealpost.db");
    fs::copy(scene.database.file(), &copy).unwrap();
    let stdout = restore(&scene.database, &copy, &[]).ok();
    assert!(stdout.contains("without a write-ahead log"), "{stdout}");
    let ended = restore(&scene.database, &scene.path("backup.db"), &[]);
    assert!(!ended.stdout.contains("without a write-ahead log"), "{}", ended.stdout);
}

#[test]
fn a_damaged_log_replaces_nothing() {
    let killed = Database::embedded();
    let server = killed.serve();
    server.new_identity();
    server.kill();
    let (file, log) = (fs::read(killed.file()).unwrap(), fs::read(log_of(&killed.file())).unwrap());
    let scene = Scene::new();
    fs::copy(killed.kek_file(), scene.database.kek_file()).unwrap();
    let source = scene.path("sealpost.db");
    fs::write(&source, file).unwrap();
    let frames = log.len() / FRAME;
    assert!(frames > 10, "{frames} frames");
    // The magic number, a salt and the checksum of the log, then each part of a frame: its salt, its checksum, its page.
    let in_frame = |offset| HEADER + frames / 2 * FRAME + offset;
    for at in [0, 17, 25, in_frame(9), in_frame(17), in_frame(1000), HEADER] {
        let mut damaged = log.clone();
        damaged[at] ^= 1;
        fs::write(log_of(&source), &damaged).unwrap();
        scene.refuses(&source, "damaged write-ahead log");
    }
    fs::write(scene.path("log"), &log).unwrap();
    fs::remove_file(log_of(&source)).unwrap();
    std::os::unix::fs::symlink(scene.path("log"), log_of(&source)).unwrap();
    scene.refuses(&source, "symbolic link");
    fs::remove_file(log_of(&source)).unwrap();
    // A kill while a commit is written cuts the last frame. Other commits are not lost.
    let mut cut = log[..HEADER + frames * FRAME].to_vec();
    cut.extend_from_slice(&log[HEADER..][..FRAME / 2]);
    fs::write(log_of(&source), &cut).unwrap();
    restore(&scene.database, &source, &[]).ok();
    assert_eq!(scene.database.count("accounts"), 1);
}

/// Sizes of the parts of a write-ahead log with pages of 4,096 bytes.
const HEADER: usize = 32;
const FRAME: usize = 24 + 4096;
