//! Parses the header `traceparent` (W3C Trace Context).

use actix_web::{HttpMessage as _, HttpRequest, http::header::HeaderName};
use sealpost_domain::TraceParent;

/// Returns the trace that a request continues. Returns `None` without the header. Also returns `None` if the header is
/// invalid or repeated, because the standard requires that such a header is ignored. If the request has a span of its
/// own, this span is the parent in the returned trace.
pub(crate) fn trace_parent(request: &HttpRequest) -> Option<TraceParent> {
    if let Some(own) = request.extensions().get::<TraceParent>() {
        return Some(*own);
    }
    let mut values = request.headers().get_all(TRACEPARENT);
    let value = values.next().filter(|_| values.next().is_none())?;
    TraceParent::parse(value.to_str().ok()?)
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
