//! Derives the settings of circuit breakers from the settings of the dispatcher.

use std::time::Duration;

use crate::settings::Settings;

/// Settings of a circuit breaker. If the first pause of the retry schedule is shorter than the default, all pauses in
/// these settings are shortened in proportion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BreakerSettings {
    /// Number of consecutive failures that opens the breaker.
    pub(crate) failures_max: u32,
    /// Time from the opening of the breaker to the first probe.
    pub(crate) probe_pause: Duration,
    /// Maximum pause between probes. The pause doubles after each failed probe.
    pub(crate) probe_pause_max: Duration,
    /// Minimum time until a deferred delivery (returned to the database without an attempt) is due again. Does not
    /// apply to the delivery that becomes the next probe.
    pub(crate) deferral_min: Duration,
    /// Average response time from which a target counts as slow.
    pub(crate) slow_response: Duration,
    /// Maximum duration of an attempt, and therefore of a probe.
    pub(crate) attempt_timeout: Duration,
}

impl BreakerSettings {
    pub(crate) fn new(settings: &Settings) -> Self {
        let scaled = |duration| settings.schedule.scaled(duration);
        Self {
            failures_max: settings.breaker_failures.max(1),
            probe_pause: scaled(settings.probe_pause),
            probe_pause_max: scaled(settings.probe_pause_max.max(settings.probe_pause)),
            deferral_min: scaled(settings.bounds.deferral_min),
            slow_response: settings.bounds.slow_response,
            attempt_timeout: settings.timeout,
        }
    }
}
