//! Online backup of the SQLite database: copies the data into a new file while the node continues to run. Also checks
//! files that could be backups, and empties the write-ahead log before a database is replaced.

mod partial_file;

use std::{io, path::Path};

use diesel::{
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::ports::{BoxedError, StoreError};

use self::partial_file::PartialFile;
use crate::{
    connection::{
        AnyConnection,
        connect::{Target, connect},
        query_error::{QueryError, refused},
    },
    database::Database,
    query::statement::Statement,
    schema::database_identity,
};

/// The reasons why a backup fails or is refused.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The check of the file found damage.
    #[error("the file is damaged ({0}): check the disk, and use another backup")]
    Damaged(String),
    /// The file of the backup cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file has no tables of Sealpost.
    #[error("the file is a database of another program: give a database of Sealpost")]
    Foreign,
    /// The path is not UTF-8, so SQLite cannot open the file.
    #[error("the path of the backup is not UTF-8: choose another path")]
    Path,
    /// The database is on a server.
    #[error("only an embedded database can be copied: use pg_dump for PostgreSQL")]
    Server,
    /// Reading the database to copy failed.
    #[error("the database cannot be read")]
    Store(#[from] StoreError),
    /// The file is no database, or a query of the check failed.
    #[error("the file cannot be read as a database: check the disk, and use another backup")]
    Unreadable(#[source] BoxedError),
}

impl From<diesel::result::Error> for BackupError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Unreadable(error.into())
    }
}

impl Database {
    /// Copies all committed data of an SQLite database into a new file, and checks the copy. The file gets its name
    /// when it is complete and on disk. Other transactions do not wait for the backup. Refuses PostgreSQL.
    pub fn backup(&self, file: &Path) -> Result<(), BackupError> {
        let source = self.file.as_ref().ok_or(BackupError::Server)?;
        let partial = PartialFile::create(file)?;
        let target = Target::SqliteReader(source.to_path_buf());
        copy(connect(&target, &self.settings).map_err(refused)?, &partial.path)?;
        check_backup(&partial.path)?;
        Ok(partial.publish()?)
    }

    /// Moves the content of an SQLite database's write-ahead log into the database file, and empties the log. No other
    /// process may use the database. Does nothing on PostgreSQL.
    pub fn empty_log(&self) -> Result<(), StoreError> {
        let Some(file) = &self.file else { return Ok(()) };
        let target = Target::SqliteWriter(file.to_path_buf());
        match connect(&target, &self.settings).map_err(refused)? {
            AnyConnection::Sqlite(mut connection) => Ok(connection
                .batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")
                .map_err(QueryError::from)?),
            AnyConnection::Postgres(_) => Ok(()),
        }
    }
}

/// Checks the structure of an SQLite file, and that the file is a database of Sealpost. Returns the id of the database.
/// If a write-ahead log is beside the file, SQLite applies the log.
pub fn check_backup(file: &Path) -> Result<String, BackupError> {
    let mut conn = open_copy(file)?;
    let check = Statement::<_, Text>::query("PRAGMA integrity_check");
    let found: Vec<String> = check.load(&mut conn)?;
    match &found[..] {
        [result] if result == "ok" => identity(&mut conn),
        other => Err(BackupError::Damaged(other.first().cloned().unwrap_or_default())),
    }
}

/// Returns the id of the database in an SQLite file; `None` if the file has no id or cannot be read.
pub fn backup_identity(file: &Path) -> Option<String> {
    open_copy(file).and_then(|mut conn| identity(&mut conn)).ok()
}

fn open_copy(file: &Path) -> Result<SqliteConnection, BackupError> {
    let path = file.to_str().ok_or(BackupError::Path)?;
    SqliteConnection::establish(path).map_err(|error| BackupError::Unreadable(error.into()))
}

fn identity(conn: &mut SqliteConnection) -> Result<String, BackupError> {
    let tables: i64 = diesel::select(sql::<BigInt>(TABLES)).get_result(conn)?;
    if tables < REQUIRED {
        return Err(BackupError::Foreign);
    }
    Ok(database_identity::table.select(database_identity::id).first(conn)?)
}

fn copy(connection: AnyConnection, file: &Path) -> Result<(), BackupError> {
    let AnyConnection::Sqlite(mut source) = connection else { return Err(BackupError::Server) };
    let path = file.to_str().ok_or(BackupError::Path)?;
    // Connections for reading set the pragma `query_only`, which also forbids `VACUUM INTO`. The pragma can safely be
    // turned off, because `VACUUM INTO` writes only the copy and does not change the source.
    let copied = source.batch_execute("PRAGMA query_only = OFF").and_then(|()| {
        sql_query("/* backup.copy */ VACUUM INTO ?").bind::<Text, _>(path).execute(&mut source)
    });
    copied.map_err(|error| StoreError::from(QueryError::from(error)))?;
    Ok(())
}

/// Counts the tables by which a database of Sealpost is recognised.
const TABLES: &str = "(SELECT count(*) FROM sqlite_master WHERE type = 'table'
    AND name IN ('__diesel_schema_migrations', 'accounts', 'api_keys', 'database_identity', 'kek_marks'))";
const REQUIRED: i64 = 5;
