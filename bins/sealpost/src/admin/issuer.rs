//! `sealpost admin issuer`: lists the keys that sign the service's events and credentials, and adds a new one.

use std::path::Path;

use sealpost_node::keys::{self, source::KeySource};
use sealpost_service::IssuerKeyShown;
use serde::Serialize;

use super::{
    desk::Desk,
    output::{Output, table},
};
use crate::{cli::IssuerCommand as C, fault::Fault, settings::key_settings};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List => {
            let keys = desk.operator.issuer_keys()?;
            output.show_as(&Listed { keys }, |listed| table(listed, "keys", &COLUMNS))
        }
        C::Rotate { kek_file } => output.show(&rotate(desk, kek_file.as_deref())?),
    }
}

#[derive(Serialize)]
struct Listed {
    keys: Vec<IssuerKeyShown>,
}

/// Adds an issuer key. Its private part is stored encrypted with the same key-encryption keys that the servers use.
fn rotate(desk: &Desk, kek_file: Option<&Path>) -> Result<IssuerKeyShown, Fault> {
    let paths = desk.settings.embedded_paths();
    let settings = key_settings(kek_file)?;
    let keyring = keys::open(&KeySource::of(&settings, &paths)?, &desk.database)?;
    Ok(desk.operator.rotate_issuer(&keyring)?)
}

const COLUMNS: [&str; 6] = ["issuer_key_id", "kid", "created_at", "signs_from", "status", "whpk"];
