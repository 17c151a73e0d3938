//! `sealpost admin`: operator commands that work directly on the database, whether servers run or not. The audit trail
//! (a hash chain in the database) records every change.

mod account;
pub(crate) mod actor;
mod audit;
mod confirmation;
mod desk;
mod governance;
mod invite;
mod issuer;
mod kek;
mod key;
mod output;
mod plan;
mod recovery;

use std::io::Write as _;

use self::{desk::Desk, output::Output};
use crate::{
    cli::{AdminArgs, Noun},
    fault::Fault,
};

/// Runs an operator command.
pub(crate) fn run(args: &AdminArgs) -> Result<(), Fault> {
    confirmation::confirm(&args.noun)?;
    let desk = Desk::open(&args.database)?;
    let output = Output { json: args.json };
    // `admin journal` and `admin recover` open the revocation journal (a file outside the database) themselves.
    let is_about_journal = matches!(args.noun, Noun::Journal(_) | Noun::Recover(_));
    let journal = if is_about_journal { None } else { desk.attach_journal()? };
    let done = act(&desk, output, &args.noun);
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

fn act(desk: &Desk, output: Output, noun: &Noun) -> Result<(), Fault> {
    match noun {
        Noun::Account(command) => account::run(desk, output, command),
        Noun::Assess(args) => governance::assess(desk, output, args),
        Noun::Attest(args) => governance::attest(desk, output, args),
        Noun::Audit(command) => audit::run(desk, output, command),
        Noun::Badge(command) => governance::badge(desk, output, command),
        Noun::Governance(command) => governance::run(desk, output, command),
        Noun::Handle(command) => key::handle(desk, output, command),
        Noun::Invite(command) => invite::run(desk, output, command),
        Noun::Issuer(command) => issuer::run(desk, output, command),
        Noun::Journal(command) => recovery::journal(desk, output, command),
        Noun::Kek(command) => kek::run(desk, output, command),
        Noun::Key(command) => key::run(desk, output, command),
        Noun::Log(command) => recovery::log(desk, output, command),
        Noun::Partner(command) => governance::partner(desk, output, command),
        Noun::Plan(command) => plan::run(desk, output, command),
        Noun::Recover(args) => recovery::recover(desk, output, args),
        Noun::Session(command) => account::session(desk, output, command),
        Noun::Stats => output.show(&desk.operator.stats()?),
        Noun::Token(command) => account::token(desk, output, command),
        Noun::Webhook(command) => key::webhook(desk, output, command),
    }
}
