//! Tests of the rotation of the key-encryption key under load, including a kill during the rotation.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    time::Duration,
};

use diesel::{Connection as _, PgConnection, connection::SimpleConnection as _};
use serde_json::json;

use super::kek_providers::{MESSAGE, send_and_open};
use crate::support::{
    Database, Identity, Pairs, Receiver, binary, has, on_both, on_embedded, run, text, wait_until,
};

on_both!(
    a_killed_and_repeated_rotation_loses_nothing_under_load,
    a_version_is_retired_once_it_encrypts_no_row,
);
on_embedded!(
    concurrent_rotations_are_rejected,
    keys_in_the_environment_cannot_be_rotated_by_command,
);

fn a_killed_and_repeated_rotation_loses_nothing_under_load(database: &Database) {
    let server = database.serve();
    let (receiver, of_bob) = (Receiver::start(), Receiver::start());
    let pairs = Pairs::activate(&server, &receiver);
    let bob = server.new_identity();
    let secret = text(&server.register(&bob, &of_bob.url), "secret");
    // Two messages a second for each key: about a hundred in all. Each is opened twice later.
    database.by_hand(
        "UPDATE api_keys SET plan = 'enterprise', enterprise_per_minute = 10000, \
         enterprise_per_day = 10000, enterprise_per_month = 10000, enterprise_per_second = 2, \
         enterprise_allow_overage = FALSE",
    );
    let mut letters = vec![send_and_open(&server, &bob)];
    let done = pairs.send_during(&server, || {
        // Kills once while the servers load the key, and once while only some rows are re-encrypted.
        kill_when(rotation(database), || versions(database).len() == 2);
        letters.push(send_and_open(&server, &bob));
        fail_rotation_at(database, &bob);
        letters.push(send_and_open(&server, &bob));
        database.operate(&["kek", "rotate"])
    });
    letters.push(send_and_open(&server, &bob));
    check_file(database);
    assert_eq!((&done["version"], &done["secrets"]), (&json!(2), &json!(pairs.len() + 1)));
    let roots = usize::try_from(done["roots"].as_u64().unwrap()).unwrap();
    assert!(
        (1..2 * pairs.len()).contains(&roots),
        "the rotation must continue the interrupted one: {done}"
    );
    for request in of_bob.await_requests(letters.len()) {
        request.verify(&secret);
    }
    // New identities use only the new key.
    let carol = server.new_identity();
    let of_carol = send_and_open(&server, &carol);
    pairs.check(&server, &receiver, Duration::from_mins(1));

    server.stop();
    let server = database.serve();
    pairs.send_during(&server, || ());
    pairs.check(&server, &receiver, Duration::from_mins(1));
    for id in &letters {
        assert_eq!(server.open(&bob, id).ok()["message"], MESSAGE);
    }
    assert_eq!(server.open(&carol, &of_carol).ok()["message"], MESSAGE);
    send_and_open(&server, &bob);
    of_bob.await_requests(letters.len() + 1)[letters.len()].verify(&secret);
    assert_eq!(database.operate(&["audit", "verify"])["verdict"], "whole");
    server.stop();
}

fn keys_in_the_environment_cannot_be_rotated_by_command(database: &Database) {
    let server = database.serve();
    let mut command = database.admin_command(&["kek", "rotate"]);
    command.env("SEALPOST_KEK", run(binary(&["kek", "new"])).stdout.trim());
    let stderr = run(command).refused(1);
    assert!(stderr.contains("SEALPOST_KEK") && stderr.contains("--kek-file"));
    assert_eq!(versions(database), ["1"]);
    server.new_identity();
}

fn concurrent_rotations_are_rejected(database: &Database) {
    let server = database.serve();
    server.new_identity();
    let mut first = rotation(database).spawn().unwrap();
    wait_until("the first rotation has started", || versions(database).len() == 2);
    let refusal = database.operate_refused(1, &["kek", "rotate"]);
    assert!(refusal.contains("another rotation"), "{refusal}");
    assert!(first.wait().unwrap().success());
    assert_eq!(versions(database), ["1", "2"]);
}

fn a_version_is_retired_once_it_encrypts_no_row(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let letter = send_and_open(&server, &alice);
    let newest = database.operate_refused(1, &["kek", "retire", "1"]);
    assert!(newest.contains("newest"), "{newest}");
    database.by_hand("CREATE TABLE kept AS SELECT id, root FROM api_keys");
    database.operate(&["kek", "rotate"]);
    database
        .by_hand("UPDATE api_keys SET root = (SELECT root FROM kept WHERE kept.id = api_keys.id)");
    let used = database.operate_refused(1, &["kek", "retire", "1"]);
    assert!(used.contains("encrypts 1 rows (1 identities"), "{used}");
    assert_eq!(database.count("kek_marks WHERE retired_at IS NULL"), 2);
    database.operate(&["kek", "rotate"]);
    let unknown = database.operate_refused(1, &["kek", "retire", "7"]);
    assert!(unknown.contains("there is no"), "{unknown}");

    let retired = database.operate(&["kek", "retire", "1"]);
    assert_eq!(retired, json!({"retired": 1, "newest": 2}));
    database.operate_refused(1, &["kek", "retire", "1"]);
    let entries = &database.operate(&["audit", "list", "--limit", "1"])["entries"];
    has(&entries[0], &json!({"action": "kek.retire", "subject": "kek:1"}));
    // A server without the newest version can still write such a row. The command shows it, and a rotation encrypts it
    // again.
    database
        .by_hand("UPDATE api_keys SET root = (SELECT root FROM kept WHERE kept.id = api_keys.id)");
    let late = database.operate_refused(1, &["kek", "retire", "1"]);
    assert!(late.contains("encrypts 1 rows (1 identities"), "{late}");
    has(&database.operate(&["kek", "rotate"]), &json!({"version": 2, "roots": 1}));
    server.stop();
    // With its line, the version stays retired; without it, servers start.
    database.serve().stop();
    let lines = fs::read_to_string(database.kek_file()).unwrap();
    let left: String = lines.lines().filter(|line| !line.starts_with("1:")).collect();
    fs::write(database.kek_file(), left).unwrap();
    let server = database.serve();
    assert_eq!(server.open(&alice, &letter).ok()["message"], MESSAGE);
    server.stop();
}

/// The systemd unit gives a server such a copy.
#[test]
fn a_server_with_a_copy_of_the_key_file_warns_after_a_rotation() {
    let database = Database::embedded();
    database.serve().stop();
    let copy = database.folder().join("copy");
    fs::copy(database.kek_file(), &copy).unwrap();
    let server = database.serve_with(&["--kek-file", &copy.display().to_string()]);
    let ready = || server.readiness().1;
    assert_eq!(ready(), "ok\n");
    database.operate(&["kek", "rotate"]);
    let warning = "ok\nwarning: this server lacks the key-encryption key version 2";
    assert!(ready().starts_with(warning), "{}", ready());

    fs::copy(database.kek_file(), &copy).unwrap();
    wait_until("the server loads the version", || ready() == "ok\n");
    server.stop();
}

#[test]
fn a_version_is_not_retired_if_a_row_under_it_is_written_meanwhile() {
    let database = Database::postgres();
    let server = database.serve();
    server.new_identity();
    database.by_hand("CREATE TABLE kept AS SELECT id, root FROM api_keys");
    database.operate(&["kek", "rotate"]);
    server.stop();
    let mut writer = PgConnection::establish(database.url()).unwrap();
    writer.batch_execute("BEGIN; LOCK TABLE audit_entries").unwrap();
    let mut retire = database.admin_command(&["kek", "retire", "1"]);
    retire.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let retire = retire.spawn().unwrap();
    let waiting =
        "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    wait_until("the command waits for the audit trail", || database.count(waiting) > 0);
    let old =
        "UPDATE api_keys SET root = (SELECT root FROM kept WHERE kept.id = api_keys.id); COMMIT";
    writer.batch_execute(old).unwrap();
    let ended = retire.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("encrypts 1 rows (1 identities"), "{stderr}");
    assert_eq!(database.count("kek_marks WHERE retired_at IS NULL"), 2);
}

fn rotation(database: &Database) -> Command {
    let mut command = database.admin_command(&["kek", "rotate"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Sends SIGKILL as soon as `is_so` returns true.
fn kill_when(mut command: Command, is_so: impl FnMut() -> bool) {
    let mut rotation = command.spawn().unwrap();
    wait_until("the rotation reaches the expected point", is_so);
    rotation.kill().unwrap();
    rotation.wait().unwrap();
}

/// Runs a rotation that fails when it re-encrypts this API key.
fn fail_rotation_at(database: &Database, last: &Identity) {
    let update = "BEFORE UPDATE OF root ON api_keys FOR EACH ROW";
    let when = format!("WHEN (NEW.id = '{}')", last.key);
    let (make, unmake) = match database.postgres_url() {
        Some(_) => (
            format!(
                "CREATE FUNCTION stop() RETURNS TRIGGER LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'no further'; END $$; \
                 CREATE TRIGGER stop {update} {when} EXECUTE FUNCTION stop()"
            ),
            "DROP TRIGGER stop ON api_keys; DROP FUNCTION stop()",
        ),
        None => (
            format!(
                "CREATE TRIGGER stop {update} {when} BEGIN SELECT RAISE(ABORT, 'no further'); END"
            ),
            "DROP TRIGGER stop",
        ),
    };
    database.by_hand(&make);
    database.operate_refused(1, &["kek", "rotate"]);
    database.by_hand(unmake);
}

/// Checks that the key file contains versions 1 and 2 of the key-encryption key, and that only the file owner can
/// access it.
fn check_file(database: &Database) {
    assert_eq!(versions(database), ["1", "2"]);
    let mode = fs::metadata(database.kek_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn versions(database: &Database) -> Vec<String> {
    let text = fs::read_to_string(database.kek_file()).unwrap();
    text.lines().map(|line| line.split_once(':').unwrap().0.to_owned()).collect()
}
