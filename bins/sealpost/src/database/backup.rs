//! `sealpost backup`: copies the embedded database, whether a server runs or not.

use sealpost_node::{
    open_database,
    settings::{DatabaseSettings, DatabaseUrl},
};

use super::refuse_missing;
use crate::{cli::BackupArgs, command_error::CommandError, terminal::print};

/// Copies the embedded database into a new file, and advises to keep a copy of the key file. Rejects PostgreSQL.
pub(crate) fn run(args: &BackupArgs) -> Result<(), CommandError> {
    let settings = DatabaseSettings::from(&args.database);
    let url = settings.database_url();
    let DatabaseUrl::Sqlite(source) = &url else {
        return Err(CommandError::new(
            "this command copies only the embedded database: for PostgreSQL use pg_dump --format=custom",
        ));
    };
    refuse_missing(&url)?;
    let file = &args.file;
    if file.exists() {
        return Err(CommandError::new(format!(
            "{} is there already: give a new file",
            file.display()
        )));
    }
    if let Some(folder) = file.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir()) {
        return Err(CommandError::new(format!(
            "the folder {} of the backup does not exist: create it, or give another file",
            folder.display()
        )));
    }
    open_database(&settings, &url)?.backup(file).map_err(|error| {
        CommandError::caused(format!("the backup of {} failed", source.display()), error)
    })?;
    let report = format!(
        "copied the database to {}; its envelopes can be opened only with the key file: keep a copy of the key file in \
         another place\n",
        file.display()
    );
    print(report)
}
