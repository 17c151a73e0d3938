//! Operator endpoints for council actions and partners.

pub(super) mod assign_partner;
pub(super) mod council;
pub(super) mod partner;

use serde_json::{Value, json};

/// Returns an example response that shows a council action or the state of a partner.
fn example(subject: &str, kind: &str, status: &str) -> Value {
    json!({
        "subject": subject,
        "kind": kind,
        "status": status,
        "reason": "Council decision 12",
        "since": "2026-11-21T06:56:38.596Z",
        "by": "console:alice",
    })
}
