//! The log of delivery attempts, and the deliveries that wait for their next attempt.

use serde::Serialize;

use crate::{EventId, Timestamp};

/// The outcome of an attempt, as the log shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The attempt failed and was the last one of the schedule.
    Exhausted,
    /// The attempt failed and a retry follows.
    Failed,
    /// The receiver responded with 2xx.
    Succeeded,
}

impl AttemptOutcome {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Exhausted, Self::Failed, Self::Succeeded];

    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
        }
    }

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// Position of an attempt in the log. Later attempts have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptNumber(pub i64);

/// One HTTP request that was made to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Position in the log.
    pub number: AttemptNumber,
    /// The delivered event.
    pub event_id: EventId,
    /// Number of the attempt within its delivery, from 1.
    pub attempt: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// Duration in milliseconds.
    pub duration_ms: u32,
    /// Outcome: success, a retry, or the failure of the last attempt.
    pub outcome: AttemptOutcome,
    /// HTTP status of the response; `None` without a response.
    pub status_code: Option<u16>,
    /// Class of the failure, as named by [`AttemptFailure::as_str`](crate::AttemptFailure::as_str); `None` after a
    /// success.
    pub error: Option<String>,
    /// First bytes of the response body, if any.
    pub excerpt: Option<String>,
    /// Due time of the next attempt; `None` if no attempt followed.
    pub next_attempt_at: Option<Timestamp>,
}

/// A delivery that waits for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDelivery {
    /// The delivered event.
    pub event_id: EventId,
    /// Time of the event.
    pub event_at: Timestamp,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Failure class of the newest attempt; `None` before the first attempt.
    pub error: Option<String>,
    /// Due time of the next attempt; `None` while a node holds the lease.
    pub due_at: Option<Timestamp>,
}
