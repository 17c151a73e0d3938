//! The certificate: whether it can be served with, and for how long.

use sealpost_domain::{Clock as _, Timestamp};

use crate::{cli::ServeArgs, compose::SystemClock, config, doctor::finding::Finding, tls::Pair};

/// Only where the service speaks TLS itself.
pub(super) fn look(args: &ServeArgs) -> Option<Finding> {
    let files = config::tls_files(&args.http)?;
    let now = SystemClock.now();
    Some(match files.read().and_then(|pair| pair.check(now).map(|()| pair)) {
        Ok(pair) => judge(&pair, now),
        Err(fault) => Finding::fail("tls", fault.to_string()),
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
