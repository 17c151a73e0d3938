//! Tests that `sealpost doctor` finds the causes that prevent a start, names the fix, and changes nothing.

use std::{
    fs, net::TcpListener, os::unix::fs::PermissionsExt as _, path::Path, process::Command,
    time::Duration,
};

use serde_json::Value;

use crate::support::{Authority, Database, Server, binary, on_both, run};

on_both!(
    the_database_of_a_stopped_server_passes_all_checks,
    a_running_server_is_no_finding,
    a_key_file_of_another_database_is_found,
    unreadable_rows_are_found,
    a_schema_of_another_version_is_found,
);

/// Returns the command `sealpost doctor`, which listens on free ports unless `more` sets the addresses.
pub(crate) fn doctor(database: &Database, more: &[&str]) -> Command {
    let mut command = binary(&["doctor", "--data-dir", &database.data()]);
    for (flag, free) in [("--listen", "127.0.0.1:0"), ("--ops-listen", "127.0.0.1:0")] {
        if !more.iter().any(|argument| argument.starts_with(&format!("{flag}="))) {
            command.args([flag, free]);
        }
    }
    if let Some(url) = database.postgres_url() {
        command.args(["--database-url", url, "--kek-file"]).arg(database.kek_file());
    }
    command.args(more);
    command
}

/// Runs the command, and returns the check, verdict and detail of each finding. Checks that the exit status matches.
#[track_caller]
fn findings(mut command: Command) -> Vec<(String, String, String)> {
    command.arg("--json");
    let ended = run(command);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let of = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let found: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (of(finding, "check"), of(finding, "verdict"), of(finding, "detail")))
        .collect();
    let is_healthy = found.iter().all(|(_, verdict, _)| verdict != "fail");
    assert_eq!(report["healthy"], is_healthy);
    assert_eq!(ended.status, Some(i32::from(!is_healthy)), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), usize::from(!is_healthy), "{ended:?}");
    found
}

/// Asserts that `check` has this verdict and a detail with the text `reported`, and that no other check fails.
#[track_caller]
pub(crate) fn finds(command: Command, check: &str, verdict: &str, reported: &str) {
    shows(&findings(command), check, verdict, reported);
}

#[track_caller]
fn shows(found: &[(String, String, String)], check: &str, verdict: &str, reported: &str) {
    let is_it =
        |(c, v, d): &(String, String, String)| c == check && v == verdict && d.contains(reported);
    assert!(found.iter().any(is_it), "{check} {verdict} {reported}: {found:#?}");
    let others = found.iter().filter(|(c, v, _)| c != check && v == "fail");
    assert_eq!(others.count(), 0, "{found:#?}");
}

fn the_database_of_a_stopped_server_passes_all_checks(database: &Database) {
    let server = database.serve();
    let identity = server.new_identity();
    server.register(&identity, "http://127.0.0.1:8090/");
    server.stop();
    let engine = if database.postgres_url().is_some() { "PostgreSQL" } else { "SQLite" };
    let found = findings(doctor(database, &[]));
    for (check, reported) in [
        ("rows", "all 2 sampled rows"),
        ("keys", "versions [1]"),
        ("clock", "it is 2"),
        ("database", engine),
    ] {
        shows(&found, check, "ok", reported);
    }
    let ended = run(doctor(database, &[]));
    assert!(ended.stdout.lines().all(|line| line.starts_with("ok  ") || line.starts_with("warn")));
    assert!(!ended.stdout.contains('\u{1b}'), "colours are for terminals");
}

fn a_running_server_is_no_finding(database: &Database) {
    let server = database.serve();
    server.new_identity();
    let taken = |flag: &str, url: &str| format!("{flag}={}", url.strip_prefix("http://").unwrap());
    let (listen, ops) = (taken("--listen", &server.url), taken("--ops-listen", &server.ops_url));
    finds(doctor(database, &[&listen, &ops]), "port", "ok", "used by a running Sealpost server");
    server.new_identity();
    server.stop();
}

fn a_key_file_of_another_database_is_found(database: &Database) {
    let server = database.serve();
    server.new_identity();
    server.stop();
    let kek = database.kek_file();
    let right = fs::read(&kek).unwrap();
    fs::write(&kek, run(binary(&["kek", "new"])).stdout).unwrap();
    finds(doctor(database, &[]), "keys", "fail", "does not match this database");
    fs::write(&kek, run(binary(&["kek", "new", "--version", "2"])).stdout).unwrap();
    finds(doctor(database, &[]), "keys", "fail", "version 1 is missing");
    fs::write(&kek, "rubbish").unwrap();
    finds(doctor(database, &[]), "keys", "fail", "not a list of keys");
    fs::write(&kek, &right).unwrap();
    fs::set_permissions(&kek, fs::Permissions::from_mode(0o644)).unwrap();
    finds(doctor(database, &[]), "keys", "fail", "chmod 600");
    fs::remove_file(&kek).unwrap();
    finds(doctor(database, &[]), "keys", "fail", "kek");
    assert!(!kek.exists(), "no new key file is created");
    assert_eq!(database.count("kek_marks"), 1, "the doctor leaves no mark");
}

fn unreadable_rows_are_found(database: &Database) {
    let server = database.serve();
    let identity = server.new_identity();
    server.new_identity();
    server.stop();
    let other = format!("(SELECT root FROM api_keys WHERE id <> '{}')", identity.key);
    database.by_hand(&format!("UPDATE api_keys SET root = {other} WHERE id = '{}'", identity.key));
    finds(doctor(database, &[]), "rows", "fail", "1 of 2 sampled rows cannot be decrypted");
}

fn a_schema_of_another_version_is_found(database: &Database) {
    database.serve().stop();
    let versions = "__diesel_schema_migrations";
    database.by_hand(&format!("INSERT INTO {versions} (version) VALUES ('9999')"));
    finds(doctor(database, &[]), "schema", "fail", "newer than this version");
    database.by_hand(&format!("DELETE FROM {versions}"));
    if database.postgres_url().is_some() {
        finds(doctor(database, &[]), "schema", "fail", "sealpost migrate");
        finds(doctor(database, &["--migrate"]), "schema", "ok", "the start applies");
    } else {
        finds(doctor(database, &[]), "schema", "ok", "the start applies");
    }
}

#[test]
fn an_empty_data_folder_passes_all_checks_and_stays_empty() {
    let database = Database::embedded();
    let found = findings(doctor(&database, &[]));
    for check in ["folder", "database", "keys"] {
        shows(&found, check, "ok", "the first start creates");
    }
    assert!(!Path::new(&database.data()).exists());
}

#[test]
fn settings_rejected_by_a_server_are_found() {
    let database = Database::embedded();
    let open = "--listen=0.0.0.0:0";
    finds(doctor(&database, &[open]), "settings", "fail", "--behind-tls-proxy");
    finds(doctor(&database, &["--webhook-lease=20s"]), "settings", "fail", "--webhook-lease");
    for refused in ["--webhook-extra-roots=/nowhere", "--circuits=/nowhere", "--base-url=nowhere"] {
        finds(doctor(&database, &[refused]), "settings", "fail", "nowhere");
    }
    for refused in ["--log=a=b=c", "--log=warning"] {
        finds(doctor(&database, &[refused]), "settings", "fail", "--log");
    }
    let unstated = [open, "--behind-tls-proxy"];
    finds(doctor(&database, &unstated), "settings", "fail", "--trusted-proxy none");
    let behind = [open, "--behind-tls-proxy", "--trusted-proxy=none"];
    finds(doctor(&database, &behind), "settings", "warn", "--trusted-proxy");
    finds(doctor(&database, &behind), "settings", "warn", "--base-url");
    let clear = [&behind[..], &["--base-url=http://a.example"]].concat();
    finds(doctor(&database, &clear), "settings", "warn", "https://");
    let postgres = Database::postgres();
    let mut without_keys = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off"]);
    without_keys.args(["--database-url", postgres.url(), "--migrate"]);
    finds(without_keys, "settings", "fail", "sealpost kek new");
}

#[test]
fn files_readable_by_other_users_are_found() {
    let database = Database::embedded();
    database.serve().stop();
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    chmod(Path::new(&database.data()), 0o755);
    finds(doctor(&database, &[]), "folder", "warn", "can list");
    for mode in [0o777, 0o770] {
        chmod(Path::new(&database.data()), mode);
        finds(doctor(&database, &[]), "folder", "fail", "can replace files");
    }
    chmod(Path::new(&database.data()), 0o755);
    chmod(&database.file(), 0o644);
    finds(doctor(&database, &[]), "folder", "fail", "chmod 600");
    let below_a_file = database.file().join("data").display().to_string();
    let mut nowhere = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off"]);
    nowhere.args(["--data-dir", &below_a_file]);
    finds(nowhere, "folder", "fail", "--data-dir");
}

#[test]
fn an_unusable_database_is_found() {
    let database = Database::embedded();
    database.serve().stop();
    // A remaining log would be read instead of the database.
    drop(fs::remove_file(database.file().with_extension("db-wal")));
    fs::write(database.file(), "this is no database, whatever it is called".repeat(100)).unwrap();
    finds(doctor(&database, &[]), "database", "fail", "--database-url");
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("postgres://ann:hunter2@localhost/x?host={}", folder.path().display());
    let kek = folder.path().join("kek");
    fs::write(&kek, run(binary(&["kek", "new"])).stdout).unwrap();
    fs::set_permissions(&kek, fs::Permissions::from_mode(0o600)).unwrap();
    let command = |url: &str| {
        let mut command = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        command.args(["--database-url", url, "--kek-file"]).arg(&kek);
        command
    };
    finds(command(&nowhere), "database", "fail", "--database-url");
    let ended = run(command(&nowhere));
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("hunter2"));
    let elsewhere = command("postgres://ann@db.invalid:1/x?sslmode=disable");
    finds(elsewhere, "database", "warn", "not encrypted");
}

#[test]
fn an_address_in_use_is_found() {
    let database = Database::embedded();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap();
    let listen = format!("--listen={address}");
    finds(doctor(&database, &[&listen]), "port", "fail", &address.to_string());
}

#[test]
fn a_running_server_without_operations_address_is_no_finding() {
    let database = Database::embedded();
    let off = "--ops-listen=off";
    let mut command = binary(&["serve", off, "--listen=127.0.0.1:0", "--data-dir"]);
    command.arg(database.data());
    let server = Server::start(command);
    let listen = format!("--listen={}", server.url.strip_prefix("http://").unwrap());
    finds(doctor(&database, &[&listen, off]), "port", "ok", "used by a running Sealpost server");
    server.stop();
}

#[test]
fn an_expiring_or_mismatched_certificate_is_found() {
    let (database, authority) = (Database::embedded(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    let files = [format!("--tls-cert={}", chain.display()), format!("--tls-key={}", key.display())];
    let command = || doctor(&database, &[&files[0], &files[1]]);
    let day = Duration::from_hours(24);
    finds(command(), "tls", "fail", "cannot be read");
    authority.issue_for(15 * day).write(&chain, &key);
    finds(command(), "tls", "ok", "valid until");
    authority.issue_for(13 * day).write(&chain, &key);
    finds(command(), "tls", "warn", "expires on");
    authority.issue_until(2001).write(&chain, &key);
    finds(command(), "tls", "fail", "expired on 2001-01-01");
    fs::write(&key, authority.issue().key_pem).unwrap();
    finds(command(), "tls", "fail", "does not belong");
}
