//! `sealpost migrate`: applies the migrations that the database still lacks.

use std::io::Write as _;

use sealpost_node::{database_error, open_database, settings::DatabaseSettings};

use crate::{fault::Fault, settings::DatabaseArgs, terminal::Progress};

/// Applies all pending migrations and prints their names.
pub(crate) fn run(args: &DatabaseArgs) -> Result<(), Fault> {
    let settings = DatabaseSettings::from(args);
    let database = open_database(&settings, &settings.database_url())?;
    let progress = Progress::start();
    let show = |name: &str| progress.show(&format!("applying {name}"));
    let applied = database.migrate_with_progress(&show).map_err(database_error)?;
    drop(progress);
    let report = match &applied[..] {
        [] => "the database is up to date\n".to_owned(),
        names => format!("applied {}\n", names.join(", ")),
    };
    std::io::stdout().write_all(report.as_bytes()).map_err(Fault::closed_output)
}
