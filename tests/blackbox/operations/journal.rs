//! Tests of a revocation journal that has lost entries: the server, `/readyz` and `sealpost doctor` report the loss, and
//! `sealpost admin journal complete` repairs it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    doctor, finds,
    restore::{RECOGNISED, Scene, journals},
};
use crate::support::{Database, Server, on_both, wait_until};

on_both!(
    a_journal_that_is_missing_is_reported_and_completed,
    a_journal_without_its_entries_is_reported_and_completed,
    a_journal_that_vanishes_while_a_server_runs_is_reported,
    a_new_database_has_a_complete_journal,
);

fn a_journal_that_is_missing_is_reported_and_completed(database: &Database) {
    let scene = Scene::after_acts(database);
    fs::remove_file(journal(database)).unwrap();
    reports_and_completes(&scene, "lacks the first revocations");
}

fn a_journal_without_its_entries_is_reported_and_completed(database: &Database) {
    let scene = Scene::after_acts(database);
    let file = journal(database);
    let header = fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
    fs::write(&file, header + "\n").unwrap();
    reports_and_completes(&scene, "lost acts");
}

/// Starts a server on the database of a scene with a damaged journal.
#[track_caller]
fn reports_and_completes(scene: &Scene<'_>, fault: &str) {
    let database = scene.database;
    finds(doctor(database, &[]), "journal", "warn", fault);
    let server = database.serve();
    assert!(server.log().contains(fault), "{}", server.log());
    assert!(ready(&server).starts_with("ok\nwarning: ") && ready(&server).contains(fault));
    let eve = server.new_identity();
    database.operate(&["session", "end", &eve.account]);
    assert!(ready(&server).contains("admin journal complete"), "one act does not hide the loss");

    let done = database.operate(&["journal", "complete"]);
    assert!(done["entries"].as_u64().unwrap() >= 5, "{done}");
    let trail = database.operate(&["audit", "list"]);
    let newest = trail["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["action"], "journal.complete", "{newest}");
    wait_until("no warning", || ready(&server) == "ok\n");
    server.new_identity();
    database.operate(&["key", "deactivate", &eve.key]);
    server.stop();
    finds(doctor(database, &[]), "journal", "ok", "has every revocation");

    let restored = scene.restored();
    let server = restored.serve();
    assert!(server.log().contains(RECOGNISED), "{}", server.log());
    scene.check_revoked(&restored, &server);
    server.stop();
}

fn a_journal_that_vanishes_while_a_server_runs_is_reported(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.operate(&["key", "revoke", &alice.key]);
    fs::remove_file(journal(database)).unwrap();
    wait_until("a warning", || ready(&server).contains("warning: "));
    database.operate(&["key", "revoke", &bob.key]);
    assert!(ready(&server).contains("warning: "));
    server.stop();
    let server = database.serve();
    assert!(!server.log().contains(RECOGNISED), "{}", server.log());
    assert!(ready(&server).contains("lacks the first revocations"));
    server.stop();
}

fn a_new_database_has_a_complete_journal(database: &Database) {
    let servers = database.serve_on_every_node();
    for server in &servers {
        assert_eq!(ready(server), "ok\n");
    }
    let alice = servers[0].new_identity();
    database.operate(&["key", "revoke", &alice.key]);
    for server in servers {
        assert_eq!(ready(&server), "ok\n");
        server.stop();
    }
    let server = database.serve();
    assert_eq!(ready(&server), "ok\n");
    server.stop();
}

#[track_caller]
fn ready(server: &Server) -> String {
    let (status, text) = server.readiness();
    assert_eq!(status, 200, "{text}");
    text
}

#[track_caller]
fn journal(database: &Database) -> PathBuf {
    Path::new(&database.data()).join(&journals(database)[0])
}
