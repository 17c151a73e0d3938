//! Rows of delivery attempts, as the delivery queue and the attempt log store them.

use sealpost_domain::{AttemptOutcome, AttemptResult, Outcome};

use crate::{
    connection::query_error::QueryError,
    query::row_types::stored_row,
    rows::{columns, delivery::DeliveryLease},
    schema::attempts,
};

/// A finished attempt, in the column types of the delivery queue and the attempt log.
#[derive(Debug)]
pub(crate) struct FinishedAttempt {
    pub(crate) lease: DeliveryLease,
    pub(crate) attempts: i32,
    pub(crate) at: i64,
    pub(crate) duration_ms: i32,
    pub(crate) outcome: &'static str,
    /// Class of the failure; `None` after a success.
    pub(crate) failure: Option<&'static str>,
    pub(crate) status_code: Option<i32>,
    /// Beginning of the response's body. Without a response, the reason of the failure. The reason has no column of its
    /// own, because such a column would make the row of every success longer.
    pub(crate) excerpt: Option<String>,
    /// Due time of the next attempt in milliseconds; `None` if the schedule has no further attempt.
    pub(crate) due_at: Option<i64>,
    /// The URL at which the receiver responded with status 410 (Gone); `None` after any other result.
    pub(crate) gone_url: Option<String>,
}

impl FinishedAttempt {
    pub(crate) fn new(result: &AttemptResult) -> Result<Self, QueryError> {
        let (outcome, failure, due_at) = match result.outcome {
            Outcome::Exhausted(failure) => {
                (AttemptOutcome::Exhausted, Some(failure.as_str()), None)
            }
            Outcome::Gone => (AttemptOutcome::Exhausted, Some("http_status"), None),
            Outcome::Retry { failure, due_at } => {
                (AttemptOutcome::Failed, Some(failure.as_str()), Some(due_at.as_millis()))
            }
            Outcome::Succeeded => (AttemptOutcome::Succeeded, None, None),
        };
        let response = result.response.as_ref();
        Ok(Self {
            lease: DeliveryLease::new(&result.id, result.lease),
            attempts: columns::number(result.attempts, "number of attempts")?,
            at: result.at.as_millis(),
            duration_ms: i32::try_from(result.duration_ms).unwrap_or(i32::MAX),
            outcome: outcome.as_str(),
            failure,
            status_code: response.map(|response| response.status.into()),
            excerpt: match response {
                Some(response) => excerpt(&response.excerpt),
                None => result.error_detail.as_deref().and_then(excerpt),
            },
            due_at,
            gone_url: (result.outcome == Outcome::Gone).then(|| result.target.url.clone()),
        })
    }

    /// Returns the reason of a failure without a response; `None` after any response.
    pub(crate) fn error_detail(&self) -> Option<&str> {
        self.excerpt.as_deref().filter(|_| self.status_code.is_none())
    }
}

stored_row! {
    /// A new row of the attempt log, the table `attempts`.
    pub(crate) struct AttemptRow<'a> in attempts {
        webhook_id: &'a str,
        event_id: &'a str,
        attempt: i32,
        at: i64,
        duration_ms: i32,
        outcome: &'a str,
        error: Option<&'a str>,
        status_code: Option<i32>,
        excerpt: Option<&'a str>,
        next_attempt_at: Option<i64>,
    }
}

impl<'a> From<&'a FinishedAttempt> for AttemptRow<'a> {
    fn from(attempt: &'a FinishedAttempt) -> Self {
        Self {
            webhook_id: &attempt.lease.key.webhook_id,
            event_id: &attempt.lease.key.event_id,
            attempt: attempt.attempts,
            at: attempt.at,
            duration_ms: attempt.duration_ms,
            outcome: attempt.outcome,
            error: attempt.failure,
            status_code: attempt.status_code,
            excerpt: attempt.excerpt.as_deref(),
            next_attempt_at: attempt.due_at,
        }
    }
}

/// Truncates the excerpt of a response, and replaces NUL characters; `None` if nothing is left. PostgreSQL rejects NUL
/// in text, so one such response would fail the write of a whole batch.
fn excerpt(text: &str) -> Option<String> {
    let kept = text.get(..text.floor_char_boundary(EXCERPT_BYTES_MAX)).unwrap_or_default();
    (!kept.is_empty()).then(|| kept.replace('\0', " "))
}

const EXCERPT_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_characters_and_has_no_nul() {
        assert_eq!(excerpt(""), None);
        assert_eq!(excerpt("a\0b").unwrap(), "a b");
        assert_eq!(excerpt(&"ü".repeat(600)).unwrap(), "ü".repeat(512));
        assert_eq!(excerpt(&format!("x{}", "ü".repeat(600))).unwrap().len(), 1023);
    }
}
