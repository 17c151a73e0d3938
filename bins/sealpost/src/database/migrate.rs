//! `sealpost migrate`: applies the migrations that the database still lacks.

use sealpost_node::{database_error, open_database, settings::DatabaseSettings};

use crate::{
    cli::MigrateArgs,
    command_error::CommandError,
    terminal::{Progress, print},
};

/// Applies all pending migrations and prints their names.
pub(crate) fn run(args: &MigrateArgs) -> Result<(), CommandError> {
    let settings = DatabaseSettings::from(&args.database);
    let database = open_database(&settings, &settings.database_url())?;
    let progress = Progress::start();
    let show = |name: &str| progress.show(&format!("applying {name}"));
    let applied = database.migrate_with_progress(&show).map_err(database_error)?;
    drop(progress);
    print(match &applied[..] {
        [] => "the database is up to date\n".to_owned(),
        names => format!("applied {}\n", names.join(", ")),
    })
}
