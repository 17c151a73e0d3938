//! The key-encryption keys: whether they are those of the database, and whether what is stored can be read with them.
//! A start would make a key file and leave marks; this does neither.

use sealpost_domain::ports::{Durability, KekMarks as _, Store};
use sealpost_node::{
    Settings, config, database_error,
    kek::{self, KekSource},
};
use sealpost_wallet::{Keyring, Root, WalletError, WebhookSecret};

use crate::{
    doctor::{database::Opened, finding::Finding},
    fault::Fault,
};

pub(super) fn look(settings: &Settings, opened: Option<&Opened>) -> Vec<Finding> {
    let paths = settings.database.embedded_paths();
    // What is wrong with the settings is said already.
    let Ok(source) = config::kek_source(&settings.kek, &paths) else { return Vec::new() };
    if let KekSource::Embedded { file, database } = source
        && !file.exists()
        && !database.exists()
    {
        let text = format!("{} will be made by the first start", file.display());
        return vec![Finding::ok("keys", text)];
    }
    let keyring = match kek::read_existing(&source) {
        Ok(keyring) => keyring,
        Err(error) => return vec![Finding::fail("keys", Fault::from(error).to_string())],
    };
    let Some(opened) = opened.filter(|opened| opened.is_current) else {
        let text =
            format!("versions {:?} can be read; the database was not asked", keyring.versions());
        return vec![Finding::ok("keys", text)];
    };
    let marks = fit(&keyring, opened);
    let is_fit = marks.is_ok();
    let mut findings = vec![Finding::of("keys", marks)];
    if is_fit {
        findings.push(Finding::of("rows", sample(&keyring, opened)));
    }
    findings
}

fn fit(keyring: &Keyring, opened: &Opened) -> Result<String, Fault> {
    for (version, mark) in opened.database.kek_marks().map_err(database_error)? {
        match keyring.check_mark(version, &mark) {
            Ok(()) => {}
            Err(WalletError::UnknownKekVersion { version }) => {
                return Err(Fault::new(format!(
                    "the key-encryption key version {version} is missing; add its line to the key file"
                )));
            }
            Err(_other) => {
                return Err(Fault::new(format!(
                    "the key-encryption key version {version} is not the one that this database was written with"
                )));
            }
        }
    }
    Ok(format!("versions {:?} are those of the database", keyring.versions()))
}

/// Whether the first rows of each kind can be decrypted.
fn sample(keyring: &Keyring, opened: &Opened) -> Result<String, Fault> {
    let store: &dyn Store = &opened.database;
    let read = store.write(Durability::Relaxed, |tx| {
        Ok((tx.roots_after(None, SAMPLE)?, tx.secrets_after(None, SAMPLE)?))
    });
    let (roots, secrets) = read.map_err(database_error)?;
    let no_root = roots.iter().filter(|(id, row)| Root::unwrap(keyring, id, row).is_err());
    let no_secret =
        secrets.iter().filter(|(id, row)| WebhookSecret::unwrap(keyring, id, row).is_err());
    let unreadable = no_root.count().saturating_add(no_secret.count());
    let looked_at = roots.len().saturating_add(secrets.len());
    if unreadable == 0 {
        return Ok(format!("{looked_at} encrypted rows were looked at, and all can be read"));
    }
    Err(Fault::new(format!(
        "{unreadable} of {looked_at} encrypted rows cannot be read; restore them from a backup"
    )))
}

/// Of each kind.
const SAMPLE: u32 = 200;
