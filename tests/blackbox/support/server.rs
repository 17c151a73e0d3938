//! A server under test: the two lines that it prints are awaited, and no port is chosen in advance.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use tempfile::TempDir;

use super::{Authority, Client, SOON, process::Process};

/// A server that takes requests.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) ops_url: String,
    process: Process,
    client: Client,
    /// Where its files are, which it needs for as long as it runs.
    _folder: Option<Arc<TempDir>>,
}

impl Server {
    /// Starts it and waits until it listens.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process::start(command);
        let lines = lines_of(&mut process);
        let url = announced(&process, &lines, "sealpost listening on ");
        let ops_url = announced(&process, &lines, "sealpost ops on ");
        Self { client: Client::new(&url), url, ops_url, process, _folder: None }
    }

    /// The same, with its files in a folder that stays until it has ended.
    #[track_caller]
    pub(crate) fn start_in(folder: &Arc<TempDir>, command: Command) -> Self {
        Self { _folder: Some(Arc::clone(folder)), ..Self::start(command) }
    }

    /// The same, called by whoever trusts this authority alone.
    #[track_caller]
    pub(crate) fn start_secure(command: Command, authority: &Authority) -> Self {
        let server = Self::start(command);
        Self { client: Client::trusting(&server.url, &authority.der), ..server }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        self.process.stderr()
    }

    /// The status that its ops address answers with.
    pub(crate) fn health(&self, path: &str) -> u16 {
        Client::new(&self.ops_url).request("GET", path).answer().status
    }

    /// The text of `/metrics`.
    pub(crate) fn metrics(&self) -> String {
        let answer = Client::new(&self.ops_url).request("GET", "/metrics").answer();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4"));
        String::from_utf8(answer.body).unwrap()
    }

    /// What one of its series stands at now.
    #[track_caller]
    pub(crate) fn metric(&self, series: &str) -> u64 {
        value_of(&self.metrics(), series)
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.process.kill();
    }

    /// SIGTERM, without waiting.
    pub(crate) fn terminate(&self) {
        self.process.signal("TERM");
    }

    /// SIGHUP: read files again.
    pub(crate) fn hang_up(&self) {
        self.process.signal("HUP");
    }

    /// Waits for it to end by itself.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        self.process.ended(within)
    }

    /// SIGTERM; it must end in order.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        self.terminate();
        assert_eq!(self.ended(STOP_MAX), Some(0));
    }
}

/// Reads on until the process ends, so that it never writes into a closed pipe.
pub(crate) fn lines_of(process: &mut Process) -> Receiver<String> {
    let stdout = BufReader::new(process.child().stdout.take().unwrap());
    let (line, lines) = channel();
    thread::spawn(move || {
        for text in stdout.lines().map_while(Result::ok) {
            // Nobody reads after the first two lines.
            drop(line.send(text));
        }
    });
    lines
}

#[track_caller]
fn announced(process: &Process, lines: &Receiver<String>, what: &str) -> String {
    match lines.recv_timeout(SOON) {
        Ok(line) => match line.strip_prefix(what) {
            Some(url) => url.to_owned(),
            None => panic!("not {what:?}: {line}"),
        },
        Err(RecvTimeoutError::Timeout) => panic!("no {what:?} in time"),
        Err(RecvTimeoutError::Disconnected) => {
            panic!("the server did not start: {}", process.stderr())
        }
    }
}

/// What a stop in order may take, by the contract.
pub(crate) const STOP_MAX: Duration = Duration::from_secs(30);

/// The value of one series, written as it stands in the text; 0 where it is not there yet.
#[track_caller]
pub(crate) fn value_of(metrics: &str, series: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0, |value| value.parse().unwrap())
}
