//! Tests of TLS between a server and PostgreSQL.
//!
//! The host `0.0.0.0` reaches this machine, but is not a loopback address. A server therefore treats the database as
//! remote.

use std::{fs, path::PathBuf, process::Command, thread};

use sealpost_testkit::Instance;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    Authority, Database, Issued, Relay, SOON, Server, binary, eventually, run, text, wait_until,
};

/// A PostgreSQL server with TLS, and the authority that issued its certificate.
struct Scene {
    postgres: Instance,
    authority: Authority,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            postgres: Instance::start(&[]).unwrap(),
            authority: Authority::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(scene.file("authority.pem"), &scene.authority.pem).unwrap();
        scene.present(&scene.authority.issue_for_name(REMOTE), &[]);
        scene
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Restarts PostgreSQL with another certificate.
    fn present(&self, certificate: &Issued, more: &[&str]) {
        let chain = self.postgres.write("chain.pem", &certificate.chain_pem).unwrap();
        let key = self.postgres.write("key.pem", &certificate.key_pem).unwrap();
        let files = [
            format!("-c ssl_cert_file={}", chain.display()),
            format!("-c ssl_key_file={}", key.display()),
        ];
        self.postgres.restart(&[&["-c ssl=on", &files[0], &files[1]], more].concat()).unwrap();
    }

    /// Returns the database URL with a host that counts as remote. `more` adds parameters.
    fn url(&self, more: &str) -> String {
        self.url_at(self.postgres.port(), more)
    }

    fn url_at(&self, port: u16, more: &str) -> String {
        let authority = self.file("authority.pem");
        format!(
            "postgres://postgres@{REMOTE}:{port}/postgres?sslrootcert={}{more}",
            authority.display()
        )
    }

    /// Returns one entry for each database connection of a Sealpost server: true if the connection uses TLS.
    fn uses_tls(&self) -> Vec<bool> {
        let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                   WHERE application_name = 'sealpost'";
        let rows = self.postgres.execute(sql).unwrap();
        rows.lines().map(|row| row == "t").collect()
    }
}

/// Returns the error of a server that does not start.
#[track_caller]
fn refused(database: &Database, more: &[&str]) -> String {
    let ended = run(database.command(more));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    ended.stderr
}

/// Checks that a server starts, that all its connections use TLS, and that it logs no risk.
#[track_caller]
fn serves_with_tls(scene: &Scene, url: &str) {
    let server = Database::at(url.to_owned()).serve();
    server.new_identity();
    let uses_tls = scene.uses_tls();
    assert!(!uses_tls.is_empty() && uses_tls.iter().all(|uses_tls| *uses_tls), "{uses_tls:?}");
    assert!(!server.log().contains("sslmode"), "{}", server.log());
    server.stop();
}

#[test]
fn a_remote_server_is_verified_by_default() {
    let scene = Scene::new();
    serves_with_tls(&scene, &scene.url(""));

    let other = scene.file("other.pem");
    fs::write(&other, Authority::new().pem).unwrap();
    let with_other = scene.url("").replace("authority.pem", "other.pem");
    let message = refused(&Database::at(with_other), &[]);
    assert!(message.contains("is rejected") && message.contains("sslrootcert"), "{message}");

    scene.present(&scene.authority.issue_for_name("db.example"), &[]);
    let message = refused(&Database::at(scene.url("")), &[]);
    assert!(message.contains("for another host"), "{message}");
    assert!(message.contains("does not match host name"), "{message}");

    scene.present(&scene.authority.issue_expired_for_name(REMOTE), &[]);
    let message = refused(&Database::at(scene.url("")), &[]);
    assert!(message.contains("is rejected: renew it"), "{message}");
}

#[test]
fn a_plaintext_server_is_used_only_in_clear() {
    let scene = Scene::new();
    scene.postgres.restart(&[]).unwrap();
    let database = Database::at(scene.url(""));
    let message = refused(&database, &[]);
    assert!(message.contains("has no TLS") && message.contains("--database-in-clear"), "{message}");
    for _start in 0..2 {
        let server = database.serve_with(&["--database-in-clear"]);
        assert!(server.log().contains("not encrypted"), "{}", server.log());
        server.new_identity();
        assert_eq!(scene.uses_tls().iter().find(|uses_tls| **uses_tls), None);
        server.stop();
    }
}

#[test]
fn a_weaker_mode_must_be_chosen_and_is_logged() {
    let scene = Scene::new();
    scene.present(&scene.authority.issue_for_name("db.example"), &[]);
    let database = Database::at(scene.url("&sslmode=verify-ca"));
    let server = database.serve();
    assert!(server.log().contains("host name of the database server is not verified"));
    server.stop();
    let mut doctor = binary(&["doctor", "--listen=127.0.0.1:0", "--ops-listen=off", "--kek-file"]);
    doctor.arg(database.kek_file()).args(["--database-url", database.url()]);
    let report = run(doctor).stdout;
    assert!(report.contains("host name of the database server is not verified"), "{report}");
    let message = refused(&database, &["--database-in-clear"]);
    assert!(message.contains("not both"), "{message}");
}

#[test]
fn the_authorities_of_the_machine_are_found() {
    let scene = Scene::new();
    scene.postgres.execute("CREATE DATABASE other").unwrap();
    for database in ["postgres", "other?sslrootcert=system"] {
        let server = format!("postgres://postgres@{REMOTE}:{}", scene.postgres.port());
        let database = Database::at(format!("{server}/{database}"));
        let message = refused(&database, &[]);
        assert!(message.contains("is rejected"), "{message}");
        let mut command = database.command(&["--dev"]);
        command.env("SSL_CERT_FILE", scene.file("authority.pem"));
        let server = Server::start(command);
        server.new_identity();
        assert!(scene.uses_tls().iter().all(|uses_tls| *uses_tls));
        server.stop();
    }
}

#[test]
fn a_client_certificate_is_presented() {
    let scene = Scene::new();
    let rules = "local all all trust\nhostssl all all all cert\n";
    let hba = scene.postgres.write("hba.conf", rules).unwrap();
    let authority = scene.postgres.write("clients.pem", &scene.authority.pem).unwrap();
    let options = [
        format!("-c hba_file={}", hba.display()),
        format!("-c ssl_ca_file={}", authority.display()),
    ];
    let issued = scene.authority.issue_for_name(REMOTE);
    scene.present(&issued, &[&options[0], &options[1]]);
    let message = refused(&Database::at(scene.url("")), &[]);
    assert!(message.contains("sslcert=FILE") && message.contains("sslkey=FILE"), "{message}");
    let client = scene.authority.issue_for_client("postgres");
    let (chain, key) = (scene.file("client.pem"), scene.file("client.key"));
    client.write(&chain, &key);
    let files = format!("&sslcert={}&sslkey={}", chain.display(), key.display());
    serves_with_tls(&scene, &scene.url(&files));
}

#[test]
fn a_password_can_be_bound_to_the_channel() {
    let scene = Scene::new();
    scene.postgres.execute("ALTER ROLE postgres PASSWORD 'secret'").unwrap();
    let rules = "local all all trust\nhost all all all scram-sha-256\n";
    let hba = scene.postgres.write("hba.conf", rules).unwrap();
    let hba = format!("-c hba_file={}", hba.display());
    scene.present(&scene.authority.issue_for_name(REMOTE), &[&hba]);
    serves_with_tls(&scene, &scene.url("&password=secret&channel_binding=require"));
    let unbound = scene.url("&password=secret&channel_binding=require&sslmode=disable");
    let message = refused(&Database::at(unbound), &[]);
    assert!(message.contains("channel binding"), "{message}");
}

/// A process can exit while a thread of a pool opens a connection. Clean-up by OpenSSL in an exit handler would then end
/// the process by a signal. A preloaded library prints the handlers that the program registers.
#[test]
fn no_library_cleans_up_at_the_exit() {
    let scene = Scene::new();
    let database = Database::at(scene.url(""));
    database.serve().stop();
    let (source, library) = (scene.file("handlers.c"), scene.file("handlers.so"));
    fs::write(&source, PRINT_EXIT_HANDLERS).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    assert!(compile.status().unwrap().success());
    let preloaded = |mut command: Command| {
        command.env("LD_PRELOAD", &library);
        command
    };
    run(preloaded(database.admin_command(&["stats"]))).ok();
    let server = Server::start(preloaded(database.command(&["--dev"])));
    server.new_identity();
    assert!(!server.log().contains("exit handler"), "{}", server.log());
    server.stop();
}

/// PostgreSQL waits for a standby that does not exist, so that the connection is cut during a commit.
#[test]
fn a_connection_cut_during_a_commit_loses_no_acknowledged_envelope() {
    let scene = Scene::new();
    let relay = Relay::before(scene.postgres.port());
    let database = Database::at(scene.url_at(relay.port(), ""));
    let server = database.serve_with(&["--commit-timeout=1m"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let send = |number: usize| {
        let key = format!("number-{number}");
        let request = server.post("/v1/channel/send").by(&alice).header("Idempotency-Key", &key);
        request.json(&json!({"to": bob.key, "message": key})).response()
    };
    let mut acknowledged = vec![text(&send(0).ok(), "envelope_id")];
    scene.postgres.execute("ALTER SYSTEM SET synchronous_standby_names = 'absent'").unwrap();
    scene.postgres.execute("SELECT pg_reload_conf()").unwrap();
    let (cut, last) = thread::scope(|scope| {
        // A connection may still commit with the earlier setting.
        let sending = scope.spawn(|| {
            let mut responses = (1..).map(|number| (number, send(number)));
            responses.find(|(_, response)| {
                let is_stored = response.status == 200;
                acknowledged.extend(is_stored.then(|| text(&response.json(), "envelope_id")));
                !is_stored
            })
        });
        wait_until("a send waits for the standby", || {
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            scene.postgres.execute(sql).unwrap() != "0"
        });
        relay.cut();
        sending.join().unwrap().unwrap()
    });
    last.refused(500, "INTERNAL_ERROR");
    scene.postgres.execute("ALTER SYSTEM RESET synchronous_standby_names").unwrap();
    scene.postgres.execute("SELECT pg_reload_conf()").unwrap();
    let again = eventually("the server stores again", SOON, || {
        Some(send(cut)).filter(|response| response.status != 503)
    });
    assert_eq!(again.header("Idempotency-Replayed"), Some("true"), "the commit took effect");
    acknowledged.push(text(&again.ok(), "envelope_id"));
    for (number, envelope) in acknowledged.iter().enumerate() {
        assert_eq!(server.open(&bob, envelope).ok()["message"], format!("number-{number}"));
    }
    assert_eq!(server.status(&alice).ok()["usage"]["month"]["used"], acknowledged.len());
    server.stop();
}

const PRINT_EXIT_HANDLERS: &str = r#"
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <unistd.h>
    int __cxa_atexit(void (*handler)(void *), void *argument, void *library) {
        int (*next)(void (*)(void *), void *, void *) = dlsym(RTLD_NEXT, "__cxa_atexit");
        write(2, "exit handler\n", 13);
        return next(handler, argument, library);
    }
"#;
/// An address of this machine that is not loopback.
const REMOTE: &str = "0.0.0.0";
