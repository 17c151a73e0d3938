//! The span of a request, for an exporter of spans. Without an exporter, no span is created, and requests have no
//! additional cost.

use std::time::Duration;

use actix_web::{HttpMessage as _, HttpRequest, http::StatusCode};
use sealpost_domain::{SPAN_TARGET, TraceParent};
use sealpost_service::random;
use tracing::Level;

use crate::request::trace_parent;

/// The span of a request that is under way.
pub(super) struct RequestSpan {
    /// The trace, with the id of this span.
    own: TraceParent,
    /// The trace of the client, with the id of the client's span. `None` if the request begins a trace.
    parent: Option<TraceParent>,
}

impl RequestSpan {
    /// Begins the span. Returns `None` if spans are not exported, or if the client sent a trace without the flag
    /// "sampled".
    ///
    /// If the client sent a trace, the span continues it. A message that the request sends continues the trace too,
    /// with this span as its parent. Otherwise the span begins a new trace, which messages do not continue.
    pub(super) fn begin(request: &HttpRequest) -> Option<Self> {
        if !tracing::enabled!(target: SPAN_TARGET, Level::TRACE) {
            return None;
        }
        let parent = trace_parent(request);
        let own = match parent {
            Some(parent) if !parent.is_sampled() => return None,
            Some(parent) => parent.with_parent(random().ok()?),
            None => TraceParent::root(random().ok()?),
        };
        if parent.is_some() {
            request.extensions_mut().insert(own);
        }
        Some(Self { own, parent })
    }

    /// Ends the span. `route` is the pattern of the path.
    pub(super) fn end(&self, method: &str, route: &str, status: StatusCode, duration: Duration) {
        tracing::trace!(
            target: SPAN_TARGET,
            span = format!("{method} {route}"),
            kind = "server",
            trace = %self.own,
            parent = self.parent.map(TraceParent::span_id),
            duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            is_error = status.is_server_error(),
            http.request.method = method,
            http.route = route,
            http.response.status_code = status.as_u16(),
        );
    }
}
