//! Writes the log to standard error, as JSON or as text.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::{EnvFilter, filter::LevelFilter, fmt, prelude::*};

use crate::{fault::Fault, settings::LogFormat, spans::SpanLayer};

/// Starts the log for this process. `spans` receives the finished spans, whatever `filter` is. Fails if `filter` is
/// invalid, or if the process already has a log.
pub(crate) fn start(
    filter: &str,
    format: LogFormat,
    spans: Option<SpanLayer>,
) -> Result<(), Fault> {
    let filter = self::filter(filter)?;
    let mut layer = fmt::layer().with_writer(io::stderr);
    if !io::stderr().is_terminal() {
        layer.set_ansi(false);
    }
    let lines = match format {
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
        LogFormat::Text => layer.with_target(false).boxed(),
    };
    let registry = tracing_subscriber::registry();
    let started = match spans {
        None => registry.with(lines).with(filter).try_init(),
        Some(spans) => registry.with(vec![spans, lines.with_filter(filter).boxed()]).try_init(),
    };
    started.map_err(|error| Fault::caused("the log cannot start", error))
}

/// Parses a log filter. Hides the start-up lines of actix, unless the filter mentions actix.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, Fault> {
    let parse = |text: &str| {
        EnvFilter::try_new(text).map_err(|error| {
            Fault::caused(
                "--log is not a filter: give a level, or a list such as info,access=debug",
                error,
            )
        })
    };
    let filter = parse(text)?;
    let shows_info = filter.max_level_hint().is_none_or(|level| level >= LevelFilter::INFO);
    if shows_info && !text.contains("actix") {
        return parse(&format!("{text},actix_server=warn"));
    }
    Ok(filter)
}
