//! A PostgreSQL server for tests, which creates databases on request. This process starts the server, unless an
//! environment variable names an existing one.

use std::{
    path::PathBuf,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::guard::Guard;

/// The environment variable with the URL of an existing server.
const TEST_POSTGRES: &str = "SEALPOST_TEST_POSTGRES";

/// PostgreSQL arguments that turn off the sync of commits to the disk.
pub(crate) const NO_FSYNC: [&str; 2] = ["-c fsync=off", "-c full_page_writes=off"];

/// Whether a private server (one that the tests start) syncs commits to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsyncMode {
    /// Syncs commits to the disk, as in production. Use this for measurements.
    On,
    /// Does not sync commits, which is faster. Use this for tests: data lost in a crash of the machine does not matter,
    /// because the crash also ends the tests.
    Off,
}

/// A PostgreSQL server for tests.
#[derive(Debug)]
pub struct Server {
    /// The part of the URL before the slash and the database name.
    head: String,
    /// The part of the URL after the database name, beginning with the question mark.
    tail: String,
    /// Name of an existing database. psql connects to this database to run `CREATE DATABASE` for the test databases.
    home: String,
    psql: PathBuf,
    /// Prefix of the names of the databases that this process creates.
    prefix: String,
    created: AtomicU32,
    _guard: Guard,
}

/// Returns the server that all tests of this process use. If `SEALPOST_TEST_POSTGRES` names no server, the first call
/// starts a server.
///
/// # Panics
/// If no server is available, with the reason.
#[expect(clippy::panic, reason = "a test without its database fails and gives the reason")]
pub fn postgres() -> &'static Server {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    match SERVER.get_or_init(|| given().map_or_else(|| Server::start(FsyncMode::Off), Ok)) {
        Ok(server) => server,
        Err(reason) => panic!(
            "the tests need a PostgreSQL server: {reason}. Install PostgreSQL (Debian: apt-get install postgresql) or set \
             {TEST_POSTGRES} to the URL of a server with the right to create databases"
        ),
    }
}

/// Returns the server that `SEALPOST_TEST_POSTGRES` names. Returns `None` if the variable is unset or empty, or if the
/// shell that later drops the databases cannot start. Does not check that the server is reachable.
#[expect(
    clippy::disallowed_methods,
    reason = "test runners configure the server with this variable"
)]
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
    /// Starts a private server in a temporary folder with a Unix socket. The server stops when this value is dropped or
    /// the process ends.
    pub fn start(durability: FsyncMode) -> Result<Self, String> {
        Self::start_with(durability, &[])
    }

    /// Like [`start`](Self::start), with further arguments of the server, such as `-c wal_level=logical`.
    pub fn start_with(durability: FsyncMode, options: &[&str]) -> Result<Self, String> {
        let binaries = Guard::binaries()?;
        let durability = match durability {
            FsyncMode::On => &[][..],
            FsyncMode::Off => &NO_FSYNC,
        };
        let options: Vec<_> =
            durability.iter().chain(options).map(|option| (*option).to_owned()).collect();
        let guard = Guard::serving(&binaries, &options, None)?;
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

    /// Creates an empty database and returns its URL.
    pub fn create_database(&self) -> String {
        self.create("template0")
    }

    /// Copies a database of this server, and returns the URL of the copy. The copied database must have no open
    /// connections.
    pub fn copy_database(&self, url: &str) -> String {
        let name = url.strip_prefix(&self.head).and_then(|rest| rest.strip_prefix('/'));
        self.create(name.and_then(|rest| rest.strip_suffix(&self.tail)).unwrap_or(url))
    }

    #[expect(clippy::panic, reason = "a test without its database fails and gives the reason")]
    fn create(&self, template: &str) -> String {
        let name = format!("{}{}", self.prefix, self.created.fetch_add(1, Ordering::Relaxed));
        let url = |name: &str| format!("{}/{name}{}", self.head, self.tail);
        let sql = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
        let done = Command::new(&self.psql)
            .args(["--no-psqlrc", "--quiet", "--dbname", &url(&self.home), "--command", &sql])
            .output();
        match done {
            Ok(done) if done.status.success() => url(&name),
            Ok(done) => {
                panic!("cannot create a test database: {}", String::from_utf8_lossy(&done.stderr))
            }
            Err(error) => panic!("cannot start psql: {error}"),
        }
    }
}

/// Returns a prefix for the names of databases. Each test process has its own prefix, because several processes may
/// share a server.
fn prefix() -> String {
    format!("sealpost_test_{}_", std::process::id())
}
