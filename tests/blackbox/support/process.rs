//! Runs the program under test as a process. The process gets no settings from the environment, and writes standard
//! error to a file. Dropping its [`Process`] kills the process.

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

pub(crate) struct Process {
    child: Child,
    stderr: NamedTempFile,
}

/// The exit status and the output of a finished process.
#[derive(Debug)]
pub(crate) struct CommandResult {
    /// The command, for messages.
    pub(crate) command: String,
    /// `None` if a signal ended the process.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandResult {
    /// Checks that the command succeeded without an error. Returns its output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        let said = (self.status, self.stderr.as_str());
        assert_eq!(said, (Some(0), ""), "{}: {}", self.command, self.stdout);
        self.stdout
    }

    /// Checks that the command failed with this status and printed only an error of one line. Returns the error.
    #[track_caller]
    pub(crate) fn refused(self, status: i32) -> String {
        let said = (self.status, self.stdout.as_str());
        assert_eq!(said, (Some(status), ""), "{}: {}", self.command, self.stderr);
        assert!(self.stderr.starts_with("sealpost: ") && self.stderr.ends_with('\n'), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        self.stderr
    }
}

/// Returns a command that runs the program under test with these arguments.
pub(crate) fn binary(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SEALPOST_")
            || name.to_string_lossy().starts_with("PG")
        {
            command.env_remove(name);
        }
    }
    // Disables the rate limits per address, because all tests send from one address and faster than people.
    for limited in ["ACTIVATIONS", "LOGINS", "DASHBOARD"] {
        command.env(format!("SEALPOST_{limited}_PER_MINUTE"), "0");
    }
    command.args(arguments);
    command
}

/// Returns a command for a program of PostgreSQL. Debian installs some of these programs outside the PATH.
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

/// Runs a command until it ends by itself.
#[track_caller]
pub(crate) fn run(mut command: Command) -> CommandResult {
    let (shown, stdout) = (format!("{command:?}"), NamedTempFile::new().unwrap());
    command.stdout(stdout.reopen().unwrap());
    let mut process = Process::start(command);
    let status = process.ended(SOON);
    CommandResult {
        command: shown,
        status,
        stdout: fs::read_to_string(stdout.path()).unwrap(),
        stderr: process.stderr(),
    }
}

/// Returns a command that first runs the shell command `limit`, such as `ulimit -f 4096`, and then `command`.
pub(crate) fn within(limit: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limit}; exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

impl Process {
    /// Starts the process. The command must already configure standard output.
    pub(crate) fn start(mut command: impl BorrowMut<Command>) -> Self {
        let command = command.borrow_mut();
        let stderr = NamedTempFile::new().unwrap();
        command.stdin(Stdio::null()).stderr(stderr.reopen().unwrap());
        Self { child: command.spawn().unwrap(), stderr }
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the text that the process has written to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.stderr.path()).unwrap()).into_owned()
    }

    /// Waits until the process ends.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        eventually("the process ends", within, || self.child.try_wait().unwrap()).code()
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM.
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

/// Returns whether a folder is empty.
pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}
