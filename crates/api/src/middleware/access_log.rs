//! Records each request: as a log line, in the metrics, and as a span. Records the pattern of the route instead of the
//! path, because a path can contain the id of a resource.

use std::time::Instant;

use actix_web::{
    HttpRequest,
    http::{Method, StatusCode},
};

use super::request_span::RequestSpan;
use crate::{request::client_address, response::Problem, state::ApiState};

/// The start time and the method of a request. Kept until the response is recorded.
pub(super) struct RequestTimer {
    start: Instant,
    method: &'static str,
    span: Option<RequestSpan>,
}

impl RequestTimer {
    /// Starts the timer. `method` is the method that the client sent: a HEAD request is recorded as HEAD, although it
    /// is routed as GET.
    pub(super) fn start(method: &Method, span: Option<RequestSpan>) -> Self {
        Self { start: Instant::now(), method: known_method(method), span }
    }

    /// Writes the log line and the metrics. Must run after routing, because it needs the pattern of the route.
    pub(super) fn record(
        self,
        request: &HttpRequest,
        app: Option<&ApiState>,
        request_id: &str,
        status: StatusCode,
    ) {
        let (duration, method) = (self.start.elapsed(), self.method);
        let route = request.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
        tracing::debug!(
            target: ACCESS,
            method,
            route,
            request.id = request_id,
            status = status.as_u16(),
            duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            client = client(request, app),
            "answered"
        );
        if let Some(span) = &self.span {
            span.end(method, &route, status, duration);
        }
        metrics::histogram!("sealpost_http_request_duration_seconds", "route" => route.clone())
            .record(duration);
        metrics::counter!(
            "sealpost_http_requests_total",
            "method" => method, "route" => route, "status" => status.as_str().to_owned()
        )
        .increment(1);
    }
}

/// Counts an error response in the metrics by its error code. If a limit refused the request, also counts it by the
/// name of the limit.
pub(super) fn count_refusal(problem: &Problem) {
    metrics::counter!("sealpost_refusals_total", "code" => problem.code().as_str()).increment(1);
    if let Some(limit) = problem.limit() {
        metrics::counter!("sealpost_limits_refused_total", "limit" => limit).increment(1);
    }
}

/// Maps unknown methods to `other`. Clients can send any word, and each word would become a new label in the metrics.
fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    known.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

fn client(request: &HttpRequest, app: Option<&ApiState>) -> Option<String> {
    let peer = request.peer_addr()?.ip();
    Some(client_address(peer, request.headers(), app?.trusted_proxies()).to_string())
}

/// The log target of access-log lines, so that `--log info,access=debug` shows them without other debug lines.
const ACCESS: &str = "access";
