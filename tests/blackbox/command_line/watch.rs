//! Tests of `sealpost watch`, with a changed key and a rewritten log.

use std::fs::{self, File};

use serde_json::{Value, json};

use super::service::Shell;
use crate::support::{Database, binary, has, on_both, wait_until};

on_both!(an_owner_notices_a_changed_key_and_a_rewritten_log);

fn an_owner_notices_a_changed_key_and_a_rewritten_log(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let shell = Shell::of(&server);
    shell.log_in("default", &alice);
    let key = server.get("/log/");
    let folder = tempfile::tempdir().unwrap();
    let (policy, state) = (folder.path().join("policy"), folder.path().join("state"));
    fs::write(&policy, format!("log {}quorum none\n", String::from_utf8(key.body).unwrap()))
        .unwrap();
    let (policy, state) = (policy.to_str().unwrap(), state.to_str().unwrap());
    let watch = ["watch", "--policy", policy, "--state", state, "--json"];
    for _ in 0..2 {
        let shown: Value = serde_json::from_str(&shell.succeed(&watch, "")).unwrap();
        has(&shown, &json!({"key": alice.key, "status": "active"}));
        // The next check also has new entries of others.
        server.new_identity();
    }
    database.operate(&["key", "rotate", &alice.key]);
    // A check that cannot report leaves the change to the next one.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut unreported = binary(&watch);
    unreported.env("XDG_CONFIG_HOME", shell.config.path()).stdout(full);
    assert_eq!(unreported.output().unwrap().status.code(), Some(1));
    let changed = shell.run(&watch, "");
    assert_eq!(changed.status, Some(1), "{}", changed.stderr);
    let expected = "sealpost: the key has changed since the last check, from: key ";
    assert!(changed.stderr.starts_with(expected), "{}", changed.stderr);
    assert!(changed.stderr.contains("sealing_version 1, status active. If this was not you"));
    shell.succeed(&watch, "");
    let kept = fs::read_to_string(state).unwrap();
    // A forger with the database and the node's files lets the service sign another history.
    fs::remove_file(database.kept_checkpoint()).unwrap();
    database.by_hand(
        "BEGIN; UPDATE log_statements SET number = NULL, at = NULL, salt = NULL; \
         DELETE FROM log_entries; DELETE FROM log_tiles; DELETE FROM log_heads; COMMIT",
    );
    wait_until("the forged log", || database.count("log_heads") == 1);
    server.new_identity();
    let forged = shell.run(&watch, "");
    let expected =
        "sealpost: the history of the log was rewritten: keep the state file as evidence\n";
    assert_eq!((forged.status, &*forged.stderr), (Some(1), expected));
    assert_eq!(fs::read_to_string(state).unwrap(), kept, "the evidence is kept");
    for damage in [&b""[..], b"c2sp.org/tlog-proof@v1\n", b"\xff"] {
        fs::write(state, damage).unwrap();
        let damaged = shell.run(&watch, "");
        assert_eq!((damaged.status, &*damaged.stdout), (Some(1), ""));
        let advice = format!("{state} is damaged: restore it, or delete it to begin again: ");
        assert!(damaged.stderr.contains(&advice), "{}", damaged.stderr);
        assert_eq!(fs::read(state).unwrap(), damage);
    }
}
