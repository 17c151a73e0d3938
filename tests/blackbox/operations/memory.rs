//! Tests that a server protects the secrets in its memory and environment.

use std::fs;

use crate::support::{Database, Server, binary, run};

#[test]
fn a_server_forbids_core_dumps_and_removes_its_key_from_the_environment() {
    let line = run(binary(&["kek", "new"])).stdout;
    let database = Database::embedded();
    let mut command = database.command(&["--dev"]);
    command.env("SEALPOST_KEK", line.trim()).env("SEALPOST_LOG", "info");
    let server = Server::start(command);
    let of_process = |file: &str| {
        let bytes = fs::read(format!("/proc/{}/{file}", server.id())).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let environment = of_process("environ");
    assert!(environment.contains("SEALPOST_LOG=info"));
    let (_, secret) = line.trim().split_once(':').unwrap();
    assert!(!environment.contains(secret) && !environment.contains("SEALPOST_KEK="));
    let limits = of_process("limits");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{core}");
    let status = of_process("status");
    let locked = status.lines().find(|line| line.starts_with("VmLck:")).unwrap();
    assert_ne!(locked.split_whitespace().nth(1), Some("0"), "{locked}");
    server.new_identity();
    server.stop();
}
