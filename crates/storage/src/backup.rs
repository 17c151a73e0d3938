//! Online backup of the SQLite database: copies the data into a new file while the node continues to run. Also empties the
//! write-ahead log before a database is replaced.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use diesel::{connection::SimpleConnection, prelude::*, sql_query, sql_types::Text};
use sealpost_domain::ports::StoreError;

use crate::{
    connection::{
        AnyConnection,
        connect::{Target, connect},
        fault::{Fault, refused},
    },
    database::Database,
};

/// The reasons why a backup fails or is refused.
#[derive(Debug, thiserror::Error)]
enum BackupFault {
    #[error("the backup failed its integrity check: {0}; check the disk and try again")]
    Damaged(String),
    #[error("only an embedded database can be copied: use pg_dump for PostgreSQL")]
    Server,
    #[error("the path of the backup is not UTF-8: choose another path")]
    Path,
}

#[derive(QueryableByName)]
struct Check {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

impl Database {
    /// Copies all committed data of an SQLite database into a new file, and checks the integrity of the copy. Other
    /// transactions do not wait for the backup. Refuses PostgreSQL.
    pub fn backup(&self, file: &Path) -> Result<(), StoreError> {
        let Some(source) = &self.file else { return Err(refused(BackupFault::Server)) };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(file).map_err(refused)?;
        let target = Target::SqliteReader(source.to_path_buf());
        let done = connect(&target, &self.settings)
            .map_err(refused)
            .and_then(|connection| Ok(copy(connection, file)?))
            .and_then(|()| File::open(file).and_then(|copy| copy.sync_all()).map_err(refused));
        done.inspect_err(|_fault| drop(fs::remove_file(file)))
    }

    /// Moves the content of an SQLite database's write-ahead log into the database file, and empties the log. No other
    /// process may use the database. Does nothing on PostgreSQL.
    pub fn empty_log(&self) -> Result<(), StoreError> {
        let Some(file) = &self.file else { return Ok(()) };
        let target = Target::SqliteWriter(file.to_path_buf());
        match connect(&target, &self.settings).map_err(refused)? {
            AnyConnection::Sqlite(mut connection) => Ok(connection
                .batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")
                .map_err(Fault::from)?),
            AnyConnection::Postgres(_) => Ok(()),
        }
    }
}

fn copy(connection: AnyConnection, file: &Path) -> Result<(), Fault> {
    let AnyConnection::Sqlite(mut source) = connection else {
        return Err(Fault::Refused(BackupFault::Server.into()));
    };
    let path = file.to_str().ok_or(Fault::Refused(BackupFault::Path.into()))?;
    // Connections for reading set the pragma `query_only`, which also forbids `VACUUM INTO`. The pragma can safely be
    // turned off, because `VACUUM INTO` writes only the copy and does not change the source.
    source.batch_execute("PRAGMA query_only = OFF")?;
    sql_query("VACUUM INTO ?").bind::<Text, _>(path).execute(&mut source)?;
    let mut copied =
        SqliteConnection::establish(path).map_err(|error| Fault::Refused(error.into()))?;
    let found: Vec<Check> = sql_query("PRAGMA integrity_check").load(&mut copied)?;
    match &found[..] {
        [Check { integrity_check }] if integrity_check == "ok" => Ok(()),
        other => {
            let message = other.first().map(|check| check.integrity_check.clone());
            Err(Fault::Refused(BackupFault::Damaged(message.unwrap_or_default()).into()))
        }
    }
}
