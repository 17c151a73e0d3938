//! The certificate: whether it can be served with, and for how long.

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_node::{HttpSettings, SystemClock, tls::Pair};

use crate::{doctor::finding::Finding, fault::Fault};

/// Only where the service speaks TLS itself.
pub(super) fn look(http: &HttpSettings) -> Option<Finding> {
    let files = http.tls.as_ref()?;
    let now = SystemClock.now();
    Some(match files.read().and_then(|pair| pair.check(now).map(|()| pair)) {
        Ok(pair) => judge(&pair, now),
        Err(error) => Finding::fail("tls", Fault::from(error).to_string()),
    })
}

fn judge(pair: &Pair, now: Timestamp) -> Finding {
    let until = pair.not_after;
    if until.since(now) < NOTICE {
        return Finding::warn(
            "tls",
            format!("the certificate ends on {until}; replace both files and send SIGHUP"),
        );
    }
    Finding::ok("tls", format!("the certificate is valid until {until}"))
}

const NOTICE: std::time::Duration = std::time::Duration::from_hours(14 * 24);
