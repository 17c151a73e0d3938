//! Tests that a wall clock that was wrong for one request locks nothing afterwards.

use std::{fs, path::Path, process::Command};

use sealpost_wallet::LoginSecret;
use serde_json::json;

use crate::support::{Browser, Client, Database, Identity, Server, root};

#[test]
fn a_clock_that_was_wrong_for_one_request_locks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (library, shift) = (folder.path().join("shift.so"), folder.path().join("shift"));
    compile(&library);
    for seconds in [86_400, 240, -86_400] {
        let database = Database::embedded();
        let limits = ["--dev", "--activations-per-minute=2", "--logins-per-minute=2"];
        let limits = [&limits[..], &["--account-changes-per-minute=2", "--dashboard-per-minute=4"]];
        let mut command = database.command(&limits.concat());
        command.env("LD_PRELOAD", &library).env("CLOCK_SHIFT", &shift);
        fs::write(&shift, "0").unwrap();
        let server = Server::start(command);
        let alice = server.new_identity();
        let browser = Browser::sign_in(&server, &alice);
        fs::write(&shift, seconds.to_string()).unwrap();
        let wrong = || server.login(&alice.account, LoginSecret::generate().unwrap().expose());
        let list = || server.post("/v1/auth/tokens/list").token(&alice.token).response();
        wrong().refused(401, "UNAUTHORIZED");
        server.activate(&json!({"label": "a"})).ok();
        drop((list(), browser.get("/dashboard")));
        fs::write(&shift, "0").unwrap();
        wrong().refused(401, "UNAUTHORIZED");
        server.activate(&json!({"label": "a"})).refused(429, "RATE_LIMIT_EXCEEDED");
        check_wait(&server.activate(&json!({"label": "a"})), seconds);
        check_wait(&wrong(), seconds);
        let refused = (0..4).map(|_| list()).find(|response| response.status == 429);
        check_wait(&refused.unwrap(), seconds);
        let refused = (0..5).map(|_| browser.get("/dashboard")).find(|page| page.status == 429);
        check_wait(&refused.unwrap(), seconds);
        check_owner(&server, &alice);
    }
}

/// A limit is refused for at most a minute.
#[track_caller]
fn check_wait(response: &crate::support::Response, shift: i64) {
    let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "after a shift of {shift} s: {wait}");
}

/// The session, the limits of the key, and the secrets of the owner still work.
#[track_caller]
fn check_owner(client: &Client, alice: &Identity) {
    client.status(alice).ok();
    client.send(alice, &alice.key, "x").ok();
}

/// Compiles the library that shifts the wall clock of a process.
fn compile(library: &Path) {
    let source = root().join("tests/blackbox/support/shifted_clock.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(library).arg(source);
    assert!(compiler.status().unwrap().success());
}
