//! Exports spans of requests, commits and webhook attempts to a collector. Needs a build with the feature `otlp`.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
mod fields;

use tracing_subscriber::{Layer, Registry};

#[cfg(not(feature = "otlp"))]
use crate::command_error::CommandError;

#[cfg(feature = "otlp")]
pub(crate) use exporter::SpanExporter;

/// A layer of the log subscriber that exports spans instead of writing lines.
pub(crate) type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Stands for the exporter in a build without the feature `otlp`. The type has no values, because `start` always fails.
#[cfg(not(feature = "otlp"))]
pub(crate) enum SpanExporter {}

#[cfg(not(feature = "otlp"))]
impl SpanExporter {
    pub(crate) fn start(_endpoint: &str) -> Result<Self, CommandError> {
        Err(CommandError::usage(
            "--otlp-endpoint: this build cannot export spans: use a published build, or build with --features otlp",
        ))
    }

    pub(crate) fn layer(&self) -> SpanLayer {
        match *self {}
    }

    pub(crate) fn stop(&self) {
        match *self {}
    }
}
