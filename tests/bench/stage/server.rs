//! The real binary in a separate process.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::{measure::cpu, stage::database::Place};

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Kept open: a server ends if it cannot write to standard output.
    _out: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a node on this database.
    pub(crate) fn serve(place: &Place, suite: &str) -> Self {
        Self::serve_with(place, suite, &[])
    }

    /// Starts a node on this database with more arguments.
    pub(crate) fn serve_with(place: &Place, suite: &str, more: &[&OsStr]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost"));
        command.args(["serve", "--dev", "--log", "error", "--suite", suite]);
        command.args(["--listen", "127.0.0.1:0", "--ops-listen", "off"]).args(more);
        place.name_to(&mut command);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let out = child.stdout.take().expect("standard output is piped");
        let (mut out, mut line) = (BufReader::new(out), String::new());
        // The address is at the end of the first line.
        out.read_line(&mut line).expect("its output is text");
        let address = line.trim().rsplit('/').next().and_then(|address| address.parse().ok());
        Self { address: address.expect("the server prints its address"), child, _out: out }
    }

    pub(crate) fn cpu(&self) -> Duration {
        cpu::of(self.child.id())
    }

    /// Returns the resident memory in KiB: the current value and the peak.
    pub(crate) fn memory_kib(&self) -> (u64, u64) {
        cpu::memory_kib(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("the server can be ended");
        self.child.wait().expect("the server ends");
    }
}
