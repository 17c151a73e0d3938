//! Tests that an interrupted `sealpost restore` leaves the old or the new database, complete.

use std::{
    fs, hint,
    path::{Path, PathBuf},
    process::Stdio,
};

use super::inputs::log_of;
use crate::support::{Database, Pairs, Process, Receiver, binary, run};

#[test]
fn a_restore_killed_at_any_step_leaves_the_old_or_the_new_database() {
    let original = Database::embedded();
    let (server, receiver) = (original.serve(), Receiver::start());
    let pairs = Pairs::activate(&server, &receiver);
    let alice = server.new_identity();
    pairs.send_during(&server, || ());
    let folder = tempfile::tempdir().unwrap();
    // Makes each step of the restore long enough to be seen.
    original.by_hand(
        "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         SELECT randomblob(10000) AS bytes FROM n",
    );
    let backup = folder.path().join("backup.db");
    assert_eq!(run(original.backup_to(&backup)).status, Some(0));
    let late = server.new_identity();
    server.kill();
    // A snapshot of the killed server, which has all of its changes.
    let snapshot = folder.path().join("sealpost.db");
    fs::copy(original.file(), &snapshot).unwrap();
    fs::copy(log_of(&original.file()), log_of(&snapshot)).unwrap();

    let work = |name: &str| format!("restoring/{name}");
    let steps = [
        work(""),
        work("copy.db"),
        work("copy.db-wal"),
        work("ready.db.sealpost-partial"),
        work("ready.db"),
        "sealpost.db.replaced-".to_owned(),
    ];
    let mut outcomes = Vec::new();
    for (source, has_late) in [(&backup, false), (&snapshot, true)] {
        for step in &steps {
            let database = Database::embedded();
            copy_folder(&original.data(), &database.data());
            kill_at(&database, source, step);
            let server = database.serve();
            let is_old = server.status(&alice).status == 200;
            server.log_in(&alice).ok();
            let login = server.log_in(&late);
            assert_eq!(login.status, if is_old || has_late { 200 } else { 401 }, "{step}");
            let envelopes = i64::try_from(pairs.count()).unwrap();
            assert_eq!(database.count("envelopes"), envelopes, "{step}");
            server.stop();
            outcomes.push((step, is_old));
        }
    }
    assert!(outcomes.iter().any(|(_, is_old)| *is_old), "{outcomes:?}");
}

/// Starts a restore, and kills it as soon as a file of this name appears in the data folder.
fn kill_at(database: &Database, source: &Path, step: &str) {
    let mut command = binary(&["restore", "--data-dir", &database.data()]);
    command.arg(source).stdout(Stdio::null());
    let mut process = Process::start(command);
    while !appears(database, step) && process.child().try_wait().unwrap().is_none() {
        hint::spin_loop();
    }
    process.kill();
}

fn appears(database: &Database, name: &str) -> bool {
    let folder = PathBuf::from(database.data());
    match name.strip_suffix('-').filter(|_| name.contains("replaced")) {
        None => folder.join(name).exists(),
        Some(start) => fs::read_dir(folder)
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with(start)),
    }
}

fn copy_folder(from: &str, to: &str) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), Path::new(to).join(entry.file_name())).unwrap();
    }
}
