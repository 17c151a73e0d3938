//! `sealpost verify`: verifies one event from files. The exit status is 0 if the event is valid, 1 if the event is
//! invalid, and 2 if the check was not possible.

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_node::SystemClock;
use sealpost_receiver::{HeaderList, ReceivedRequest, VerificationReport, explain};

use super::{bounded, keys};
use crate::{cli::VerifyArgs, command_error::CommandError, terminal};

/// Verifies the event and prints a report. Fails if the event is invalid.
pub(crate) fn run(args: &VerifyArgs) -> Result<(), CommandError> {
    let keys = keys::read(&args.keys)?;
    if keys.is_empty() {
        return Err(CommandError::usage(
            "the secret file is empty: write the whsec_ secret into it",
        ));
    }
    let head = HeaderList::parse(&bounded::read_text(
        "the header file",
        &args.headers,
        HEADERS_BYTES_MAX,
    )?);
    let body = bounded::read("the body file", &args.body, BODY_BYTES_MAX)?;
    let now = args.at.map_or_else(
        || SystemClock.now(),
        |seconds| Timestamp::from_millis(seconds.saturating_mul(1000)),
    );
    let report = explain(ReceivedRequest { headers: &head, body: &body }, &keys, now);
    terminal::print_report(&report, VerificationReport::text, args.json)?;
    match &report.detail {
        None => Ok(()),
        Some(detail) => Err(CommandError::new(format!("the event is invalid: {detail}"))),
    }
}

const HEADERS_BYTES_MAX: u64 = 65_536;
const BODY_BYTES_MAX: u64 = 1_048_576;
