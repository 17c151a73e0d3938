//! `sealpost admin`: operator commands that work directly on the database, whether servers run or not. The audit trail
//! (a hash chain in the database) records every change.

pub(crate) mod actor;
mod audit;
mod commands;
mod confirmation;
mod desk;
mod kek;
mod output;
mod plan;
mod text;

use std::io::Write as _;

use self::{desk::Desk, output::Output};
use crate::{
    cli::{AdminArgs, Noun},
    command_error::CommandError,
};

/// Runs an operator command.
pub(crate) fn run(args: &AdminArgs) -> Result<(), CommandError> {
    confirmation::confirm(&args.noun)?;
    let desk = Desk::open(&args.database)?;
    let output = Output { json: args.json };
    // `admin journal` and `admin recover` open the revocation journal (a file outside the database) themselves.
    let is_about_journal = matches!(args.noun, Noun::Journal(_) | Noun::Recover(_));
    let journal = if is_about_journal { None } else { desk.attach_journal()? };
    let done = commands::perform(&desk, output, &args.noun);
    if let Some(journal) = journal.filter(|journal| journal.pending() > 0) {
        let warning = format!(
            "sealpost: the revocation journal {} cannot be written: a restore of the database could undo this command\n",
            journal.path().display()
        );
        // A failed write cannot be reported, because standard error is closed.
        drop(std::io::stderr().write_all(warning.as_bytes()));
    }
    done
}
