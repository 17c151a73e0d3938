//! Usage counters of a key. The store keeps the counters, and the limits crate compares them with the limits of the
//! plan.

use crate::Timestamp;

/// The number of requests or messages in one window. Windows are aligned to UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowUse {
    /// Start of the window.
    pub start: Timestamp,
    /// Number of requests or messages admitted in the window.
    pub used: u32,
}

/// The usage counters of one key, which its limits are checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Requests in the current minute.
    pub minute: WindowUse,
    /// Requests in the current day.
    pub day: WindowUse,
    /// Messages in the current month.
    pub month: WindowUse,
    /// Theoretical arrival time of the next message (GCRA), in microseconds since the Unix epoch.
    pub throughput_tat_us: i64,
}

impl Usage {
    /// The counters of a new key.
    pub const UNUSED: Self = Self {
        minute: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        day: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        month: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        throughput_tat_us: 0,
    };
}

/// The period of time that a rate limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Requests per UTC day.
    Day,
    /// Requests per UTC minute.
    Minute,
    /// Messages per second.
    Second,
}
