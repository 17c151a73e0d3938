//! Processes of the binary under test: with nothing of the environment's settings, standard error in a file, ended
//! when they go out of scope.

use std::{
    borrow::BorrowMut,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::NamedTempFile;

use super::{SOON, eventually};

/// A running process.
pub(crate) struct Process {
    child: Child,
    stderr: NamedTempFile,
}

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct AttemptSummary {
    /// `None` where a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary under test with these arguments.
pub(crate) fn binary(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SEALPOST_")
            || name.to_string_lossy().starts_with("PG")
        {
            command.env_remove(name);
        }
    }
    // All cases come from one address, and ask for pages faster than people do.
    for limited in ["ACTIVATIONS", "LOGINS", "DASHBOARD"] {
        command.env(format!("SEALPOST_{limited}_PER_MINUTE"), "0");
    }
    command.args(arguments);
    command
}

/// A program that comes with PostgreSQL. Debian keeps some of them out of the PATH.
pub(crate) fn postgres_tool(name: &str) -> Command {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut tools: Vec<_> = versions.map(|version| version.path().join("bin").join(name)).collect();
    tools.retain(|tool| tool.exists());
    tools.sort();
    let mut command = tools.pop().map_or_else(|| Command::new(name), Command::new);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("PG") {
            command.env_remove(variable);
        }
    }
    command
}

/// Runs a command that ends by itself.
#[track_caller]
pub(crate) fn run(mut command: Command) -> AttemptSummary {
    let stdout = NamedTempFile::new().unwrap();
    command.stdout(stdout.reopen().unwrap());
    let mut process = Process::start(command);
    let status = process.ended(SOON);
    AttemptSummary {
        status,
        stdout: fs::read_to_string(stdout.path()).unwrap(),
        stderr: process.stderr(),
    }
}

impl Process {
    /// Starts it; standard output is where the command says.
    pub(crate) fn start(mut command: impl BorrowMut<Command>) -> Self {
        let command = command.borrow_mut();
        let stderr = NamedTempFile::new().unwrap();
        command.stdin(Stdio::null()).stderr(stderr.reopen().unwrap());
        Self { child: command.spawn().unwrap(), stderr }
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// What it has said on standard error.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.stderr.path()).unwrap()).into_owned()
    }

    /// Waits for it to end by itself.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        eventually("the process ends", within, || self.child.try_wait().unwrap()).code()
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.is_running() {
            self.kill();
        }
        if thread::panicking() {
            eprintln!("--- standard error of the process {}\n{}", self.child.id(), self.stderr());
        }
    }
}

/// Whether a folder holds nothing.
pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}
