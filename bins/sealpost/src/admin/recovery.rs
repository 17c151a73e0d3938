//! `sealpost admin recover`, `admin journal` and `admin log`: commands after a restore of the database, and repairs of
//! the revocation journal.

use sealpost_node::{complete_journal, recover_database};

use super::{desk::Desk, output::Output};
use crate::{
    cli::{JournalCommand, LogCommand, RecoverArgs},
    fault::Fault,
};

/// Applies the revocation journals, to repeat revocations that a restore of the database has undone. Ends all sessions
/// and API tokens.
pub(super) fn recover(desk: &Desk, output: Output, args: &RecoverArgs) -> Result<(), Fault> {
    desk.use_keys(&args.keks)?;
    let Desk { settings, database, operator, .. } = desk;
    output.show(&recover_database(settings, database, operator, &args.journal)?)
}

/// Writes all revocations in force into the revocation journal again, after its file was lost or replaced.
pub(super) fn journal(desk: &Desk, output: Output, command: &JournalCommand) -> Result<(), Fault> {
    let JournalCommand::Complete(keks) = command;
    desk.use_keys(keks)?;
    let Desk { settings, database, operator, clock } = desk;
    output.show(&complete_journal(settings, database, operator, clock)?)
}

/// Ends the transparency log and begins a new one, after a restore has removed entries that were already signed.
pub(super) fn log(desk: &Desk, output: Output, command: &LogCommand) -> Result<(), Fault> {
    match command {
        LogCommand::Restart { .. } => output.show(&desk.operator.restart_log()?),
    }
}
