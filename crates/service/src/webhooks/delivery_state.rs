//! The state of an entry in a list of deliveries.

use sealpost_domain::AttemptOutcome;

/// The state of an entry in a list of deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// A completed attempt, with its outcome.
    Attempted(AttemptOutcome),
    /// A delivery that waits for its next attempt.
    Pending,
}

impl DeliveryState {
    /// Returns the name of the state in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempted(outcome) => outcome.as_str(),
            Self::Pending => "pending",
        }
    }

    /// Parses the name of a state in JSON. Returns `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::Pending.as_str() {
            return Some(Self::Pending);
        }
        AttemptOutcome::from_name(name).map(Self::Attempted)
    }
}
