//! Opens connections to PostgreSQL and SQLite, and applies the session settings that the service needs.

use std::{
    fs::{self, OpenOptions, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use diesel::{
    ConnectionError, PgConnection, SqliteConnection,
    connection::{CacheSize, SimpleConnection},
    dsl::sql,
    prelude::*,
    sql_types::{Nullable, Text},
};

use crate::{
    connection::{AnyConnection, encryption, query_error::QueryError, url::PostgresUrl},
    owned_file,
    settings::Settings,
};

/// The database to open a connection to. SQLite has separate connections for reading and for writing.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Postgres(PostgresUrl),
    SqliteReader(PathBuf),
    SqliteWriter(PathBuf),
}

/// An error while a connection was opened or configured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("cannot open the connection")]
    Connection(#[source] ConnectionError),
    #[error("{advice}")]
    Tls { advice: &'static str, source: ConnectionError },
    #[error("cannot configure the connection")]
    Setup(#[from] diesel::result::Error),
    #[error("the path of the database file is not UTF-8: choose another path")]
    Path,
    #[error("cannot create the database file")]
    File(#[from] io::Error),
}

/// The reasons why no version of the service can use a database.
#[derive(Debug, thiserror::Error)]
enum UnusableDatabase {
    #[error(
        "the database has the encoding {0}, which cannot store every text: create a database with ENCODING 'UTF8' \
         LOCALE 'C' TEMPLATE template0, and restore a dump of this database there"
    )]
    Encoding(String),
    #[error(
        "the role {role} can use no schema of its search_path {search_path}: run CREATE SCHEMA public AUTHORIZATION \
         {role}, or GRANT USAGE, CREATE ON SCHEMA … TO {role}, or correct the search_path with ALTER ROLE"
    )]
    Schema { role: String, search_path: String },
}

impl From<ConnectionError> for ConnectError {
    fn from(source: ConnectionError) -> Self {
        match encryption::advice(&source.to_string()) {
            Some(advice) => Self::Tls { advice, source },
            None => Self::Connection(source),
        }
    }
}

/// Opens and configures a connection. For an SQLite writer, first creates the database file if it is missing.
pub(crate) fn connect(target: &Target, settings: &Settings) -> Result<AnyConnection, ConnectError> {
    match target {
        Target::Postgres(url) => postgres(url, settings).map(AnyConnection::Postgres),
        Target::SqliteReader(path) => sqlite(path, &READER).map(AnyConnection::Sqlite),
        Target::SqliteWriter(path) => {
            make_private(path)?;
            sqlite(path, &WRITER).map(AnyConnection::Sqlite)
        }
    }
}

/// Refuses a PostgreSQL database that has another encoding than UTF-8, or no schema for the tables of the service.
pub(crate) fn require_usable(conn: &mut AnyConnection) -> Result<(), QueryError> {
    let AnyConnection::Postgres(_) = conn else { return Ok(()) };
    let encoding = sql::<Text>("current_setting('server_encoding')");
    let schema = sql::<Nullable<Text>>("current_schema()::text");
    let role = sql::<Text>("quote_ident(current_user)");
    let search_path = sql::<Text>("current_setting('search_path')");
    let (encoding, schema, role, search_path): (String, Option<String>, _, _) =
        diesel::select((encoding, schema, role, search_path)).get_result(conn)?;
    let fault = if encoding != "UTF8" {
        UnusableDatabase::Encoding(encoding)
    } else if schema.is_none() {
        UnusableDatabase::Schema { role, search_path }
    } else {
        return Ok(());
    };
    Err(QueryError::Refused(fault.into()))
}

fn postgres(url: &PostgresUrl, settings: &Settings) -> Result<PgConnection, ConnectError> {
    // Initializes OpenSSL without its exit handler, before libpq would initialize it with the handler. The handler
    // frees the data of OpenSSL while threads of a pool may still connect, so that the process ends with SIGSEGV.
    #[cfg(feature = "postgres-tls")]
    openssl_sys::init();
    let mut conn = PgConnection::establish(&url.with_defaults(&[
        "application_name=sealpost".to_owned(),
        format!("connect_timeout={}", settings.connection_timeout.as_secs().max(2)),
        // If the URL has several hosts, this parameter selects the primary. A standby would refuse every write.
        "target_session_attrs=read-write".to_owned(),
        // Detects a dead connection within seconds. With the defaults of the kernel, this can take a quarter of an
        // hour.
        "keepalives_idle=10".to_owned(),
        "keepalives_interval=5".to_owned(),
        "keepalives_count=3".to_owned(),
        format!("tcp_user_timeout={}", (settings.statement_timeout * 2).as_millis()),
    ]))?;
    let millis = |span: Duration| span.as_millis();
    conn.batch_execute(&format!(
        "SET statement_timeout = {};
         SET lock_timeout = {};
         SET idle_in_transaction_session_timeout = {};
         {POSTGRES_SESSION}",
        millis(settings.statement_timeout),
        millis(settings.statement_timeout / 2),
        millis(settings.statement_timeout * 3),
    ))?;
    if settings.has_pooler {
        // Prepares no statements, because the pooler could prepare a statement on one server connection and execute it
        // on another.
        conn.set_prepared_statement_cache_size(CacheSize::Disabled);
    }
    Ok(conn)
}

fn sqlite(path: &Path, pragmas: &[&str]) -> Result<SqliteConnection, ConnectError> {
    let mut conn = SqliteConnection::establish(path.to_str().ok_or(ConnectError::Path)?)?;
    // The pragmas run one at a time and in this order. The first sets the busy timeout, so that the others wait for a
    // lock instead of failing.
    for pragma in pragmas {
        conn.batch_execute(pragma)?;
    }
    Ok(conn)
}

/// Creates the database file if it is missing, and restricts its mode to the owner. SQLite gives the same mode to the
/// other files of the database, such as the write-ahead log.
///
/// Does not open an existing file, because closing the file would release the locks of other connections in this
/// process (POSIX.1, `fcntl`). Without these locks another process may delete the write-ahead log.
fn make_private(path: &Path) -> io::Result<()> {
    let of_path =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    require_regular(path).map_err(of_path)?;
    match owned_file::create(OpenOptions::new().write(true), path) {
        Ok(_file) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(of_path(error)),
    }
    let found = fs::metadata(path).map_err(of_path)?;
    if found.permissions().mode() & 0o777 != PRIVATE {
        fs::set_permissions(path, Permissions::from_mode(PRIVATE)).map_err(of_path)?;
    }
    Ok(())
}

/// Fails if the database file or its write-ahead log exists, but is no regular file. Reading a pipe, for example, would
/// wait forever.
fn require_regular(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let name = owned_file::with_suffix(path, suffix);
        if fs::metadata(&name).is_ok_and(|found| !found.is_file()) {
            let message = format!("{} is no regular file: move it away", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    }
    Ok(())
}

const PRIVATE: u32 = 0o600;

/// Settings of each PostgreSQL session.
///
/// - A commit is acknowledged only when it is on disk, and on the disk of a synchronous standby if there is one. A
///   weaker default of the server is replaced, and a stronger default is kept.
/// - Error messages are in English, because errors are classified by text. If the role lacks the right to set the
///   language, the language of the server is kept.
/// - Queries use indexes. PostgreSQL plans each prepared statement only once, often while a table is small. Without
///   these settings, PostgreSQL could choose to scan the whole table, and keep this plan when the table has grown. A
///   bitmap scan would read all index entries of a key, even if the query needs only the first.
const POSTGRES_SESSION: &str = "
    SET default_transaction_isolation = 'read committed';
    SET enable_seqscan = off;
    SET enable_bitmapscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    /* connect.synchronous_commit */ SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('local', 'off', 'remote_write');
    DO $$ BEGIN
        PERFORM set_config('lc_messages', 'C', false);
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END $$;";

/// Settings of the connection that writes to SQLite.
///
/// - A busy timeout: a statement waits if an operator command writes in another process.
/// - No memory mapping. With a mapping, a disk error would end the process instead of failing a statement.
/// - No checkpoints in commits: the thread for checkpoints runs them. In a commit, copying a long log would take
///   seconds.
/// - No limit for the size of the log file, because SQLite would truncate the file in a commit.
/// - No `auto_vacuum`. New rows reuse the pages of deleted rows, so the file needs no vacuum. With `auto_vacuum`, each
///   envelope would write 3 % more to the write-ahead log.
const WRITER: [&str; 7] = [
    "PRAGMA busy_timeout = 5000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -24576",
    "PRAGMA wal_autocheckpoint = 0",
];

/// Settings of the connections that read from SQLite. `query_only` makes every write fail.
const READER: [&str; 4] = [
    "PRAGMA busy_timeout = 5000",
    "PRAGMA query_only = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8192",
];
