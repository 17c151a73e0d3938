//! What the dispatcher counts, through the `metrics` facade: whoever embeds it installs a recorder, or counts nothing.

use std::time::Duration;

use sealpost_domain::Outcome;

/// An attempt ended, whichever way.
pub(crate) fn attempted(took: Duration) {
    metrics::histogram!("sealpost_delivery_duration_seconds").record(took);
}

/// What became of a delivery by it.
pub(crate) fn settled(outcome: &Outcome) {
    let (name, failure) = match outcome {
        Outcome::Exhausted(failure) => ("exhausted", Some(failure)),
        Outcome::Retry { failure, .. } => ("retried", Some(failure)),
        Outcome::Succeeded => ("succeeded", None),
    };
    metrics::counter!("sealpost_deliveries_settled_total", "outcome" => name).increment(1);
    if let Some(failure) = failure {
        let reason = failure.as_str();
        metrics::counter!("sealpost_delivery_failures_total", "reason" => reason).increment(1);
    }
}
