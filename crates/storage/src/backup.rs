//! A copy of the embedded database, made while others write.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use diesel::{connection::SimpleConnection, prelude::*, sql_query, sql_types::Text};
use sealpost_domain::ports::StoreError;

use crate::{
    connect::{Target, connect},
    connection::AnyConnection,
    database::Database,
    fault::{Fault, refused},
};

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
enum BackupFault {
    #[error("the copy is damaged: {0}")]
    Damaged(String),
    #[error("this is no embedded database: use pg_dump")]
    Server,
    #[error("the path of the copy is not UTF-8")]
    Path,
}

#[derive(QueryableByName)]
struct Check {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

impl Database {
    /// Writes what is committed now into a file that is not there yet, and checks it. Nobody waits for it.
    pub fn backup(&self, file: &Path) -> Result<(), StoreError> {
        let Some(source) = &self.file else { return Err(refused(BackupFault::Server)) };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(file).map_err(refused)?;
        let target = Target::SqliteReader(source.clone());
        let done = connect(&target, &self.settings)
            .map_err(refused)
            .and_then(|connection| Ok(copy(connection, file)?))
            .and_then(|()| File::open(file).and_then(|copy| copy.sync_all()).map_err(refused));
        done.inspect_err(|_fault| drop(fs::remove_file(file)))
    }
}

fn copy(connection: AnyConnection, file: &Path) -> Result<(), Fault> {
    let AnyConnection::Sqlite(mut source) = connection else {
        return Err(Fault::Refused(BackupFault::Server.into()));
    };
    let path = file.to_str().ok_or(Fault::Refused(BackupFault::Path.into()))?;
    // A reader that may write: not into what it reads.
    source.batch_execute("PRAGMA query_only = OFF")?;
    sql_query("VACUUM INTO ?").bind::<Text, _>(path).execute(&mut source)?;
    let mut copied =
        SqliteConnection::establish(path).map_err(|error| Fault::Refused(error.into()))?;
    let found: Vec<Check> = sql_query("PRAGMA integrity_check").load(&mut copied)?;
    match &found[..] {
        [Check { integrity_check }] if integrity_check == "ok" => Ok(()),
        other => {
            let said = other.first().map(|check| check.integrity_check.clone());
            Err(Fault::Refused(BackupFault::Damaged(said.unwrap_or_default()).into()))
        }
    }
}
