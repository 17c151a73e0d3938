//! How a connection is opened and what it is told before anybody uses it.

use std::{
    fs::{self, OpenOptions, Permissions},
    io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use diesel::{
    ConnectionError, PgConnection, SqliteConnection, connection::SimpleConnection, prelude::*,
};

use crate::{Settings, connection::AnyConnection, url::PostgresUrl};

/// What to open.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Postgres(PostgresUrl),
    SqliteReader(PathBuf),
    SqliteWriter(PathBuf),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectFault {
    #[error("the connection was not opened")]
    Connection(#[from] ConnectionError),
    #[error("the connection could not be set up")]
    Setup(#[from] diesel::result::Error),
    #[error("the path of the database is not UTF-8")]
    Path,
    #[error("the database file could not be made")]
    File(#[from] io::Error),
}

/// Opens a connection that is ready for use.
pub(crate) fn connect(target: &Target, settings: &Settings) -> Result<AnyConnection, ConnectFault> {
    match target {
        Target::Postgres(url) => postgres(url, settings).map(AnyConnection::Postgres),
        Target::SqliteReader(path) => sqlite(path, &READER).map(AnyConnection::Sqlite),
        Target::SqliteWriter(path) => {
            make_private(path)?;
            sqlite(path, &WRITER).map(AnyConnection::Sqlite)
        }
    }
}

fn postgres(url: &PostgresUrl, settings: &Settings) -> Result<PgConnection, ConnectFault> {
    let mut conn = PgConnection::establish(&url.with_defaults(&[
        "application_name=sealpost".to_owned(),
        format!("connect_timeout={}", settings.connection_timeout.as_secs().max(2)),
        // A server that fell silent is noticed within seconds and not within the kernel's quarter of an hour.
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
    Ok(conn)
}

fn sqlite(path: &Path, pragmas: &[&str]) -> Result<SqliteConnection, ConnectFault> {
    let mut conn = SqliteConnection::establish(path.to_str().ok_or(ConnectFault::Path)?)?;
    // One by one and in this order: the first makes the others wait for a lock instead of failing.
    for pragma in pragmas {
        conn.batch_execute(pragma)?;
    }
    Ok(conn)
}

/// Only its owner may read the database; SQLite gives the files beside it the same mode.
///
/// A file that is there is not opened for that: to close it would drop the locks that other connections of this process
/// have on it (POSIX.1, `fcntl`), which keep other processes from taking its log for nobody's and deleting it.
fn make_private(path: &Path) -> io::Result<()> {
    let of_path =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    match OpenOptions::new().create_new(true).write(true).mode(PRIVATE).open(path) {
        Ok(_made) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(of_path(error)),
    }
    let found = match fs::metadata(path) {
        // A link to where nothing is yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = OpenOptions::new().create(true).append(true).mode(PRIVATE).open(path);
            return made.map(drop).map_err(of_path);
        }
        found => found.map_err(of_path)?,
    };
    if found.permissions().mode() & 0o777 != PRIVATE {
        fs::set_permissions(path, Permissions::from_mode(PRIVATE)).map_err(of_path)?;
    }
    Ok(())
}

const PRIVATE: u32 = 0o600;

/// Statements are judged by what was committed before each of them. A commit that was acknowledged is on the disk,
/// whatever the server's own default; a stronger setting stays. Errors are read as text, so they are wanted in
/// English, which only some users may ask for.
///
/// Every statement of a busy path names its rows by key. A plan is made once and kept, often while a table is still small,
/// and would then go through all of it for good; the queue is worse, because its dead rows outnumber its live ones. So
/// whatever has an index is read by it.
const POSTGRES_SESSION: &str = "
    SET default_transaction_isolation = 'read committed';
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off';
    DO $$ BEGIN
        PERFORM set_config('lc_messages', 'C', false);
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END $$;";

/// The operator's commands write from another process, so a writer may have to wait. Memory mapping stays off: an
/// error of the disk would then end the process instead of failing a statement. Whoever's commit makes the log that long
/// brings all of it into the database, while nobody else writes: with the default of an eighth, pages that every
/// batch changes would be written several times a second.
const WRITER: [&str; 8] = [
    "PRAGMA busy_timeout = 5000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -24576",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA wal_autocheckpoint = 4096",
];

const READER: [&str; 4] = [
    "PRAGMA busy_timeout = 5000",
    "PRAGMA query_only = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8192",
];
