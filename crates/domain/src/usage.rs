//! What a key has used: the state that the limits decide on and the store keeps.

use crate::Timestamp;

/// How much was used in one aligned window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowUse {
    /// When the window began.
    pub start: Timestamp,
    /// How much was admitted in it.
    pub used: u32,
}

/// All that is counted of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Requests in the minute.
    pub minute: WindowUse,
    /// Requests in the day.
    pub day: WindowUse,
    /// Messages in the month.
    pub month: WindowUse,
    /// GCRA's theoretical arrival time of the next message, in microseconds since the Unix epoch.
    pub throughput_tat_us: i64,
}

impl Usage {
    /// Of a key that was never used.
    pub const UNUSED: Self = Self {
        minute: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        day: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        month: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        throughput_tat_us: 0,
    };
}
