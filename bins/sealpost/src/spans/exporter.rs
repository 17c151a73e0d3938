//! The exporter of spans: a bounded queue, and a thread that sends its spans to a collector (OTLP over HTTP).

use std::{sync::Arc, time::Duration};

use opentelemetry::KeyValue;
use opentelemetry_otlp::{
    Protocol, SpanExporter as OtlpExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SpanProcessor as _},
};
use sealpost_domain::{SPAN_TARGET, with_causes};
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    layer::Context,
};

use super::{SpanLayer, collector::CollectorClient, fields::SpanFields};
use crate::command_error::CommandError;

/// Sends finished spans to a collector. If the collector is slow or unreachable, the queue fills up. Further spans are
/// then dropped, so that no request waits.
pub(crate) struct SpanExporter(Arc<BatchSpanProcessor>);

impl SpanExporter {
    /// Starts the thread. `endpoint` is the base URL of the collector.
    pub(crate) fn start(endpoint: &str) -> Result<Self, CommandError> {
        let exporter = OtlpExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new()?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(EXPORT_TIMEOUT)
            .build()
            // Drops the error, because its text contains the URL, and the path of the URL may contain a secret.
            .map_err(|_invalid| {
                CommandError::usage("--otlp-endpoint: the URL has a character that no URL may have")
            })?;
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUED_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(EXPORT_EVERY)
            .build();
        let mut processor = BatchSpanProcessor::new(exporter, config);
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name("sealpost").with_attribute(version);
        processor.set_resource(&resource.build());
        Ok(Self(Arc::new(processor)))
    }

    /// Returns the layer of the log subscriber that queues the finished spans.
    pub(crate) fn layer(&self) -> SpanLayer {
        let only_spans = Targets::new().with_target(SPAN_TARGET, LevelFilter::TRACE);
        SpanQueue(Arc::clone(&self.0)).with_filter(only_spans).boxed()
    }

    /// Sends the queued spans, and stops. An unreachable collector delays the stop by at most [`STOP_MAX`].
    pub(crate) fn stop(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(STOP_MAX) {
            tracing::warn!(error = with_causes(&error), "the last spans may be lost");
        }
    }
}

/// Queues each finished span.
struct SpanQueue(Arc<BatchSpanProcessor>);

impl<S: Subscriber> Layer<S> for SpanQueue {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = SpanFields::default();
        event.record(&mut fields);
        if let Some(span) = fields.into_span() {
            self.0.on_end(span);
        }
    }
}

/// Maximum number of spans in the queue. Further spans are dropped.
const QUEUED_MAX: usize = 8192;
/// Maximum number of spans in one request to the collector.
const BATCH_MAX: usize = 512;
const EXPORT_EVERY: Duration = Duration::from_secs(1);
/// Maximum time in which one batch is sent, with all its retries.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
const STOP_MAX: Duration = Duration::from_secs(2);
