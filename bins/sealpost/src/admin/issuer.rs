//! `sealpost admin issuer`: lists the keys that sign the service's events and credentials, and adds a new one.

use sealpost_node::keys;
use sealpost_service::{IssuerKeyView, ListPage};

use super::{desk::Desk, output::Output};
use crate::{cli::IssuerCommand as C, fault::Fault, settings::KekArgs};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List => {
            let page = ListPage { entries: desk.operator.issuer_keys()?, more: false };
            output.list(&page, &COLUMNS)
        }
        C::Rotate { keks } => output.show(&rotate(desk, keks)?),
    }
}

/// Adds an issuer key. Stores its private part, encrypted with the same key-encryption keys that the servers use.
fn rotate(desk: &Desk, keks: &KekArgs) -> Result<IssuerKeyView, Fault> {
    let keyring = keys::open(&desk.key_source(keks)?, &desk.database)?;
    Ok(desk.operator.rotate_issuer(&keyring)?)
}

const COLUMNS: [&str; 6] = ["issuer_key_id", "kid", "created_at", "signs_from", "status", "whpk"];
