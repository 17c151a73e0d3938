//! `sealpost admin issuer`: lists the keys that sign the service's events and credentials, and adds a new one.

use sealpost_node::{
    keys::{self, source::KeySource},
    settings::KeySettings,
};
use sealpost_service::IssuerKeyView;
use serde::Serialize;

use super::{
    desk::Desk,
    output::{Output, table},
};
use crate::{cli::IssuerCommand as C, fault::Fault, settings::KekArgs};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List => {
            let keys = desk.operator.issuer_keys()?;
            output.show_as(&Listed { keys }, |listed| table(listed, "keys", &COLUMNS))
        }
        C::Rotate { keks } => output.show(&rotate(desk, keks)?),
    }
}

#[derive(Serialize)]
struct Listed {
    keys: Vec<IssuerKeyView>,
}

/// Adds an issuer key. Its private part is stored encrypted with the same key-encryption keys that the servers use.
fn rotate(desk: &Desk, keks: &KekArgs) -> Result<IssuerKeyView, Fault> {
    let paths = desk.settings.embedded_paths();
    let settings = KeySettings::try_from(keks)?;
    let keyring = keys::open(&KeySource::new(&settings, &paths)?, &desk.database)?;
    Ok(desk.operator.rotate_issuer(&keyring)?)
}

const COLUMNS: [&str; 6] = ["issuer_key_id", "kid", "created_at", "signs_from", "status", "whpk"];
