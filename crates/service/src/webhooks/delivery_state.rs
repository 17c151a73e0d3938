//! The state of an entry in a listing of deliveries.

use sealpost_domain::AttemptOutcome;

/// The state of an entry in a listing of deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// A completed attempt.
    Attempted(AttemptOutcome),
    /// A delivery that waits for its next attempt.
    Pending,
}

impl DeliveryState {
    /// Returns the state's name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempted(outcome) => outcome.as_str(),
            Self::Pending => "pending",
        }
    }

    /// Parses a name from JSON.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::Pending.as_str() {
            return Some(Self::Pending);
        }
        AttemptOutcome::from_name(name).map(Self::Attempted)
    }
}
