//! `sealpost migrate`: brings the database to this version.

use std::io::Write as _;

use sealpost_node::{DatabaseSettings, database_error, open_database};

use crate::{cli::DatabaseArgs, fault::Fault, terminal::Progress};

/// Applies what is pending and says what it applied.
pub(crate) fn run(args: &DatabaseArgs) -> Result<(), Fault> {
    let settings = DatabaseSettings::from(args);
    let database = open_database(&settings, &settings.database_url())?;
    let progress = Progress::start();
    let tell = |name: &str| progress.tell(&format!("applying {name}"));
    let applied = database.migrate_with_progress(&tell).map_err(database_error)?;
    drop(progress);
    let said = match &applied[..] {
        [] => "the database is up to date\n".to_owned(),
        names => format!("applied {}\n", names.join(", ")),
    };
    std::io::stdout()
        .write_all(said.as_bytes())
        .map_err(|error| Fault::caused("standard output is closed", error))
}
