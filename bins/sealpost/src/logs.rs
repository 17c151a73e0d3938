//! Structured logs on standard error: JSON, or lines for people.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::{cli::LogFormat, fault::Fault};

/// Starts logging. Once a process.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Fault> {
    let registry = tracing_subscriber::registry().with(self::filter(filter)?);
    let mut layer = fmt::layer().with_writer(io::stderr);
    if !io::stderr().is_terminal() {
        layer.set_ansi(false);
    }
    let started = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
        LogFormat::Text => registry.with(layer.with_target(false)).try_init(),
    };
    started.map_err(|error| Fault::caused("logging is started already", error))
}

/// What is logged, as `--log` says it.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, Fault> {
    EnvFilter::try_new(text).map_err(|error| Fault::caused("--log is no tracing filter", error))
}
