//! `sealpost admin issuer`: the service's own keys.

use std::path::Path;

use sealpost_node::{config, kek};
use sealpost_service::{IssuerKeyShown, unlock};
use sealpost_wallet::Keyring;
use serde::Serialize;
use serde_json::Value;

use super::{Desk, Output, output::plain};
use crate::{cli::IssuerCommand as C, fault::Fault, settings::kek_settings};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List => {
            let keys = desk.operator.issuer_keys()?;
            output.show_as(&Listed { keys }, list)
        }
        C::Rotate { kek_file } => {
            let keyring = keyring(desk, kek_file.as_deref())?;
            output.show(&desk.operator.rotate_issuer(&keyring)?)
        }
    }
}

#[derive(Serialize)]
struct Listed {
    keys: Vec<IssuerKeyShown>,
}

/// One key a line.
fn list(listed: &Value) -> String {
    let keys = listed.get("keys").and_then(Value::as_array).into_iter().flatten();
    let line = |key: &Value| {
        let shown = COLUMNS.map(|name| key.get(name).map(plain).unwrap_or_default());
        format!("{}\n", shown.join("  "))
    };
    keys.map(line).collect()
}

/// The servers' own key-encryption keys: what is encrypted under others no server could use.
fn keyring(desk: &Desk, given: Option<&Path>) -> Result<Keyring, Fault> {
    let paths = desk.settings.embedded_paths();
    let settings = kek_settings(given);
    let source = config::existing_kek_source(&settings, &paths)?;
    let keyring = kek::read(&source)?;
    unlock(&keyring, &*desk.database).map_err(|error| Fault::of(&error))?;
    Ok(keyring)
}

const COLUMNS: [&str; 6] = ["issuer_key_id", "kid", "created_at", "signs_from", "status", "whpk"];
