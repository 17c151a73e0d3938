//! `sealpost admin kek rotate`: a new key-encryption key, and everything encrypted under it, while servers run.
//!
//! It may be killed at any moment and run again. The key file only ever grows, and is on the disk before anything is
//! encrypted under its newest version; what was not reached yet is under an older one, which is still there.

use std::{path::Path, thread};

use sealpost_domain::{
    Wrapped,
    ports::{Durability, Store, StoreError, Tx},
};
use sealpost_node::{database_error, kek};
use sealpost_service::{Rewrapped, unlock};
use sealpost_wallet::{Keyring, kek_version};

use super::{Desk, Output, kek_file::KekFile};
use crate::{
    cli::AdminKekCommand, fault::Fault, settings::kek_from_environment, terminal::Progress,
};

pub(super) fn run(desk: &Desk, output: Output, command: &AdminKekCommand) -> Result<(), Fault> {
    let AdminKekCommand::Rotate { kek_file } = command;
    let rewrapped = rotate(desk, kek_file.as_deref())?;
    output.show_as(&rewrapped, |_| {
        let Rewrapped { version, roots, secrets, issuer_keys } = rewrapped;
        format!(
            "everything is encrypted under version {version} now: {roots} identities, {secrets} webhook \
             secrets and {issuer_keys} issuer keys were re-encrypted\n"
        )
    })
}

fn rotate(desk: &Desk, given: Option<&Path>) -> Result<Rewrapped, Fault> {
    refuse_variable()?;
    let paths = desk.settings.embedded_paths();
    let path = match given {
        Some(file) => file,
        None if paths.database.is_some() => &paths.kek,
        None => return Err(Fault::new("give the servers' key file with --kek-file FILE")),
    };
    let file = KekFile::lock(path)?;
    let keyring = kek::read_file(path)?;
    check(desk, &keyring)?;
    let keyring = if is_under_way(desk, keyring.newest())? {
        keyring
    } else {
        file.add(keyring.newest())?;
        kek::read_file(path)?
    };
    // From here on every server has the version, and none encrypts under an older one.
    thread::sleep(kek::WATCH_PERIOD.saturating_mul(2).saturating_add(kek::WATCH_PERIOD / 2));
    check(desk, &keyring)?;
    desk.operator.record_kek_rotation(keyring.newest())?;
    Ok(desk.operator.rewrap(&keyring, &mut progress())?)
}

/// Whether the keys are those of the database; leaves the marks of those that are new.
fn check(desk: &Desk, keyring: &Keyring) -> Result<(), Fault> {
    unlock(keyring, &*desk.database).map_err(|error| Fault::of(&error))
}

fn refuse_variable() -> Result<(), Fault> {
    if kek_from_environment().is_none() {
        return Ok(());
    }
    Err(Fault::new(
        "the keys are in SEALPOST_KEK, which nobody can add to from here; put them into a file, give it to \
         every server with --kek-file instead, and run this again",
    ))
}

/// Whether anything is under an older version than the newest: then a rotation broke off, or the version was added
/// by hand.
fn is_under_way(desk: &Desk, newest: u32) -> Result<bool, Fault> {
    let roots = any_older(desk, newest, |tx, after, limit| tx.roots_after(after, limit))?;
    let secrets = || any_older(desk, newest, |tx, after, limit| tx.secrets_after(after, limit));
    let issuer = || any_older(desk, newest, |tx, after, l| tx.issuer_secrets_after(after, l));
    Ok(roots || secrets()? || issuer()?)
}

fn any_older<Id: Copy>(
    desk: &Desk,
    newest: u32,
    read: impl Fn(&mut dyn Tx, Option<&Id>, u32) -> Result<Vec<(Id, Wrapped)>, StoreError>,
) -> Result<bool, Fault> {
    let store: &dyn Store = &*desk.database;
    let mut after = None;
    loop {
        let page = store.write(Durability::Relaxed, |tx| read(tx, after.as_ref(), PAGE));
        let page = page.map_err(database_error)?;
        let Some((last, _)) = page.last() else { return Ok(false) };
        after = Some(*last);
        let is_older = |wrapped: &Wrapped| kek_version(wrapped).is_none_or(|v| v < newest);
        if page.iter().any(|(_, wrapped)| is_older(wrapped)) {
            return Ok(true);
        }
    }
}

/// Tells people, and nobody else, how far it is.
fn progress() -> impl FnMut(u64) {
    let progress = Progress::start();
    move |rows| progress.tell(&format!("{rows} rows looked at"))
}

const PAGE: u32 = 200;
