//! What the dispatcher counts, through the `metrics` facade: whoever embeds it installs a recorder, or counts nothing.

use std::time::Duration;

/// An attempt ended, whichever way.
pub(crate) fn attempted(took: Duration) {
    metrics::histogram!("sealpost_delivery_duration_seconds").record(took);
}
