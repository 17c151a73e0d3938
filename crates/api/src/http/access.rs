//! One line in the log for each request, where that is asked for, and its place in the metrics. What a request names
//! stands in neither: its route does, by the pattern.

use std::time::Instant;

use actix_web::{
    HttpRequest,
    http::{Method, StatusCode},
};

use super::{ApiState, Problem, client_address::client_address};

/// A request under way.
pub(crate) struct Access {
    began: Instant,
    method: &'static str,
}

impl Access {
    /// Notices a request by its own method, also where it goes the way of another.
    pub(crate) fn begin(method: &Method) -> Self {
        Self { began: Instant::now(), method: known_method(method) }
    }

    /// Notices its answer. By now the request has been routed, so that its route need not be searched for again.
    pub(crate) fn end(
        self,
        request: &HttpRequest,
        app: Option<&ApiState>,
        request_id: &str,
        status: StatusCode,
    ) {
        let (took, method) = (self.began.elapsed(), self.method);
        let route = request.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
        tracing::debug!(
            target: ACCESS,
            method,
            route,
            request.id = request_id,
            status = status.as_u16(),
            duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            client = client(request, app),
            "answered"
        );
        metrics::histogram!("sealpost_http_request_duration_seconds", "route" => route.clone())
            .record(took);
        metrics::counter!(
            "sealpost_http_requests_total",
            "method" => method, "route" => route, "status" => status.as_str().to_owned()
        )
        .increment(1);
    }
}

/// Counts a refusal.
pub(crate) fn refused(problem: &Problem) {
    metrics::counter!("sealpost_refusals_total", "code" => problem.code().as_str()).increment(1);
    if let Some(limit) = problem.limit() {
        metrics::counter!("sealpost_limits_refused_total", "limit" => limit).increment(1);
    }
}

/// A client may call its method what it likes.
fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    known.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

fn client(request: &HttpRequest, app: Option<&ApiState>) -> Option<String> {
    let peer = request.peer_addr()?.ip();
    Some(client_address(peer, request.headers(), &app?.trusted_proxies).to_string())
}

/// So that these lines alone can be asked for: `--log info,access=debug`.
const ACCESS: &str = "access";
