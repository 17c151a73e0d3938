//! Tests that `sealpost demo` succeeds and leaves no data behind.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use crate::support::{Process, SOON, binary, is_empty, run, wait_until};

#[test]
fn every_step_of_the_demo_succeeds_and_no_data_remains() {
    let (temporary, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = binary(&["demo"]);
    command.env("TMPDIR", temporary.path()).current_dir(&here);
    let began = Instant::now();
    let ended = run(command);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    assert!(ended.stdout.trim_end().ends_with("Every step held."), "{}", ended.stdout);
    assert!(is_empty(temporary.path()) && is_empty(here.path()));
}

#[test]
fn the_demo_ignores_settings_in_the_environment() {
    let mut command = binary(&["demo"]);
    command.envs([
        ("SEALPOST_DATABASE_URL", "postgres://nobody@localhost:1/nowhere"),
        ("SEALPOST_DATA_DIR", "/proc/nowhere"),
        ("SEALPOST_KEK", "nonsense"),
        ("SEALPOST_KEK_FILE", "/proc/nowhere"),
        ("SEALPOST_LISTEN", "0.0.0.0:80"),
        ("SEALPOST_OPS_LISTEN", "192.0.2.1:1"),
        ("SEALPOST_BASE_URL", "https://sealpost.example"),
        ("SEALPOST_MAX_MESSAGE_BYTES", "1"),
        ("SEALPOST_SESSION_TTL", "0s"),
        ("SEALPOST_SUITE", "classic"),
        ("SEALPOST_WEBHOOK_TIMEOUT", "0s"),
        ("SEALPOST_LOG", "trace"),
    ]);
    let ended = run(command);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Every step held."), "{}", ended.stdout);
}

#[test]
fn an_interrupted_demo_leaves_no_data() {
    for signal in ["INT", "TERM"] {
        let temporary = tempfile::tempdir().unwrap();
        let mut command = binary(&["demo"]);
        command.env("TMPDIR", temporary.path()).stdout(Stdio::null());
        let mut demo = Process::start(command);
        wait_until("the demo creates its folder", || !is_empty(temporary.path()));
        demo.signal(signal);
        assert_eq!(demo.ended(SOON), Some(1), "{signal}");
        assert!(demo.stderr().contains("sealpost: the demo was interrupted"), "{}", demo.stderr());
        assert!(is_empty(temporary.path()));
    }
}
