//! The health of a target, from its newest attempt.

use std::time::Duration;

/// Health class of a target. The status of a response does not matter: status 500 costs no more than 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
    /// The responses take long on average. Each of them holds its slot for all that time.
    Slow,
    Unresponsive,
    /// No attempt has ended yet.
    #[default]
    Untried,
}

/// The sign of health from one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    NoResponse,
    /// The attempt was not made.
    NotAttempted,
    /// A response with any status, after this duration.
    Response(Duration),
}
