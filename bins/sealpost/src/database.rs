//! Commands for a whole database: `sealpost migrate`, `sealpost backup`, `sealpost restore` and
//! `sealpost move`.

pub(crate) mod backup;
pub(crate) mod migrate;
pub(crate) mod moving;
pub(crate) mod restore;

use std::io::ErrorKind;

use sealpost_node::DatabaseUrl;

use crate::command_error::CommandError;

/// Refuses an embedded database whose file does not exist, or is in a folder that this user cannot read.
pub(crate) fn refuse_missing(url: &DatabaseUrl) -> Result<(), CommandError> {
    let DatabaseUrl::Sqlite(file) = url else { return Ok(()) };
    let shown = file.display();
    match file.try_exists() {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(CommandError::new(format!(
                "the database {shown} cannot be reached ({error}): run the command as the user of the server"
            )))
        }
        Ok(false) | Err(_) => Err(CommandError::new(format!(
            "the database {shown} does not exist: give its location with --data-dir or --database-url"
        ))),
    }
}
