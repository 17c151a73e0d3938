//! Checks that the TLS certificate is usable and does not expire soon.

use sealpost_domain::{Clock as _, Timestamp};

use crate::{
    clock::SystemClock,
    doctor::finding::Finding,
    listening::tls::{self, ServerCertificate},
    settings::HttpSettings,
};

/// Checks the certificate and its private key. Returns `None` if this server does not terminate TLS.
pub(super) fn check(http: &HttpSettings) -> Option<Finding> {
    let files = http.tls.as_ref()?;
    let now = SystemClock.now();
    Some(match tls::read(files, now) {
        Ok(pair) => judge(&pair, now),
        Err(error) => Finding::fail("tls", error.with_causes()),
    })
}

fn judge(pair: &ServerCertificate, now: Timestamp) -> Finding {
    let until = pair.not_after;
    if until.since(now) < WARN_BEFORE {
        return Finding::warn(
            "tls",
            format!("the certificate expires on {until}: replace both files and send SIGHUP"),
        );
    }
    Finding::ok("tls", format!("the certificate is valid until {until}"))
}

const WARN_BEFORE: std::time::Duration = std::time::Duration::from_hours(14 * 24);
