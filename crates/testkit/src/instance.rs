//! A PostgreSQL server for a single test. The test can restart, copy, kill and promote the server.

use std::{
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};

use crate::{
    guard::{Guard, own, run_as_owner, server_options},
    server::NO_FSYNC,
};

/// A PostgreSQL server on a Unix socket and on a TCP port of the loopback interface. Its superuser is `postgres`.
#[derive(Debug)]
pub struct Instance {
    binaries: PathBuf,
    port: u16,
    guard: Guard,
}

impl Instance {
    /// Creates and starts a server. `options` are arguments of the server, such as `-c ssl=on`.
    pub fn start(options: &[&str]) -> Result<Self, String> {
        Self::new(options, None)
    }

    /// Starts a standby of this server from a copy of its data. The standby connects to this server with the
    /// application name `name`.
    pub fn standby(&self, name: &str) -> Result<Self, String> {
        let primary = format!(
            "host={} port={} user=postgres application_name={name}",
            self.folder().display(),
            self.port
        );
        Self::new(&[], Some(&primary))
    }

    fn new(options: &[&str], primary: Option<&str>) -> Result<Self, String> {
        let binaries = Guard::binaries()?;
        let port = free_port()?;
        let guard = Guard::serving(&binaries, &with_port(port, options), primary)?;
        Ok(Self { binaries, port, guard })
    }

    /// Returns the TCP port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the folder of the server, which contains its Unix socket.
    pub fn folder(&self) -> &Path {
        self.guard.folder()
    }

    /// Writes a file that only the user of the server can read, and returns its path.
    pub fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.folder().join(name);
        fs::write(&file, text)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
        own(&file)?;
        Ok(file)
    }

    /// Runs SQL on the database `postgres` through the Unix socket, and returns its output.
    pub fn execute(&self, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.binaries.join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", sql]);
        psql.args(["--username=postgres", "--dbname=postgres"]);
        psql.arg("--host").arg(self.folder()).arg(format!("--port={}", self.port));
        let done = psql.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
        }
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Stops the server in an orderly way, and starts it again with other options.
    pub fn restart(&self, options: &[&str]) -> Result<(), String> {
        let options = server_options(self.folder(), &with_port(self.port, options));
        self.control(&["restart", "--mode=fast", "--options", &options])
    }

    /// Promotes this server from a standby to the primary. Waits until the server accepts writes.
    pub fn promote(&self) -> Result<(), String> {
        self.control(&["promote"])
    }

    /// Ends the server with SIGKILL, like a crash of its machine.
    pub fn kill(&self) -> Result<(), String> {
        let file = self.folder().join("data/postmaster.pid");
        let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
        let process = text.lines().next().unwrap_or_default();
        let mut control = self.command();
        self.done(control.args(["kill", "KILL", process]))
    }

    fn control(&self, arguments: &[&str]) -> Result<(), String> {
        let mut control = self.command();
        control.args(["--wait", "--silent", "--pgdata"]).arg(self.folder().join("data"));
        if !arguments.contains(&"promote") {
            control.arg("--log").arg(self.folder().join("log"));
        }
        self.done(control.args(arguments))
    }

    fn command(&self) -> Command {
        let mut control = Command::new(self.binaries.join("pg_ctl"));
        run_as_owner(&mut control);
        control.current_dir(self.folder()).stdin(Stdio::null()).stdout(Stdio::null());
        control
    }

    /// Runs a command. If the command fails, the error contains the log of the server.
    fn done(&self, command: &mut Command) -> Result<(), String> {
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() {
            return Ok(());
        }
        let log = fs::read_to_string(self.folder().join("log")).unwrap_or_default();
        Err(format!("{command:?} failed\n{log}"))
    }
}

/// Returns `options` with the arguments for this TCP port of the loopback interface. Also adds [`NO_FSYNC`].
fn with_port(port: u16, options: &[&str]) -> Vec<String> {
    let own = ["-c listen_addresses=127.0.0.1".to_owned(), format!("-c port={port}")];
    let others = NO_FSYNC.iter().chain(options).map(ToString::to_string);
    own.into_iter().chain(others).collect()
}

/// Returns a free port below 32768. By default, Linux assigns only ports from 32768 on automatically
/// (`ip_local_port_range`), so no other socket gets this port before the server uses it.
pub(crate) fn free_port() -> Result<u16, String> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let process = u16::try_from(std::process::id() % 997).unwrap_or_default();
    for _ in 0..PORTS {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST_PORT + (process * 10 + number) % PORTS;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no TCP port is free".to_owned())
}

const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 10_000;
