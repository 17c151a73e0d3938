//! Classifies webhook targets by their responses to past attempts.

use std::time::Duration;

/// The health of a target, judged by its responses to recent attempts. The status of a response does not matter: a
/// target that responds with status 500 is not unresponsive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
    /// The average response time reached `slow_response`. Slow targets may use only a part of the requests in flight,
    /// so that responsive targets still get requests.
    Slow,
    Unresponsive,
    /// No attempt to send to the target has ended yet.
    #[default]
    Untried,
}

/// The result of one attempt, reduced to the facts that change the health of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    NoResponse,
    /// No request was sent, so the health of the target does not change.
    NotAttempted,
    /// The target responded with any status. The value is the duration of the attempt.
    Response(Duration),
}
