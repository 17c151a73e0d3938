//! What is told of deliveries: every attempt that was made, and what waits for its next one.

use serde::Serialize;

use crate::{EnvelopeId, Timestamp};

/// How an attempt ended, as the log tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// It failed and was the last.
    Exhausted,
    /// It failed and is made again.
    Failed,
    /// The receiver answered 2xx.
    Succeeded,
}

impl AttemptOutcome {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Exhausted, Self::Failed, Self::Succeeded];

    /// The outcome's name in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
        }
    }

    /// The outcome of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// The place of an attempt in the log: later ones have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptNumber(pub i64);

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its place in the log.
    pub number: AttemptNumber,
    /// The envelope that it told of.
    pub envelope_id: EnvelopeId,
    /// The how manyeth of its delivery it was.
    pub attempt: u32,
    /// When it ended.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The HTTP status of the answer, where one came.
    pub status_code: Option<u16>,
    /// The class of what went wrong, as [`AttemptFailure::as_str`](crate::AttemptFailure::as_str) names it.
    pub error: Option<String>,
    /// The beginning of the answer's body, where there was any.
    pub excerpt: Option<String>,
    /// When the next attempt was due, where one was to follow.
    pub next_attempt_at: Option<Timestamp>,
}

/// A delivery that waits for an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDelivery {
    /// The envelope that it tells of.
    pub envelope_id: EnvelopeId,
    /// When that was sealed.
    pub sealed_at: Timestamp,
    /// How many attempts were made before.
    pub attempts: u32,
    /// Why the newest of them failed.
    pub error: Option<String>,
    /// When the next one is due; `None` while a node holds the delivery.
    pub due_at: Option<Timestamp>,
}
