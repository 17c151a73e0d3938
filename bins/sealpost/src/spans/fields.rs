//! Converts the fields of a log event into a span. [`SPAN_TARGET`](sealpost_domain::SPAN_TARGET) describes the fields.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    InstrumentationScope, KeyValue, Value,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use sealpost_domain::TraceParent;
use tracing::field::{Field, Visit};

#[derive(Default)]
pub(super) struct SpanFields {
    name: String,
    kind: Option<SpanKind>,
    trace: Option<TraceParent>,
    parent: Option<SpanId>,
    duration: Duration,
    is_error: bool,
    attributes: Vec<KeyValue>,
}

impl SpanFields {
    /// Returns the span, which ends now. `None` if the event describes no span, because its field `trace` is missing or
    /// invalid.
    #[expect(clippy::disallowed_methods, reason = "the binary reads the clock for all crates")]
    pub(super) fn into_span(self) -> Option<SpanData> {
        let TraceParent { trace_id, parent_id, flags } = self.trace?;
        let (trace_id, own) = (TraceId::from_bytes(trace_id), SpanId::from_bytes(parent_id));
        let end_time = SystemTime::now();
        Some(SpanData {
            span_context: SpanContext::new(
                trace_id,
                own,
                TraceFlags::new(flags),
                false,
                TraceState::NONE,
            ),
            parent_span_id: self.parent.unwrap_or(SpanId::INVALID),
            parent_span_is_remote: self.parent.is_some(),
            span_kind: self.kind.unwrap_or(SpanKind::Internal),
            name: self.name.into(),
            start_time: end_time.checked_sub(self.duration).unwrap_or(end_time),
            end_time,
            attributes: self.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if self.is_error { Status::error("") } else { Status::Unset },
            instrumentation_scope: InstrumentationScope::builder("sealpost").build(),
        })
    }

    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.attributes.push(KeyValue::new(field.name(), value));
    }

    fn set_text(&mut self, field: &Field, text: String) {
        match field.name() {
            "span" => self.name = text,
            "kind" => {
                self.kind = match &*text {
                    "client" => Some(SpanKind::Client),
                    "server" => Some(SpanKind::Server),
                    _ => None,
                }
            }
            "trace" => self.trace = TraceParent::parse(&text),
            "parent" => self.parent = SpanId::from_hex(&text).ok(),
            _ => self.add(field, text),
        }
    }
}

impl Visit for SpanFields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == "is_error" {
            self.is_error = value;
        } else {
            self.add(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set_text(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set_text(field, value.to_owned());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "duration_ns" {
            self.duration = Duration::from_nanos(value);
        } else {
            self.add(field, i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
}
