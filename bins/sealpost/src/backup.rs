//! `sealpost backup`: a copy of the embedded database while it is served.

use std::io::Write as _;

use sealpost_node::{DatabaseSettings, database_error, open_database};
use sealpost_storage::DatabaseUrl;

use crate::{cli::BackupArgs, fault::Fault};

/// Copies, and says what else is needed to use the copy.
pub(crate) fn run(args: &BackupArgs) -> Result<(), Fault> {
    let settings = DatabaseSettings::from(&args.database);
    let url = settings.database_url();
    let DatabaseUrl::Sqlite(source) = &url else {
        return Err(Fault::new(
            "this copies the embedded database alone; for PostgreSQL use pg_dump --format=custom",
        ));
    };
    if !source.exists() {
        return Err(Fault::new(format!(
            "there is no database {}; say where it is with --data-dir or --database-url",
            source.display()
        )));
    }
    let file = &args.file;
    if file.exists() {
        return Err(Fault::new(format!("{} is there already; name a new file", file.display())));
    }
    open_database(&settings, &url)?.backup(file).map_err(database_error)?;
    let said = format!(
        "{} holds the database; without the key file nobody can open what is in it: keep that too, elsewhere\n",
        file.display()
    );
    std::io::stdout()
        .write_all(said.as_bytes())
        .map_err(|error| Fault::caused("standard output is closed", error))
}
