//! Tests of invalid settings and data at startup. The server names the fix and leaves the data unchanged.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use serde_json::json;

use crate::support::{
    CommandResult, Database, Identity, Server, binary, on_embedded, run, text, within,
};

on_embedded!(a_wrong_key_file_is_rejected_and_the_right_one_still_works);

fn a_wrong_key_file_is_rejected_and_the_right_one_still_works(database: &Database) {
    let (identity, envelope) = leave_an_envelope(database);
    let (kek, aside) = (database.kek_file(), database.kek_file().with_extension("aside"));
    fs::rename(&kek, &aside).unwrap();
    database.write_kek();
    assert!(refused(database.command(&[])).contains("key-encryption key"));
    fs::write(&kek, run(binary(&["kek", "new", "--version", "2"])).stdout).unwrap();
    let missing = refused(database.command(&[]));
    assert!(missing.contains("version 1"), "{missing}");
    for garbage in ["", "1:", "hello", "1:AAAA", "0:AAAA", "1:A\n1:B"] {
        fs::write(&kek, garbage).unwrap();
        refused(database.command(&[]));
    }
    fs::write(&kek, fs::read(&aside).unwrap()).unwrap();
    fs::set_permissions(&kek, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(refused(database.command(&[])).contains("chmod 600"));
    fs::set_permissions(&kek, fs::Permissions::from_mode(0o600)).unwrap();
    check_envelope(&database.serve(), &identity, &envelope);
}

#[test]
fn the_data_folder_is_accessible_only_to_its_owner() {
    let database = Database::embedded();
    drop(database.serve());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(std::path::Path::new(&database.data())), 0o700);
    for file in fs::read_dir(database.data()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_data_folder_that_other_users_can_write_is_warned_about() {
    let database = Database::embedded();
    drop(database.serve());
    for (mode, is_warned) in [(0o777, true), (0o770, true), (0o755, false), (0o700, false)] {
        fs::set_permissions(database.data(), fs::Permissions::from_mode(mode)).unwrap();
        let server = database.serve();
        server.new_identity();
        let log = server.log();
        assert_eq!(log.contains("other users can replace files"), is_warned, "{mode:o}: {log}");
        assert_eq!(log.contains("chmod 700"), is_warned, "{mode:o}: {log}");
        server.stop();
    }
}

#[test]
fn a_new_database_beside_the_journal_of_a_lost_one_is_warned_about() {
    let database = Database::embedded();
    let is_warned = || {
        let server = database.serve();
        let log = server.log();
        server.stop();
        log.contains("the journal of an earlier database")
    };
    assert!(!is_warned());
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(format!("{}{suffix}", database.file().display())));
    }
    assert!(is_warned());
    assert!(!is_warned(), "the database is no longer new");
}

#[test]
fn a_low_limit_of_open_files_is_warned_about() {
    let database = Database::embedded();
    let server = Server::start(within("ulimit -n 512", &database.command(&["--dev"])));
    assert!(server.log().contains("few files can be open"), "{}", server.log());
    server.stop();
    assert!(!database.serve().log().contains("few files can be open"));
}

#[test]
fn a_second_server_on_the_same_data_folder_is_rejected() {
    let database = Database::embedded();
    let server = database.serve();
    let message = refused(database.command(&["--dev"]));
    assert!(message.contains("another server") && message.contains("--data-dir"), "{message}");
    server.new_identity();
    server.kill();
    drop(database.serve());
}

#[test]
fn a_port_in_use_is_reported() {
    let server = Database::embedded().serve();
    let taken = server.url.strip_prefix("http://").unwrap();
    for flag in ["--listen", "--ops-listen"] {
        let mut command = binary(&["serve", "--dev", "--data-dir", &Database::embedded().data()]);
        let other = if flag == "--listen" { "--ops-listen" } else { "--listen" };
        command.args([flag, taken, other, "127.0.0.1:0"]);
        assert!(refused(command).contains(taken));
    }
}

#[test]
fn keys_may_come_only_from_the_environment() {
    let line = run(binary(&["kek", "new"])).stdout;
    let second = run(binary(&["kek", "new", "--version", "2"])).stdout;
    let database = Database::embedded();
    let serve = |kek: &str| {
        let mut command = database.command(&["--dev"]);
        command.env("SEALPOST_KEK", kek);
        command
    };
    let server = Server::start(serve(line.trim()));
    let identity = server.new_identity();
    let envelope = text(&server.send(&identity, &identity.key, MESSAGE).ok(), "envelope_id");
    server.stop();
    assert!(!database.kek_file().exists());
    let both = format!("{},{}", line.trim(), second.trim());
    check_envelope(&Server::start(serve(&both)), &identity, &envelope);
    refused(serve(second.trim()));
    refused(serve("hello"));
    let mut twice = serve(line.trim());
    twice.arg("--kek-file").arg(database.kek_file());
    let contradiction = run(twice);
    assert_eq!(contradiction.status, Some(2), "{contradiction:?}");
    assert!(contradiction.stderr.contains("not both"), "{contradiction:?}");
}

#[cfg(not(feature = "postgres-tls"))]
#[test]
fn a_remote_postgresql_is_rejected_without_tls() {
    let database = Database::at("postgres://postgres@0.0.0.0:1/x".to_owned());
    let message = refused(database.command(&[]));
    assert!(message.contains("--features postgres-tls"), "{message}");
    assert!(message.contains("--database-in-clear"), "{message}");
}

#[test]
fn postgresql_without_keys_is_rejected_with_advice() {
    let database = Database::postgres();
    let free = ["serve", "--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0"];
    let message = refused(binary(&[&free[..], &["--database-url", database.url()]].concat()));
    assert!(message.contains("sealpost kek new") && message.contains("--kek-file"), "{message}");
}

#[test]
fn postgresql_with_pending_migrations_is_rejected_until_migrated() {
    let database = Database::empty_postgres();
    let without_migrate = || {
        let mut command = binary(&["serve", "--dev", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        command.args(["--database-url", database.url(), "--kek-file"]).arg(database.kek_file());
        // The default folder of the journal is in the working folder.
        command.arg("--revocation-journal=off");
        command
    };
    let message = refused(without_migrate());
    assert!(message.contains("sealpost migrate") && message.contains("--migrate"), "{message}");
    let migrate = || run(binary(&["migrate", "--database-url", database.url()]));
    for word in ["applied", "up to date"] {
        let migrated = migrate();
        assert_eq!(migrated.status, Some(0), "{migrated:?}");
        assert!(migrated.stdout.contains(word), "{migrated:?}");
    }
    Server::start(without_migrate()).new_identity();
}

#[test]
fn boolean_variables_accept_common_spellings() {
    let database = Database::embedded();
    for (word, is_dev) in [
        ("1", true),
        ("yes", true),
        ("on", true),
        ("true", true),
        ("0", false),
        ("no", false),
        ("off", false),
        ("false", false),
    ] {
        let mut command = binary(&["serve", "--listen=0.0.0.0:0", "--ops-listen=off"]);
        command.args(["--data-dir", &database.data()]).env("SEALPOST_DEV", word);
        let message = refused(command);
        assert_eq!(message.contains("--dev is for loopback only"), is_dev, "{word}: {message}");
    }
    for (variable, flag) in [
        ("SEALPOST_BEHIND_TLS_PROXY", "--behind-tls-proxy"),
        ("SEALPOST_DEV", "--dev"),
        ("SEALPOST_MIGRATE", "--migrate"),
    ] {
        // `SEALPOST_DEV` above has all words.
        for word in ["yes", "off"] {
            let mut command = binary(&["serve", "--listen=nowhere"]);
            command.env(variable, word);
            let ended = run(command);
            assert!(ended.stderr.contains("'--listen <ADDR>'"), "{variable} {word}: {ended:?}");
        }
        let mut command = binary(&["serve"]);
        command.env(variable, "perhaps");
        let ended = run(command);
        assert_eq!(ended.status, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("'perhaps'") && ended.stderr.contains(flag), "{ended:?}");
        // On the command line the flag takes no value.
        assert_eq!(run(binary(&["serve", &format!("{flag}=1")])).status, Some(2));
    }
    assert!(!std::path::Path::new(&database.data()).exists(), "no file was created");
}

#[test]
fn tls_and_a_tls_proxy_exclude_each_other() {
    let command = |variable: &str| {
        let mut command = binary(&["serve", "--listen=127.0.0.1:0", "--ops-listen=off"]);
        command.args(["--tls-cert=nowhere", "--tls-key=nowhere"]);
        command.env("SEALPOST_BEHIND_TLS_PROXY", variable);
        command
    };
    let ended = run(command("1"));
    assert_eq!(ended.status, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("either --tls-cert or --behind-tls-proxy"), "{ended:?}");
    assert!(refused(command("0")).contains("nowhere"));
}

#[test]
fn an_sqlite_database_outside_the_data_folder_has_its_key_file_inside() {
    let database = Database::embedded();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("elsewhere.db");
    let url = format!("sqlite:{}", file.display());
    let (kek, aside) = (database.kek_file(), database.kek_file().with_extension("aside"));
    let server = Server::start(database.command(&["--dev", "--database-url", &url]));
    let identity = server.new_identity();
    let envelope = text(&server.send(&identity, &identity.key, MESSAGE).ok(), "envelope_id");
    assert!(kek.exists() && file.exists() && !database.file().exists());
    let folder = fs::metadata(database.data()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    // Operator commands find the same keys.
    for command in [&["kek", "rotate"][..], &["issuer", "rotate"]] {
        database.operate(&[command, &["--database-url", &url]].concat());
    }
    server.stop();
    fs::rename(&kek, &aside).unwrap();
    for arguments in [&["--dev"][..], &["--dev", "--migrate"]] {
        let message = refused(database.command(&[arguments, &["--database-url", &url]].concat()));
        assert!(message.contains("missing") && message.contains("elsewhere.db"), "{message}");
    }
    assert!(!kek.exists(), "no new key was created");
    fs::rename(&aside, &kek).unwrap();
    let server = Server::start(database.command(&["--dev", "--database-url", &url]));
    check_envelope(&server, &identity, &envelope);
}

#[test]
fn an_unreachable_database_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("postgres://ann:hunter2@localhost/x?host={}", folder.path().display());
    let kek = Database::postgres();
    let mut command =
        binary(&["serve", "--listen=127.0.0.1:0", "--database-url", &nowhere, "--kek-file"]);
    command.arg(kek.kek_file());
    assert!(!refused(command).contains("hunter2"));
    refused(binary(&["migrate", "--database-url", &nowhere]));
}

#[test]
fn a_malformed_database_url_is_not_shown() {
    for (url, advice) in [
        ("postgress://ann:hunter2@h/x", "give the database as"),
        ("\"postgres://ann:hunter2@h/x", "give the database as"),
        ("postgres://ann:hunter2%@h/x", "percent-encode"),
    ] {
        let mut from_environment = binary(&["migrate"]);
        from_environment.env("SEALPOST_DATABASE_URL", url);
        for command in [binary(&["serve", "--database-url", url]), from_environment] {
            let CommandResult { status, stderr, .. } = run(command);
            assert_eq!(status, Some(2), "{stderr}");
            assert!(stderr.contains("--database-url") && stderr.contains(advice), "{stderr}");
            assert!(!stderr.contains("hunter2"), "{stderr}");
        }
    }
}

#[test]
fn plain_http_is_allowed_only_on_loopback() {
    let database = Database::embedded();
    let on = |address: &str, more: &[&str]| {
        let mut command = binary(&["serve", "--ops-listen=off", "--data-dir", &database.data()]);
        command.args(["--listen", address]).args(more);
        command
    };
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let message = refused(on(address, &[]));
        assert!(message.contains("--behind-tls-proxy"), "{message}");
        for more in [&["--dev"][..], &["--dev", "--behind-tls-proxy"]] {
            let message = refused(on(address, more));
            assert!(message.contains("--dev"), "{message}");
        }
    }
    assert!(!std::path::Path::new(&database.data()).exists(), "no file was created");
    let (server, lines) = Server::start_and_read(on(
        "0.0.0.0:0",
        &["--behind-tls-proxy", "--trusted-proxy=10.0.0.5,fd00::/8"],
    ));
    server.stop();
    assert_eq!(lines.recv().ok(), None, "no second line is printed");
}

#[test]
fn contradictory_settings_are_rejected() {
    let database = Database::embedded();
    let message = refused(database.command(&["--behind-tls-proxy"]));
    assert!(message.contains("--trusted-proxy none"), "{message}");
    assert!(refused(database.command(&["--connection-timeout=10s"])).contains("--body-timeout"));
    let message = refused(database.command(&["--max-anonymous-connections=10000"]));
    assert!(message.contains("--max-connections, which is 10000"), "{message}");
    let message = refused(database.command(&["--body-memory-per-account=2097151"]));
    assert!(message.contains("--max-body-bytes"), "{message}");
    let message = refused(database.command(&["--body-memory=2097151"]));
    assert!(message.contains("--max-body-bytes") && message.contains("2097152"), "{message}");
    assert!(
        refused(database.command(&["--webhook-timeout=15s", "--webhook-lease=24s"]))
            .contains("--webhook-lease")
    );
    assert!(refused(database.command(&["--webhook-timeout=0s"])).contains("timeout"));
    assert!(refused(database.command(&["--log", "a=b=c"])).contains("--log"));
}

#[test]
fn the_longest_lifetimes_end_at_a_time_that_can_be_shown() {
    let database = Database::embedded();
    let longest = ["--session-ttl=36500d", "--webhook-secret-overlap=36500d"];
    let server = database.serve_with(&longest);
    let identity = server.new_identity();
    let webhook_id = text(&server.register(&identity, "http://127.0.0.1:9999/"), "webhook_id");
    server.manage(&identity, &json!({"action": "rotate_secret", "webhook_id": webhook_id})).ok();
    let session = server.log_in(&identity).ok();
    let expires_at = text(&session, "expires_at");
    assert!(expires_at.starts_with("21") && expires_at.ends_with('Z'), "{expires_at}");
}

#[test]
fn wrong_usage_has_a_status_of_its_own() {
    for arguments in [
        &["serve", "--nonsense"][..],
        &["nonsense"],
        &["serve", "--listen", "nowhere"],
        &["serve", "--queue", "0"],
        &["serve", "--max-anonymous-connections", "0"],
        &["serve", "--max-head-bytes", "131072"],
        &["serve", "--trusted-proxy", "none,10.0.0.5"],
        &["serve", "--queue-bytes", "0"],
        &["serve", "--batch-bytes", "0"],
        &["serve", "--suite", "rot13"],
        &["serve", "--channel-life", "61m"],
        &["serve", "--channel-life", "0s"],
        &["serve", "--channel-envelopes", "0"],
        &["serve", "--channels-cached", "0"],
        &["serve", "--session-ttl", "soon"],
        &["serve", "--session-ttl", "36501d"],
        &["serve", "--webhook-secret-overlap", "106751991167d"],
        &["serve", "--otlp-endpoint", "ftp://127.0.0.1:4318"],
        &["serve", "--otlp-endpoint", "http://user@127.0.0.1:4318"],
        &["serve", "--workers", "0"],
        &["serve", "--workers", "513"],
        &["serve", "--webhook-retry-schedule", "5"],
        &["serve", "--database-url", "mysql://x/y"],
        &["kek"],
        &["kek", "new", "--version", "0"],
        &["migrate", "--dev"],
    ] {
        let ended = run(binary(arguments));
        assert_eq!(ended.status, Some(2), "{arguments:?} {ended:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty(), "{arguments:?}");
    }
    for arguments in [&["--help"][..], &["--version"], &["serve", "--help"]] {
        run(binary(arguments)).ok();
    }
}

#[test]
fn fresh_keys_differ_and_carry_their_version() {
    let line = |arguments: &[&str]| run(binary(arguments)).stdout;
    let (first, second) = (line(&["kek", "new"]), line(&["kek", "new"]));
    assert_ne!(first, second);
    assert!(
        first.starts_with("1:") && first.ends_with('\n') && first.len() == 47,
        "{} bytes",
        first.len()
    );
    assert!(line(&["kek", "new", "--version", "12"]).starts_with("12:"));
}

/// Runs a server that stores one envelope, and stops the server in order. Returns the identity, which is both sender
/// and recipient, and the envelope id.
fn leave_an_envelope(database: &Database) -> (Identity, String) {
    let server = database.serve();
    let identity = server.new_identity();
    let envelope = text(&server.send(&identity, &identity.key, MESSAGE).ok(), "envelope_id");
    server.stop();
    (identity, envelope)
}

fn check_envelope(server: &Server, identity: &Identity, envelope: &str) {
    assert_eq!(server.open(identity, envelope).ok()["message"], MESSAGE);
}

/// Runs a command that must fail, and returns its one-line error.
#[track_caller]
fn refused(command: Command) -> String {
    run(command).refused(1)
}

const MESSAGE: &str = "still here";
