//! Runs the command `sealpost listen`, which receives webhook requests and prints them.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::Receiver,
    time::Duration,
};

use serde_json::Value;
use tempfile::NamedTempFile;

use super::{SOON, binary, process::Process, server::lines_of, text};

/// A running `sealpost listen` with JSON output.
pub(crate) struct Listener {
    pub(crate) url: String,
    lines: Receiver<String>,
    process: Process,
}

impl Listener {
    /// Starts the listener on a free port. `secret`, the signing secret of the webhook, is passed as
    /// `SEALPOST_WEBHOOK_SECRET`.
    #[track_caller]
    pub(crate) fn start(secret: &str, more: &[&str]) -> Self {
        let mut command = command();
        command.args(LISTEN).args(more).env("SEALPOST_WEBHOOK_SECRET", secret);
        Self::run(command)
    }

    /// Starts the listener with `--register` for the default profile below a configuration folder.
    #[track_caller]
    pub(crate) fn registered(config_folder: &Path) -> Self {
        let mut command = command();
        command.args(LISTEN).arg("--register").env("XDG_CONFIG_HOME", config_folder);
        Self::run(command)
    }

    /// Starts the listener with `--relay` for the default profile below a configuration folder.
    #[track_caller]
    pub(crate) fn relayed(config_folder: &Path, secret: &str, more: &[&str]) -> Self {
        let mut command = command();
        command.arg("--relay").args(more).env("XDG_CONFIG_HOME", config_folder);
        command.env("SEALPOST_WEBHOOK_SECRET", secret);
        Self::run(command)
    }

    #[track_caller]
    fn run(mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process::start(command);
        let lines = lines_of(&mut process);
        let listener = Self { url: String::new(), lines, process };
        let url = text(&listener.next(), "listening");
        Self { url, ..listener }
    }

    /// Reads the next JSON object from standard output.
    #[track_caller]
    pub(crate) fn next(&self) -> Value {
        match self.lines.recv_timeout(SOON) {
            Ok(line) => serde_json::from_str(&line).unwrap(),
            Err(error) => panic!("no output ({error}): {}", self.process.stderr()),
        }
    }

    /// Returns the listening TCP sockets of the process, as links such as `socket:[4711]`.
    pub(crate) fn listening_sockets(&self) -> Vec<String> {
        let folder = format!("/proc/{}", self.process.id());
        let listening: Vec<_> = ["net/tcp", "net/tcp6"]
            .iter()
            .flat_map(|table| {
                let table = fs::read_to_string(format!("{folder}/{table}")).unwrap();
                let columns = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
                let inodes = columns.filter(|columns| columns[3] == LISTENING);
                inodes.map(|columns| format!("socket:[{}]", columns[9])).collect::<Vec<_>>()
            })
            .collect();
        let files = fs::read_dir(format!("{folder}/fd")).unwrap();
        let links = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        let links = links.map(|link| link.display().to_string());
        links.filter(|link| listening.contains(link)).collect()
    }

    /// Returns the text that the process has written to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.process.stderr()
    }

    /// Sends SIGTERM, and does not wait for the end of the process.
    pub(crate) fn terminate(&self) {
        self.process.terminate();
    }

    /// Waits until the process ends.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        self.process.ended(within)
    }
}

fn command() -> Command {
    binary(&["listen", "--json"])
}

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";
const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// Writes a temporary file that only its owner can read.
pub(crate) fn private_file(content: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}
