//! Runs a server under test. The server chooses free ports and prints them at start-up.

use std::{
    io::{BufRead as _, BufReader},
    ops::Deref,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use tempfile::TempDir;

use super::{Authority, Client, Database, SOON, eventually, process::Process};

/// A running server.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) ops_url: String,
    process: Process,
    client: Client,
    /// The folder with the server's files, kept until the server ends.
    _folder: Option<Arc<TempDir>>,
}

impl Server {
    /// Returns a server in development mode on an embedded database. Cases that run at the same time share it. Such a
    /// case may only look at what it creates itself, and its handles must be unique. The server ends with its last user.
    #[track_caller]
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Database::embedded().serve());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Starts a server, and waits until it listens. With `--ops-listen=off` there is no operations address, so
    /// `ops_url` is empty.
    #[track_caller]
    pub(crate) fn start(command: Command) -> Self {
        let has_operations = !command.get_args().any(|argument| argument == "--ops-listen=off");
        let (mut server, lines) = Self::start_and_read(command);
        if has_operations {
            server.ops_url = announced(&server.process, &lines, "sealpost ops on ");
        }
        server
    }

    /// Starts a server, and waits until the API listens. Also returns a channel with the later lines of standard
    /// output.
    #[track_caller]
    pub(crate) fn start_and_read(mut command: Command) -> (Self, Receiver<String>) {
        command.stdout(Stdio::piped());
        let mut process = Process::start(command);
        let lines = lines_of(&mut process);
        let url = announced(&process, &lines, "sealpost listening on ");
        let (client, ops_url) = (Client::new(&url), String::new());
        (Self { client, url, ops_url, process, _folder: None }, lines)
    }

    /// Starts a server, and keeps `folder` until the server ends.
    #[track_caller]
    pub(crate) fn start_in(folder: &Arc<TempDir>, command: Command) -> Self {
        Self { _folder: Some(Arc::clone(folder)), ..Self::start(command) }
    }

    /// Starts a server. Its client trusts only certificates of this certificate authority.
    #[track_caller]
    pub(crate) fn start_secure(command: Command, authority: &Authority) -> Self {
        let server = Self::start(command);
        Self { client: Client::trusting(&server.url, &authority.der), ..server }
    }

    /// Returns the process id of the server.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the text that the server has logged so far.
    pub(crate) fn log(&self) -> String {
        self.process.stderr()
    }

    /// Returns the HTTP status of a path on the operations address, such as a health check.
    pub(crate) fn health(&self, path: &str) -> u16 {
        Client::new(&self.ops_url).get(path).status
    }

    /// Returns the status and the text of the readiness check.
    pub(crate) fn readiness(&self) -> (u16, String) {
        let response = Client::new(&self.ops_url).get("/readyz");
        (response.status, String::from_utf8(response.body).unwrap())
    }

    /// Waits until the transparency log begins, and returns its key.
    #[track_caller]
    pub(crate) fn log_key(&self) -> String {
        eventually("the log begins", SOON, || {
            let key = self.client.get("/log/");
            (key.status == 200).then(|| String::from_utf8(key.body).unwrap().trim().to_owned())
        })
    }

    /// Returns the metrics in text form, from `/metrics` on the operations address.
    pub(crate) fn metrics(&self) -> String {
        let response = Client::new(&self.ops_url).get("/metrics");
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4"));
        String::from_utf8(response.body).unwrap()
    }

    /// Returns the current value of one series of the metrics. A missing series is 0.
    #[track_caller]
    pub(crate) fn metric(&self, series: &str) -> u64 {
        value_of(&self.metrics(), series)
    }

    /// Sets the limit of open files. Open files stay open.
    pub(crate) fn limit_open_files(&self, limit: u64) {
        let process = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        let maximum = getrlimit(Resource::Nofile).maximum;
        prlimit(process, Resource::Nofile, Rlimit { current: Some(limit), maximum }).unwrap();
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) {
        self.process.kill();
    }

    /// Sends SIGTERM, and does not wait for the end of the server.
    pub(crate) fn terminate(&self) {
        self.process.signal("TERM");
    }

    /// Sends SIGHUP, so that the server reads its files again.
    pub(crate) fn hang_up(&self) {
        self.process.signal("HUP");
    }

    /// Waits until the process ends.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        self.process.ended(within)
    }

    /// Sends SIGTERM and checks that the server ends with status 0.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        self.terminate();
        assert_eq!(self.ended(STOP_MAX), Some(0));
    }
}

/// Makes the methods of the server's client available on the server itself.
impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Returns the lines of standard output. Reads until the process ends, so the process never writes into a closed pipe.
pub(crate) fn lines_of(process: &mut Process) -> Receiver<String> {
    let stdout = BufReader::new(process.child().stdout.take().unwrap());
    let (line, lines) = channel();
    thread::spawn(move || {
        for text in stdout.lines().map_while(Result::ok) {
            // An error is ignored, because usually only the first two lines have a reader.
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
            None => panic!("expected {what:?}, got: {line}"),
        },
        Err(RecvTimeoutError::Timeout) => panic!("{what:?} was not printed in time"),
        Err(RecvTimeoutError::Disconnected) => {
            panic!("the server did not start: {}", process.stderr())
        }
    }
}

/// Maximum duration of an orderly shutdown, by the contract.
pub(crate) const STOP_MAX: Duration = Duration::from_secs(30);

/// Returns the value of a series in metrics text. A missing series is 0.
#[track_caller]
pub(crate) fn value_of(metrics: &str, series: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0, |value| value.parse().unwrap())
}
