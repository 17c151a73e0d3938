//! Parses the header `traceparent` (W3C Trace Context).

use actix_web::http::header::{HeaderMap, HeaderName};
use sealpost_domain::TraceParent;

/// Returns the trace context of a request. `None` without the header, or if the header is invalid or repeated: the
/// standard requires such a context to be ignored.
pub(crate) fn trace_parent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(TRACEPARENT);
    let value = values.next().filter(|_| values.next().is_none())?;
    TraceParent::parse(value.to_str().ok()?)
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
