//! The measured databases. Each run gets a new database with its own key-encryption key, deleted at the end
//! of the run.

use std::{
    fs,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use diesel::{
    Connection as _, RunQueryDsl as _, SqliteConnection,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::Timestamp;
use sealpost_storage::{Database, DatabaseUrl, Settings};
use sealpost_wallet::Keyring;
use tempfile::TempDir;
use zeroize::Zeroizing;

use crate::{
    measure::{clock::now, cpu},
    stage::postgres::{self, Cluster, TemporaryDatabase},
};

/// The database engine.
#[derive(Clone)]
pub(crate) enum Engine {
    Postgres(Rc<Cluster>),
    Sqlite,
}

impl Engine {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "postgres",
            Self::Sqlite => "sqlite",
        }
    }

    pub(crate) fn version(&self) -> String {
        match self {
            Self::Postgres(cluster) => cluster.version(),
            Self::Sqlite => {
                let mut memory =
                    SqliteConnection::establish(":memory:").expect("SQLite is bundled");
                let version = diesel::select(sql::<Text>("sqlite_version()"));
                format!(
                    "SQLite {}",
                    version.get_result::<String>(&mut memory).expect("the query succeeds")
                )
            }
        }
    }

    /// Returns the CPU time of the database outside its client processes. `None` if the processes are not
    /// visible.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        match self {
            Self::Postgres(cluster) => cluster.head().map(cpu::of_family),
            Self::Sqlite => Some(Duration::ZERO),
        }
    }

    /// Creates a database with the current schema.
    pub(crate) fn place(&self) -> Place {
        let folder = tempfile::Builder::new().prefix("sealpost-bench-").tempdir();
        let folder = folder.expect("a temporary folder can be made");
        let made = match self {
            Self::Postgres(cluster) => Some(Cluster::make(cluster)),
            Self::Sqlite => None,
        };
        let kek = Keyring::fresh_line(1).expect("there is randomness");
        write_secret(&folder.path().join("kek"), &kek);
        let place = Place { folder, made, kek };
        place.open().migrate().expect("a fresh database can be migrated");
        place
    }
}

/// The ages of the oldest rows. Zero if there is no row.
#[derive(Clone, Copy)]
pub(crate) struct OldestRows {
    pub(crate) envelope_age: Duration,
    pub(crate) attempt_age: Duration,
}

/// A database for one run.
pub(crate) struct Place {
    folder: TempDir,
    made: Option<TemporaryDatabase>,
    kek: Zeroizing<String>,
}

impl Place {
    pub(crate) fn open(&self) -> Database {
        let url = match &self.made {
            Some(made) => made.url().parse().expect("a URL of PostgreSQL"),
            None => DatabaseUrl::Sqlite(self.file()),
        };
        let database = Database::open(&url, Settings::default()).expect("the database opens");
        database.authenticate_rows(Arc::new(self.keyring()));
        database
    }

    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::parse(&self.kek).expect("a fresh line is a key")
    }

    /// Adds the database to the arguments of a server.
    pub(crate) fn name_to(&self, command: &mut Command) {
        command.arg("--data-dir").arg(self.folder.path());
        if let Some(made) = &self.made {
            command.args(["--database-url", made.url(), "--kek-file"]).arg(self.kek_file());
        }
    }

    /// Returns the ages of the oldest envelope and the oldest logged attempt.
    pub(crate) fn oldest_rows(&self) -> OldestRows {
        let of = |statement: &str| {
            let number = sql::<Nullable<BigInt>>(statement);
            let query = diesel::select(number);
            let at: Option<i64> = match &self.made {
                Some(made) => query.get_result(&mut postgres::connect(made.url())),
                None => query.get_result(&mut self.sqlite()),
            }
            .expect("the query succeeds");
            at.map_or(Duration::ZERO, |at| now().since(Timestamp::from_millis(at)))
        };
        OldestRows {
            envelope_age: of("(SELECT created_at FROM envelopes ORDER BY id LIMIT 1)"),
            attempt_age: of("(SELECT at FROM attempts ORDER BY number LIMIT 1)"),
        }
    }

    /// Returns the size of the database on disk.
    pub(crate) fn bytes(&self) -> u64 {
        if let Some(made) = &self.made {
            return made.number("pg_database_size(current_database())");
        }
        let names = ["sealpost.db", "sealpost.db-wal"].into_iter();
        let sizes = names.map(|name| fs::metadata(self.folder.path().join(name)));
        sizes.map(|found| found.map_or(0, |file| file.len())).sum()
    }

    /// Returns the position in the write-ahead log of PostgreSQL, in bytes.
    pub(crate) fn wal_position(&self) -> Option<u64> {
        let made = self.made.as_ref()?;
        Some(made.number("(pg_current_wal_lsn() - '0/0')::BIGINT"))
    }

    /// Runs the database's own maintenance after many inserts, so that it does not run during a measurement.
    pub(crate) fn settle_down(&self) {
        if let Some(made) = &self.made {
            let mut connection = postgres::connect(made.url());
            connection.batch_execute("VACUUM (ANALYZE)").expect("the database can be vacuumed");
            connection.batch_execute("CHECKPOINT").expect("the bench may checkpoint");
        } else {
            let checkpoint = self.sqlite().batch_execute("PRAGMA wal_checkpoint(TRUNCATE)");
            checkpoint.expect("no other process uses the database");
        }
    }

    /// Changes rows of the database before a server starts.
    pub(crate) fn execute(&self, statement: &str) {
        match &self.made {
            Some(made) => postgres::connect(made.url()).batch_execute(statement),
            None => self.sqlite().batch_execute(statement),
        }
        .expect("the statement succeeds");
    }

    /// Writes a file that only the owner can read.
    pub(crate) fn put_secret(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        write_secret(&file, text);
        file
    }

    /// Returns the URL of a database on PostgreSQL.
    pub(crate) fn postgres_url(&self) -> Option<&str> {
        self.made.as_ref().map(TemporaryDatabase::url)
    }

    pub(crate) fn sqlite(&self) -> SqliteConnection {
        let file = self.file().display().to_string();
        SqliteConnection::establish(&file).expect("the database accepts connections")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("sealpost.db")
    }

    fn kek_file(&self) -> PathBuf {
        self.folder.path().join("kek")
    }
}

fn write_secret(file: &Path, text: &str) {
    fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(file)
        .and_then(|_| fs::write(file, text))
        .expect("the file can be written");
}
