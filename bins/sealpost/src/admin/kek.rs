//! `sealpost admin kek`: rotates the key-encryption key and retires old versions of it. Servers can run meanwhile.

use std::path::Path;

use sealpost_node::keys::rotation;
use sealpost_service::Rewrapped;

use super::{desk::Desk, output::Output};
use crate::{cli::AdminKekCommand, fault::Fault, kek::variable, terminal::Progress};

pub(super) fn run(desk: &Desk, output: Output, command: &AdminKekCommand) -> Result<(), Fault> {
    match command {
        AdminKekCommand::Retire { version, .. } => retire(desk, output, *version),
        AdminKekCommand::Rotate { kek_file } => show_rotation(desk, output, kek_file.as_deref()),
    }
}

fn retire(desk: &Desk, output: Output, version: u32) -> Result<(), Fault> {
    let retired = desk.operator.retire_kek(&desk.database, version)?;
    output.show_as(&retired, |_| {
        format!(
            "version {version} is retired: remove its line from every key file, then restart the servers; keep a copy \
             of the line as long as you keep backups that need it\n"
        )
    })
}

fn show_rotation(desk: &Desk, output: Output, kek_file: Option<&Path>) -> Result<(), Fault> {
    let rewrapped = rotate(desk, kek_file)?;
    output.show_as(&rewrapped, |_| {
        let Rewrapped { version, roots, secrets, issuer_keys } = rewrapped;
        format!(
            "all rows are encrypted under version {version} now; re-encrypted {roots} identities, {secrets} webhook \
             secrets and {issuer_keys} issuer keys\n"
        )
    })
}

fn rotate(desk: &Desk, given: Option<&Path>) -> Result<Rewrapped, Fault> {
    refuse_variable()?;
    let paths = desk.settings.embedded_paths();
    let file = match given {
        Some(file) => file,
        None if paths.database.is_some() => &paths.kek,
        None => return Err(Fault::new("give the servers' key file with --kek-file FILE")),
    };
    let progress = Progress::start();
    let mut show = |rows| progress.show(&format!("{rows} rows read"));
    Ok(rotation::rotate(file, &desk.database, &desk.operator, &mut show)?)
}

fn refuse_variable() -> Result<(), Fault> {
    if variable::take()?.is_none() {
        return Ok(());
    }
    Err(Fault::new(
        "the keys are in SEALPOST_KEK, which this command cannot extend: write them into a file, give the file to \
         every server with --kek-file, and run this command again",
    ))
}
