//! Tests of commands with a standard output that cannot be written.

use std::{
    fs::{self, File},
    io::pipe,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{Database, PUBLIC_KEY, Process, SOON, Signed, binary, wait_until};

/// Fills the lists of a database.
fn used(database: &Database) {
    let server = database.serve();
    server.new_identity();
    database.operate(&["issuer", "rotate"]);
    server.stop();
}

/// Returns every kind of command that prints, on a stopped database. `folder` is a new folder.
fn commands(database: &Database, folder: &Path) -> Vec<Command> {
    let (data, copy) = (database.data(), folder.join("copy").display().to_string());
    let plain = [
        &["--help"][..],
        &["--version"],
        &["serve", "--help"],
        &["admin", "key", "-h"],
        &["help"],
        &["help", "login"],
        &["completions", "bash"],
        &["man"],
        &["kek", "new"],
        &["demo"],
        &["migrate", "--data-dir", &data],
        &["doctor", "--listen=127.0.0.1:0", "--ops-listen=off", "--data-dir", &data],
        &["doctor", "--listen=127.0.0.1:0", "--ops-listen=off", "--json", "--data-dir", &data],
        &["backup", "--data-dir", &data, &copy],
    ];
    let admin = [
        &["stats"][..],
        &["stats", "--json"],
        &["key", "list"],
        &["account", "list", "--json"],
        &["audit", "list"],
        &["audit", "verify"],
        &["issuer", "list"],
        &["issuer", "rotate"],
    ];
    let plain = plain.iter().map(|arguments| binary(arguments));
    let admin = admin.iter().map(|arguments| database.admin_command(arguments));
    plain.chain(admin).chain([verify(folder)]).collect()
}

/// Returns the command that verifies a valid event.
fn verify(folder: &Path) -> Command {
    let event = Signed::asymmetric(0);
    let mut command = binary(&["verify", "--public-key", PUBLIC_KEY]);
    for (flag, text) in [("--headers", event.head()), ("--body", event.body)] {
        let file = folder.join(flag.trim_start_matches('-'));
        fs::write(&file, text).unwrap();
        command.arg(flag).arg(file);
    }
    command
}

/// Runs a command with this standard output. Returns the exit status and standard error.
fn ended(mut command: Command, stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    command.stdout(stdout);
    let mut process = Process::start(command);
    (process.ended(SOON), process.stderr())
}

#[test]
fn a_full_disk_is_reported_by_every_command() {
    let (database, folder) = (Database::embedded(), tempfile::tempdir().unwrap());
    used(&database);
    let mut commands = commands(&database, folder.path());
    commands.push(binary(&["listen", "--listen=127.0.0.1:0", "--public-key", PUBLIC_KEY]));
    commands.push(database.command(&["--dev"]));
    for command in commands {
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, stderr) = ended(command, full);
        assert_eq!(status, Some(1), "{arguments:?}: {stderr}");
        let last = stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(FULL), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_closed_pipe_ends_every_command_without_a_message() {
    let (database, folder) = (Database::embedded(), tempfile::tempdir().unwrap());
    used(&database);
    for command in commands(&database, folder.path()) {
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let (status, stderr) = ended(command, writer);
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn the_server_needs_no_reader_of_its_output() {
    let database = Database::embedded();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = database.command(&["--dev"]);
    command.stdout(writer);
    let mut process = Process::start(command);
    wait_until("the server serves", || process.stderr().contains("serving"));
    process.terminate();
    assert_eq!(process.ended(SOON), Some(0));
}

const FULL: &str = "sealpost: cannot write to standard output: No space left on device";
