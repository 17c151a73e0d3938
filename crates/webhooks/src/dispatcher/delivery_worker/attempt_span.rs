//! Tracing spans of attempts. An attempt has a span only if an exporter of spans is active.

use std::time::Duration;

use sealpost_domain::{LeasedDelivery, Outcome, SPAN_TARGET, TraceParent};
use sealpost_wallet::random;
use tracing::Level;

use crate::signing::signed_request::{event_id, trace_of};

/// The trace context of a running attempt. The parent id in this context is the id of the attempt's span.
pub(super) struct AttemptSpan(TraceParent);

impl AttemptSpan {
    /// Begins the span. `trace` is the trace context in the webhook request. The parent id in `trace` becomes the id of
    /// the span. If `trace` is `None`, the span begins a new trace.
    ///
    /// Returns `None` if spans are not exported, if `trace` lacks the flag "sampled", or if the random source fails.
    pub(super) fn begin(trace: Option<TraceParent>) -> Option<Self> {
        if !tracing::enabled!(target: SPAN_TARGET, Level::TRACE) {
            return None;
        }
        match trace {
            Some(trace) => trace.is_sampled().then_some(Self(trace)),
            None => Some(Self(TraceParent::root(random().ok()?))),
        }
    }

    /// Ends the span. `status` is the status of the response; `None` without a response.
    pub(super) fn end(
        &self,
        delivery: &LeasedDelivery,
        status: Option<u16>,
        outcome: Outcome,
        duration: Duration,
    ) {
        tracing::trace!(
            target: SPAN_TARGET,
            span = "attempt",
            kind = "client",
            trace = %self.0,
            parent = trace_of(&delivery.event).map(TraceParent::span_id),
            duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            is_error = outcome != Outcome::Succeeded,
            http.response.status_code = status,
            sealpost.event_id = event_id(delivery),
            sealpost.webhook_id = %delivery.target.webhook_id,
            sealpost.attempt = delivery.attempts.saturating_add(1),
        );
    }
}
