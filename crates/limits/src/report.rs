//! What a key has used, as the status endpoint shows it.

use schemars::JsonSchema;
use sealpost_domain::{Timestamp, Usage, WindowUse};
use serde::Serialize;

use crate::{Terms, window::Span};

/// What was used and what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[schemars(rename = "Report")]
pub struct UsageReport {
    /// Requests in the minute.
    pub minute: WindowReport,
    /// Requests in the day.
    pub day: WindowReport,
    /// Messages in the month.
    pub month: WindowReport,
}

/// One window of what was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WindowReport {
    /// The plan's number.
    pub limit: u32,
    /// How much was admitted; after a change of plan, or with overage, it may be more than the limit.
    pub used: u32,
    /// How much will still be admitted within the limit.
    pub remaining: u32,
    /// When the next window begins.
    pub resets_at: Timestamp,
}

/// Where `usage` stands at `now`.
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
