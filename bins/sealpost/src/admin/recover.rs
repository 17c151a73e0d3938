//! `sealpost admin recover`: repeats the revocations that a restore of the database has undone.

use sealpost_node::recover_database;

use super::{desk::Desk, output::Output};
use crate::{cli::RecoverArgs, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, args: &RecoverArgs) -> Result<(), Fault> {
    desk.use_keys(&args.keks)?;
    let Desk { settings, database, operator, .. } = desk;
    output.show(&recover_database(settings, database, operator, &args.journal)?)
}
