//! The health of a target, as its newest attempt shows it.

/// Health class of a target. Any response counts as healthy: a receiver that responds 500 costs no more than a receiver
/// that responds 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
    Unresponsive,
    /// No attempt has ended yet.
    #[default]
    Untried,
}

/// The sign of health that an attempt gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    NoResponse,
    /// The attempt was not made.
    NotAttempted,
    Response,
}
