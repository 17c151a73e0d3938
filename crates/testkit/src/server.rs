//! The server as tests see it: databases to order, each with a URL.

use std::{
    path::PathBuf,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::guard::Guard;

/// The environment variable that names a server to use instead of a private one.
const TEST_POSTGRES: &str = "SEALPOST_TEST_POSTGRES";

/// Whether a private server forces commits to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsyncMode {
    /// As in production: for measurements.
    On,
    /// Quick, and enough for cases: a crash of the machine ends the tests anyway.
    Off,
}

/// A PostgreSQL server that is there for tests alone.
#[derive(Debug)]
pub struct Server {
    /// Up to and without the slash before the database's name.
    head: String,
    /// What follows the database's name, from the question mark on.
    tail: String,
    /// The database that is there from the start.
    home: String,
    psql: PathBuf,
    /// What the names of this process's databases begin with.
    prefix: String,
    created: AtomicU32,
    _guard: Guard,
}

/// The server of this test process, started when it is asked for first.
///
/// # Panics
/// Where no server can be had, with the reason.
#[expect(clippy::panic, reason = "a test that cannot have its database fails and says why")]
pub fn postgres() -> &'static Server {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    match SERVER.get_or_init(|| given().map_or_else(|| Server::start(FsyncMode::Off), Ok)) {
        Ok(server) => server,
        Err(reason) => panic!(
            "the tests need PostgreSQL: {reason}. Install it (Debian: apt-get install postgresql) or set \
             {TEST_POSTGRES} to the URL of a server with the right to create databases"
        ),
    }
}

/// The server that the environment names.
#[expect(clippy::disallowed_methods, reason = "the runner of the tests says it this way alone")]
fn given() -> Option<Server> {
    let url = std::env::var(TEST_POSTGRES).ok().filter(|url| !url.is_empty())?;
    let (rest, query) = url.split_once('?').map_or((&*url, None), |(rest, q)| (rest, Some(q)));
    let scheme_len = rest.find("://").map_or(0, |at| at + 3);
    let (head, home) = match rest.get(scheme_len..).and_then(|text| text.rsplit_once('/')) {
        Some((authority, home)) => {
            (format!("{}{authority}", rest.get(..scheme_len).unwrap_or_default()), home)
        }
        None => (rest.to_owned(), ""),
    };
    let home = if home.is_empty() { "postgres" } else { home }.to_owned();
    let tail = query.map(|query| format!("?{query}")).unwrap_or_default();
    let psql = Guard::binaries().map_or_else(|_| "psql".into(), |folder| folder.join("psql"));
    let prefix = prefix();
    let guard = Guard::dropping(&psql, &format!("{head}/{home}{tail}"), &prefix).ok()?;
    Some(Server { head, tail, home, psql, prefix, created: AtomicU32::new(0), _guard: guard })
}

impl Server {
    /// Starts a private server in a temporary folder, reached through a Unix socket in it. It ends when this value is
    /// dropped or the process ends.
    pub fn start(durability: FsyncMode) -> Result<Self, String> {
        let binaries = Guard::binaries()?;
        let guard = Guard::serving(&binaries, durability == FsyncMode::On)?;
        Ok(Self {
            head: "postgresql://".to_owned(),
            tail: format!("?host={}&user=postgres", guard.folder().display()),
            home: "postgres".to_owned(),
            psql: binaries.join("psql"),
            prefix: prefix(),
            created: AtomicU32::new(0),
            _guard: guard,
        })
    }

    /// A fresh, empty database; its URL.
    pub fn create_database(&self) -> String {
        self.create("template0")
    }

    /// A copy of a database that nobody is connected to; its URL.
    pub fn copy_database(&self, url: &str) -> String {
        let name = url.strip_prefix(&self.head).and_then(|rest| rest.strip_prefix('/'));
        self.create(name.and_then(|rest| rest.strip_suffix(&self.tail)).unwrap_or(url))
    }

    #[expect(clippy::panic, reason = "a test that cannot have its database fails and says why")]
    fn create(&self, template: &str) -> String {
        let name = format!("{}{}", self.prefix, self.created.fetch_add(1, Ordering::Relaxed));
        let url = |name: &str| format!("{}/{name}{}", self.head, self.tail);
        let sql = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
        let done = Command::new(&self.psql)
            .args(["--no-psqlrc", "--quiet", "--dbname", &url(&self.home), "--command", &sql])
            .output();
        match done {
            Ok(done) if done.status.success() => url(&name),
            Ok(done) => panic!("no database: {}", String::from_utf8_lossy(&done.stderr)),
            Err(error) => panic!("psql does not start: {error}"),
        }
    }
}

/// Different in every test process, also when they share a server.
fn prefix() -> String {
    format!("sealpost_test_{}_", std::process::id())
}
