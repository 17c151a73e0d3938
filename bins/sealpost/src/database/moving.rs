//! `sealpost move`: moves the embedded database into an empty PostgreSQL database.

use sealpost_node::{
    DatabaseUrl, move_database,
    settings::{DatabaseSettings, KeySettings, StorageSettings},
};

use crate::{
    cli::MoveArgs,
    command_error::CommandError,
    terminal::{Progress, print},
};

/// Moves the data, and prints the number of rows and the next steps.
pub(crate) fn run(args: &MoveArgs) -> Result<(), CommandError> {
    let DatabaseUrl::Sqlite(from) = &args.from else {
        return Err(CommandError::usage("--from must be an embedded database: give sqlite:PATH"));
    };
    let DatabaseUrl::Postgres(_) = &args.to else {
        return Err(CommandError::usage("--to must be a PostgreSQL database: give postgres://…"));
    };
    let target = DatabaseSettings {
        url: Some(args.to.clone()),
        storage: StorageSettings { in_clear: args.database_in_clear, ..StorageSettings::default() },
        ..DatabaseSettings::default()
    };
    let keys = KeySettings::try_from(&args.keks)?;
    let progress = Progress::start();
    let show = |table: &str, rows: u64| progress.show(&format!("{table}: {rows} rows"));
    let moved = move_database(from, &target, &keys, &show)?;
    drop(progress);
    let rows = moved.tables.iter().map(|table| table.rows).sum::<u64>();
    let keys = match (moved.keys.strip_prefix("file:"), moved.keys.as_str()) {
        (Some(file), _) => format!("--kek-file {file}"),
        (None, text @ "SEALPOST_KEK") => text.to_owned(),
        (None, provider) => format!("--kek-provider {provider:?}"),
    };
    print(format!(
        "moved {rows} rows in {} tables; number and checksum of the rows of each table are the same in both databases\n\
         start servers with --database-url and {keys}; do not start a server on {} again\n",
        moved.tables.len(),
        from.display()
    ))
}
