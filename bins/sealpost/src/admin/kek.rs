//! `sealpost admin kek`: rotates the key-encryption key, retires old versions of the key, and moves the key to another
//! provider. Servers can run meanwhile.

use sealpost_node::{
    keys::{
        provider_move::{self, KeksCopied, MoveFinished},
        rotation,
        source::KeySource,
    },
    settings::KeySettings,
};
use sealpost_service::Rewrapped;

use super::{desk::Desk, output::Output};
use crate::{
    cli::{AdminKekCommand, KekPlace},
    command_error::CommandError,
    kek::{shares, variable},
    settings::KekArgs,
    terminal::Progress,
};

pub(super) fn run(
    desk: &Desk,
    output: Output,
    command: &AdminKekCommand,
) -> Result<(), CommandError> {
    match command {
        AdminKekCommand::AdoptRows(keks) => adopt_rows(desk, output, keks),
        AdminKekCommand::Move { to, finish: false, keks } => copy(desk, output, to, keks),
        AdminKekCommand::Move { to, finish: true, keks } => finish(desk, output, to, keks),
        AdminKekCommand::Retire { version, .. } => retire(desk, output, *version),
        AdminKekCommand::Rotate(keks) => rotate(desk, output, keks),
    }
}

fn adopt_rows(desk: &Desk, output: Output, keks: &KekArgs) -> Result<(), CommandError> {
    let keyring = desk.use_keys(keks)?.ok_or_else(|| {
        CommandError::new("this needs the key-encryption keys: give --kek-file or --kek-provider")
    })?;
    let progress = Progress::start();
    let mut show = |rows| progress.show(&format!("{rows} rows read"));
    let adopted = desk.operator.adopt_rows(&keyring, &mut show)?;
    drop(progress);
    output.show_as(&serde_json::json!({"adopted": adopted}), |_| {
        format!("{adopted} rows of an earlier version are authenticated now\n")
    })
}

fn copy(desk: &Desk, output: Output, to: &KekPlace, keks: &KekArgs) -> Result<(), CommandError> {
    let mut from = KeySettings::try_from(keks)?;
    let target = target(to, keks)?;
    if from.provider.is_some() {
        from.file = None;
    }
    let from = KeySource::new(&from, &desk.settings)?;
    let to = KeySource::new(&target, &desk.settings)?;
    let copied = provider_move::copy(&from, &to, &desk.database, &desk.operator)?;
    output.show_as(&copied, |_| {
        let KeksCopied { from, to, versions } = &copied;
        format!(
            "the keys {versions:?} of {from} are also in {to}: restart the servers with this setting, one after the \
             other, and then run this command with --finish\n"
        )
    })
}

fn finish(desk: &Desk, output: Output, to: &KekPlace, keks: &KekArgs) -> Result<(), CommandError> {
    let to = KeySource::new(&target(to, keks)?, &desk.settings)?;
    let finished = provider_move::finish(&to, &desk.database, &desk.operator)?;
    output.show_as(&finished, |_| {
        let MoveFinished { to, deleted } = &finished;
        format!(
            "the keys are in {to} only; deleted {deleted} wrapped keys of other providers. Delete a former key file \
             yourself; keep a copy as long as you keep backups that need it\n"
        )
    })
}

fn target(to: &KekPlace, keks: &KekArgs) -> Result<KeySettings, CommandError> {
    Ok(match to {
        KekPlace::File => KeySettings { file: keks.kek_file.clone(), ..KeySettings::default() },
        KekPlace::Provider(name) => {
            shares::read_for(Some(name))?;
            KeySettings { provider: Some(name.clone()), ..KeySettings::default() }
        }
    })
}

fn retire(desk: &Desk, output: Output, version: u32) -> Result<(), CommandError> {
    let retired = desk.operator.retire_kek(&desk.database, version)?;
    output.show_as(&retired, |_| {
        format!(
            "version {version} is retired. With key files: remove its line from each file, then restart the servers; \
             keep a copy of the line as long as you keep backups that need it. With a key provider: its wrapped key is \
             deleted\n"
        )
    })
}

fn rotate(desk: &Desk, output: Output, keks: &KekArgs) -> Result<(), CommandError> {
    refuse_variable()?;
    let source = desk.key_source(keks)?;
    let progress = Progress::start();
    let mut show = |rows| progress.show(&format!("{rows} rows read"));
    let rewrapped = rotation::rotate(&source, &desk.database, &desk.operator, &mut show)?;
    drop(progress);
    output.show_as(&rewrapped, |_| {
        let Rewrapped { version, roots, secrets, issuer_keys, tags } = rewrapped;
        format!(
            "all rows are encrypted under version {version} now; re-encrypted {roots} identities, {secrets} webhook \
             secrets and {issuer_keys} issuer keys, and authenticated {tags} rows again\n"
        )
    })
}

fn refuse_variable() -> Result<(), CommandError> {
    if variable::take()?.is_none() {
        return Ok(());
    }
    Err(CommandError::new(
        "the keys are in SEALPOST_KEK, which this command cannot extend: write them into a file, give the file to \
         every server with --kek-file, and run this command again",
    ))
}
