//! Commands for a whole database: `sealpost migrate`, `sealpost backup`, `sealpost restore` and
//! `sealpost move`.

pub(crate) mod backup;
pub(crate) mod migrate;
pub(crate) mod moving;
pub(crate) mod restore;

use sealpost_node::DatabaseUrl;

use crate::fault::Fault;

/// Refuses an embedded database whose file does not exist.
pub(crate) fn refuse_missing(url: &DatabaseUrl) -> Result<(), Fault> {
    match url {
        DatabaseUrl::Sqlite(file) if !file.exists() => Err(Fault::new(format!(
            "the database {} does not exist: give its location with --data-dir or --database-url",
            file.display()
        ))),
        DatabaseUrl::Postgres(_) | DatabaseUrl::Sqlite(_) => Ok(()),
    }
}
