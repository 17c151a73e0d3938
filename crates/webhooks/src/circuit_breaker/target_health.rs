//! The health of a target, as observed in its attempts.

use std::time::Duration;

/// Health class of a target. The status of a response does not matter: a target that responds with status 500 is not
/// unresponsive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
    /// The average response time reached `slow_response`. Each request occupies its slot until the response.
    Slow,
    Unresponsive,
    /// No attempt has ended yet.
    #[default]
    Untried,
}

/// The result of one attempt, as far as it concerns the health of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    NoResponse,
    /// The attempt was not made.
    NotAttempted,
    /// A response with any status, after this duration.
    Response(Duration),
}
