//! Usage counters of an API key. The database stores the counters, and the `limits` crate compares them with the limits
//! of the plan.

use crate::Timestamp;

/// A counter of requests or messages in one window of time. Windows begin at full UTC minutes, days or months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowUse {
    /// Start of the counted window.
    pub start: Timestamp,
    /// Number of requests or messages admitted in this window.
    pub used: u32,
}

/// The usage counters of one API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Number of requests in the current UTC minute.
    pub minute: WindowUse,
    /// Number of requests in the current UTC day.
    pub day: WindowUse,
    /// Number of messages in the current UTC month.
    pub month: WindowUse,
    /// State of the limit of messages per second: the theoretical arrival time of the next message, in microseconds
    /// since the Unix epoch. The limit uses the generic cell rate algorithm (GCRA).
    pub throughput_tat_us: i64,
}

impl Usage {
    /// The counters of a new key, all zero.
    pub const UNUSED: Self = Self {
        minute: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        day: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        month: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        throughput_tat_us: 0,
    };
}

/// A rate limit, named by its time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Requests per UTC day.
    Day,
    /// Requests per UTC minute.
    Minute,
    /// Messages per second.
    Second,
}
