//! Tests the programs of `docs/receiving.md` that open received envelopes. Each program runs unchanged.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{Database, Receiver, go, python, root, rust_example, text};

#[test]
fn the_python_program_opens_envelopes() {
    let mut command = Command::new(python());
    command.arg(examples().join("python/open.py"));
    check(command);
}

#[test]
fn the_node_program_opens_envelopes() {
    let mut command = Command::new("node");
    command.arg(examples().join("node/open.mjs"));
    check(command);
}

#[test]
fn the_rust_program_opens_envelopes() {
    check(Command::new(rust_example("open_envelopes")));
}

#[test]
fn the_go_program_opens_envelopes() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("open");
    let Some(mut build) = go() else {
        eprintln!("Go is not installed: its program is not tested");
        return;
    };
    build.arg("build").arg("-o").arg(&program).arg(examples().join("go/open.go"));
    assert!(build.status().unwrap().success());
    check(Command::new(program));
}

/// Passes the ids of two real envelopes and of an unknown envelope to the program, and checks the output.
fn check(mut program: Command) {
    let (server, receiver) = (Database::embedded().serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.register(&bob, &receiver.url);
    let mut lines = vec!["listening on http://127.0.0.1:8090/".to_owned()];
    for message in ["one", "zwei: süß"] {
        server.send(&alice, &bob.key, message).ok();
    }
    for request in receiver.await_requests(2) {
        let event: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        lines.push(format!("new envelope {}", text(&event, "envelope_id")));
    }
    let unknown = "env_01h455vb4pex5vsknk084sn02q";
    lines.push(format!("new envelope {unknown}\n"));
    program.env("SEALPOST_URL", &*server.url).env("SESSION_TOKEN", &bob.token);
    program.env("API_KEY", &bob.key);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = program.spawn().unwrap();
    running.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let done = running.wait_with_output().unwrap();
    let [printed, warned] = [done.stdout, done.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(done.status.success(), "{warned}");
    let mut acted: Vec<_> = printed.lines().collect();
    acted.sort_unstable();
    let wanted = ["one", "zwei: süß"].map(|message| format!("{}: {message}", alice.key));
    assert_eq!(acted, wanted);
    assert!(warned.contains(&format!("{unknown} 404 ENVELOPE_NOT_FOUND")), "{warned}");
}

fn examples() -> PathBuf {
    Path::new(&root()).join("docs/examples/opening")
}
