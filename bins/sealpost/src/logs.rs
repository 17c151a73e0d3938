//! Writes the log to standard error, as JSON or as text.

mod output;

use std::io::{self, IsTerminal as _};

use tracing_subscriber::{EnvFilter, filter::LevelFilter, fmt, prelude::*};

use self::output::LogOutput;
pub(crate) use self::output::report_lost_lines;
use crate::{command_error::CommandError, settings::LogFormat, spans::SpanLayer};

/// Starts the log for this process. `filter` does not apply to `spans`, which receives all finished spans. Fails if
/// `filter` is invalid, or if the process already has a log.
pub(crate) fn start(
    filter: &str,
    format: LogFormat,
    spans: Option<SpanLayer>,
) -> Result<(), CommandError> {
    let filter = self::filter(filter)?;
    let mut layer = fmt::layer().with_writer(|| LogOutput);
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
    started.map_err(|error| CommandError::caused("the log cannot start", error))
}

/// Parses a log filter. Hides the start-up lines of actix, unless the filter mentions actix.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, CommandError> {
    let has_level = text.split(',').any(|item| item.parse::<LevelFilter>().is_ok());
    let is_target = |item: &str| has_level && item.contains("::");
    if let Some(item) = text.split(',').find(|item| !has_effect(item) && !is_target(item)) {
        return Err(CommandError::new(format!(
            "--log is not a filter: {item:?} is neither a level nor TARGET=LEVEL: give error, warn, info, debug, trace or \
             off, or a list such as info,access=debug"
        )));
    }
    let parse = |text: &str| {
        EnvFilter::try_new(text).map_err(|error| {
            CommandError::caused(
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

/// Returns false for an item that is probably a mistyped level, such as `inof`. [`EnvFilter`] would take it for a
/// target (the origin of a log line, such as a crate). The log would then be empty, because no line has this target.
fn has_effect(item: &str) -> bool {
    match item.split_once(['=', '[']) {
        Some((target, _)) => !target.contains(char::is_whitespace),
        None => {
            item.parse::<LevelFilter>().is_ok()
                || TARGETS.iter().any(|target| item.starts_with(target))
        }
    }
}

/// Beginnings of the targets (origins of log lines, such as crates) that a filter may name without a level.
const TARGETS: [&str; 9] =
    ["access", "actix", "awc", "h2", "hickory", "mio", "rustls", "sealpost", "ureq"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_would_empty_the_log_is_refused() {
        for accepted in [
            "info",
            "WARN",
            "off",
            "0",
            "5",
            "",
            "info,",
            "info,access=debug",
            "sealpost",
            "sealpost_node::journal",
            "info,actix_server",
            "[request]=debug",
            "access[request]",
        ] {
            assert!(filter(accepted).is_ok(), "{accepted}");
        }
        for refused in [
            "warning",
            "inof",
            "fatal",
            "7",
            "info access=debug",
            "info, debug",
            "info,acces",
            "a=b=c",
        ] {
            assert!(filter(refused).is_err(), "{refused}");
        }
    }
}
