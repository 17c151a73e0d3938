//! The health of a target, from its newest attempt.

/// Health class of a target. A response with any status makes a target responsive: status 500 costs no more than 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
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
    Response,
}
