//! Checks that the key-encryption keys match the database and decrypt a sample of its rows. Unlike a start of the
//! server, these checks create no key file and write nothing to the database.

use std::path::Path;

use crate::{
    doctor::{database::Opened, finding::Finding},
    keys::{
        inspection,
        source::{KeySource, refuse_used},
    },
    settings::Settings,
};

pub(super) fn check(settings: &Settings, opened: Option<&Opened>) -> Vec<Finding> {
    // Skips the check if the key settings are invalid, because the check of the settings reports them.
    let Ok(source) = KeySource::new(&settings.keys, &settings.database) else { return Vec::new() };
    let read = match opened.filter(|opened| opened.is_current) {
        Some(opened) => source.read_for(&opened.database),
        None => source.read(&[]),
    };
    let keyring = match read {
        Ok(Some(keyring)) => keyring,
        Ok(None) => {
            return vec![
                source.file().map_or_else(|| unwrapped(&source), |file| missing(file, opened)),
            ];
        }
        Err(error) => return vec![Finding::fail("keys", error.with_causes())],
    };
    let versions = keyring.versions();
    let Some(opened) = opened.filter(|opened| opened.is_current) else {
        let text = format!("versions {versions:?} are readable; the database was not checked");
        return vec![Finding::ok("keys", text)];
    };
    if let Err(error) = inspection::check_marks(&keyring, &opened.database) {
        return vec![Finding::fail("keys", error.with_causes())];
    }
    vec![
        Finding::ok("keys", format!("versions {versions:?} match the database")),
        Finding::new("rows", inspection::sample_rows(&keyring, &opened.database)),
    ]
}

/// Reports a provider that has wrapped no key of the database.
fn unwrapped(source: &KeySource) -> Finding {
    let name = source.describe();
    let text =
        format!("{name} has wrapped no key yet; the first start with a new database creates one");
    Finding::new("keys", source.check().map(|()| text))
}

/// Reports a missing key file.
fn missing(file: &Path, opened: Option<&Opened>) -> Finding {
    let refused = opened.map_or(Ok(()), |opened| refuse_used(file, &opened.database));
    Finding::new("keys", refused.map(|()| format!("the first start creates {}", file.display())))
}
