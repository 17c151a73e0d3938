//! Computes the used and the remaining part of each limit, for the status endpoint of the API.

use schemars::JsonSchema;
use sealpost_domain::{Timestamp, Usage, WindowUse};
use serde::Serialize;

use crate::{Terms, window::Span};

/// Used and remaining requests per minute and per day, and messages per month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[schemars(rename = "Report")]
pub struct UsageReport {
    /// Requests in the current UTC minute.
    pub minute: WindowReport,
    /// Requests in the current UTC day.
    pub day: WindowReport,
    /// Messages in the current UTC month.
    pub month: WindowReport,
}

/// Used and remaining requests or messages of one limit in its current time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WindowReport {
    /// Maximum number of requests or messages in the window.
    pub limit: u32,
    /// Number of requests or messages admitted so far. Can exceed the limit after a change of plan, or with overage.
    pub used: u32,
    /// Number of requests or messages that will still be admitted within the limit.
    pub remaining: u32,
    /// End of the current window, when the used number starts at zero again.
    pub resets_at: Timestamp,
}

/// Returns the used and the remaining part of each limit at `now`.
pub fn report(terms: &Terms, usage: &Usage, now: Timestamp) -> UsageReport {
    UsageReport {
        minute: window_report(Span::Minute, terms.per_minute, usage.minute, now),
        day: window_report(Span::Day, terms.per_day, usage.day, now),
        month: window_report(Span::Month, terms.per_month, usage.month, now),
    }
}

fn window_report(span: Span, limit: u32, stored: WindowUse, now: Timestamp) -> WindowReport {
    let WindowUse { start, used } = span.current(stored, now);
    WindowReport { limit, used, remaining: limit.saturating_sub(used), resets_at: span.end(start) }
}
