//! `sealpost admin journal`: repairs the revocation journal.

use sealpost_node::complete_journal;

use super::{desk::Desk, output::Output};
use crate::{cli::JournalCommand, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &JournalCommand) -> Result<(), Fault> {
    let JournalCommand::Complete(keks) = command;
    desk.use_keys(keks)?;
    output.show(&complete_journal(&desk.settings, &desk.database, &desk.clock)?)
}
