//! The PostgreSQL server: a private one with default durability, or a given one.

use std::{cell::Cell, process, rc::Rc};

use diesel::{
    Connection as _, PgConnection, RunQueryDsl as _,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{BigInt, Integer, Text},
};
use sealpost_testkit::{FsyncMode, Server};
use url::Url;

use crate::measure::cpu;

pub(crate) struct Cluster {
    home: Url,
    /// The parent of all server processes, if the server runs on this machine.
    head: Option<u32>,
    made: Cell<u32>,
    is_private: bool,
    _server: Option<Server>,
}

/// A database, deleted when this value is dropped.
pub(crate) struct TemporaryDatabase {
    cluster: Rc<Cluster>,
    name: String,
    url: String,
}

impl Cluster {
    /// Starts a private server with default durability and these arguments.
    pub(crate) fn private(options: &[&str]) -> Self {
        let server = Server::start_with(FsyncMode::On, options);
        let server = server.expect("a PostgreSQL can be started");
        let home = server.create_database();
        make_log_files(&home);
        Self { is_private: true, _server: Some(server), ..Self::given(&home) }
    }

    /// Connects to the server at this URL. The role must be allowed to create databases.
    pub(crate) fn given(url: &str) -> Self {
        let home: Url = url.parse().expect("--database is the URL of a PostgreSQL server");
        let mut connection = connect(home.as_str());
        let backend = diesel::select(sql::<Integer>("pg_backend_pid()"));
        let backend: i32 = backend.get_result(&mut connection).expect("the query succeeds");
        let head = u32::try_from(backend).ok().and_then(cpu::parent_of);
        let head = head.filter(|(_, name)| name.starts_with("postgres")).map(|(head, _)| head);
        Self { home, head, made: Cell::new(0), is_private: false, _server: None }
    }

    pub(crate) fn version(&self) -> String {
        let ask = |what: &str| -> String {
            let query = diesel::select(sql::<Text>(&format!("current_setting('{what}')")));
            query.get_result(&mut connect(self.home.as_str())).expect("the query succeeds")
        };
        let whose = if self.is_private { "private" } else { "given" };
        format!(
            "PostgreSQL {} ({whose}; fsync {}, synchronous_commit {}, shared_buffers {})",
            ask("server_version"),
            ask("fsync"),
            ask("synchronous_commit"),
            ask("shared_buffers"),
        )
    }

    /// Returns the parent process, if the server runs on this machine.
    pub(crate) fn head(&self) -> Option<u32> {
        self.head
    }

    /// Creates a database.
    pub(crate) fn make(cluster: &Rc<Self>) -> TemporaryDatabase {
        let number = cluster.made.get();
        cluster.made.set(number + 1);
        let name = format!("sealpost_bench_{}_{number}", process::id());
        cluster.execute(&format!("CREATE DATABASE {name} TEMPLATE template0"));
        let mut url = cluster.home.clone();
        url.set_path(&name);
        TemporaryDatabase { cluster: Rc::clone(cluster), name, url: url.into() }
    }

    fn execute(&self, statement: &str) {
        connect(self.home.as_str())
            .batch_execute(statement)
            .expect("the bench may create databases and drop them");
    }
}

impl TemporaryDatabase {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the value of an expression of type `BIGINT` that is not negative.
    pub(crate) fn number(&self, expression: &str) -> u64 {
        let query = diesel::select(sql::<BigInt>(expression));
        let number: i64 = query.get_result(&mut connect(&self.url)).expect("the query succeeds");
        u64::try_from(number).expect("the number is not negative")
    }
}

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        self.cluster.execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// Creates the log files of a server that has run for a while. A new server creates each file during a
/// commit, and all commits wait for it.
fn make_log_files(url: &str) {
    connect(url)
        .batch_execute(
            "SELECT pg_logical_emit_message(false, 'sealpost', repeat('x', 16000000))
             FROM generate_series(1, 50);
             CHECKPOINT",
        )
        .expect("a private server may be written to");
}

pub(crate) fn connect(url: &str) -> PgConnection {
    PgConnection::establish(url).expect("PostgreSQL accepts connections")
}
