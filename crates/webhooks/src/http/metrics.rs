//! Metrics of attempts, recorded through the `metrics` facade. The embedding application installs a recorder.

use std::time::Duration;

/// Records the duration of an attempt, successful or not.
pub(super) fn record_attempt(duration: Duration) {
    metrics::histogram!("sealpost_delivery_duration_seconds").record(duration);
}
