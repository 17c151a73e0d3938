//! Checks whether a node could run with the given settings, and gives advice. Changes nothing except the mode of the
//! embedded database's file, which becomes 0600, and the disk reserve, which is deleted on a full disk.

mod clock;
mod cluster;
mod database;
mod finding;
mod folder;
mod keys;
mod ownership;
mod settings;
mod tls;

use crate::settings::Settings;

pub use finding::{Finding, Verdict};

/// Returns the results of all checks: settings, data folder, TLS certificate, database, clock, key-encryption keys,
/// revocation journal and other servers. Later checks use results of earlier checks. Blocks the thread.
pub fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = settings::check(settings);
    findings.extend(folder::check(&settings.database));
    findings.extend(ownership::check(settings));
    findings.extend(tls::check(&settings.http));
    let opened = database::check(settings, &mut findings);
    findings.extend(folder::check_space(settings, opened.as_ref()));
    findings.push(clock::check(opened.as_ref().and_then(|opened| opened.about.server.as_ref())));
    findings.extend(keys::check(settings, opened.as_ref()));
    findings.extend(cluster::check(settings, opened.as_ref()));
    findings
}
