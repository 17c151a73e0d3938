//! Checks that the key-encryption keys match the database and decrypt a sample of its rows. Unlike a start of the
//! server, these checks create no key file and write nothing to the database.

use std::path::Path;

use crate::{
    doctor::{database::Opened, finding::Finding},
    error::{NodeError, NodeErrorKind},
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
            return vec![match source.file() {
                Some(file) => missing(file, opened),
                None => unwrapped(settings, &source),
            }];
        }
        Err(error) => return vec![unreadable(settings, &error)],
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

/// Returns the finding about a key provider that has not wrapped (encrypted) any key of the database.
fn unwrapped(settings: &Settings, source: &KeySource) -> Finding {
    let name = source.describe();
    let text =
        format!("{name} has wrapped no key yet; the first start with a new database creates one");
    match source.check() {
        Ok(()) => Finding::ok("keys", text),
        Err(error) => unreadable(settings, &error),
    }
}

/// Returns the finding about keys that cannot be read: a warning if the start would wait for the key provider,
/// otherwise a failure.
fn unreadable(settings: &Settings, error: &NodeError) -> Finding {
    let text = error.with_causes();
    if settings.keys.waits() && error.kind() == NodeErrorKind::KeyProvider {
        return Finding::warn("keys", format!("the start waits for the key provider: {text}"));
    }
    Finding::fail("keys", text)
}

/// Reports a missing key file.
fn missing(file: &Path, opened: Option<&Opened>) -> Finding {
    let refused = opened.map_or(Ok(()), |opened| refuse_used(file, &opened.database));
    Finding::new("keys", refused.map(|()| format!("the first start creates {}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        doctor::finding::Verdict,
        settings::quorum::{self, Quorum},
    };

    #[test]
    fn a_provider_for_which_the_start_waits_is_a_warning() {
        let mut settings = Settings::default();
        let mut verdict = |provider: &str, wait| {
            settings.keys.provider = Some(provider.parse().unwrap());
            settings.keys.wait = wait;
            check(&settings, None)[0].verdict
        };
        let (id, _shares) = quorum::split(2, 3).unwrap();
        let quorum = Quorum::new(id).to_string();
        assert_eq!(verdict("exec:/bin/false", false), Verdict::Fail);
        assert_eq!(verdict("exec:/bin/false", true), Verdict::Warn);
        assert_eq!(verdict(&quorum, false), Verdict::Warn);
    }
}
