//! `sealpost verify`: verifies one event from files. The exit status is 0 if it is valid, 1 if invalid, and 2 if the
//! check was not possible.

use std::io::Write as _;

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_node::SystemClock;
use sealpost_receiver::{HeaderList, ReceivedRequest, VerificationReport, escape_control, explain};

use super::{bounded, keys};
use crate::{cli::VerifyArgs, fault::Fault};

/// Verifies the event and prints a report. Fails if the event is invalid.
pub(crate) fn run(args: &VerifyArgs) -> Result<(), Fault> {
    let keys = keys::read(&args.keys)?;
    if keys.is_empty() {
        return Err(Fault::usage("the secret file is empty: write the whsec_ secret into it"));
    }
    let head =
        HeaderList::parse(&bounded::read("the header file", &args.headers, HEADERS_BYTES_MAX)?);
    let body = bounded::read("the body file", &args.body, BODY_BYTES_MAX)?;
    let now = args.at.map_or_else(
        || SystemClock.now(),
        |seconds| Timestamp::from_millis(seconds.saturating_mul(1000)),
    );
    let report = explain(ReceivedRequest { headers: &head, body: &body }, &keys, now);
    print(&report, args.json)?;
    match &report.detail {
        None => Ok(()),
        Some(detail) => {
            Err(Fault::new(format!("the event is invalid: {}", escape_control(detail))))
        }
    }
}

fn print(report: &VerificationReport, json: bool) -> Result<(), Fault> {
    let text = if json {
        serde_json::to_string(report)
            .map(|object| format!("{object}\n"))
            .map_err(|error| Fault::caused("the report cannot be serialised", error))?
    } else {
        words(report)
    };
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Fault::closed_output)
}

/// Returns the report as lines of text, each with a name and a value.
pub(super) fn words(report: &VerificationReport) -> String {
    let mut lines = Vec::new();
    if let (Some(id), Some(timestamp)) = (&report.webhook_id, &report.webhook_timestamp) {
        let age = report.age_s.map(|age_s| match age_s {
            0.. => format!(", {age_s} s before it was received"),
            _ => format!(", {} s after it was received", age_s.unsigned_abs()),
        });
        lines.push(("webhook-id", id.clone()));
        lines.push(("webhook-timestamp", format!("{timestamp}{}", age.unwrap_or_default())));
    }
    for entry in &report.signatures {
        let maker = entry.made_with.as_deref().unwrap_or("none of the keys given");
        lines.push(("signature", format!("{}, made with {maker}", entry.version)));
    }
    lines.push(("body", format!("{} bytes", report.body_bytes)));
    if let (Some(length), Some(hash)) = (report.signed_bytes, &report.signed_sha256) {
        lines.push(("signed", format!("{length} bytes, SHA-256 {hash}")));
    }
    let verdict = report.detail.as_deref().unwrap_or("valid");
    lines.push(("verdict", verdict.to_owned()));
    lines.extend(report.hints.iter().map(|hint| ("hint", hint.clone())));
    let line = |(name, value): (&str, String)| format!("{name:<18} {}\n", escape_control(&value));
    lines.into_iter().map(line).collect::<Vec<_>>().concat()
}

const HEADERS_BYTES_MAX: u64 = 65_536;
const BODY_BYTES_MAX: u64 = 1_048_576;
