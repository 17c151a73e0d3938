//! Example: an API key of the free plan sends as fast as its limits allow.
//!
//! `cargo run -p sealpost-limits --example decide`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use sealpost_domain::{Plan, Refusal, Timestamp, Usage};
use sealpost_limits::{Terms, admit_message, admit_request, report};

fn main() -> Result<(), Refusal> {
    let terms = Terms::new(&Plan::Explorer);
    let mut usage = Usage::UNUSED;
    // The crate has no clock. This is 2026-01-31T23:59:58Z, two seconds before the month ends.
    let mut now = Timestamp::from_millis(1_769_903_998_000);

    let mut sent = 0;
    while sent < 30 {
        match send(&terms, &usage, now) {
            Ok(after) => {
                usage = after;
                sent += 1;
            }
            Err(refusal) => {
                println!("{now} after {sent} messages: {} ({refusal})", refusal.code());
                let wait_s = refusal.retry_after_s().ok_or(refusal)?;
                now = now.plus(Duration::from_secs(wait_s));
            }
        }
    }

    let month = report(&terms, &usage, now).month;
    println!("{} of {} messages used, until {}", month.used, month.limit, month.resets_at);
    Ok(())
}

/// Admits one request with its message, and returns the new usage. Works on a copy of the usage, because a refused
/// message must not count as a request.
fn send(terms: &Terms, usage: &Usage, now: Timestamp) -> Result<Usage, Refusal> {
    let mut after = *usage;
    admit_request(terms, &mut after, now)?;
    admit_message(terms, &mut after, now)?;
    Ok(after)
}
