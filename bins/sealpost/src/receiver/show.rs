//! Prints the requests that `sealpost listen` received, as text or as one JSON object per line.

use std::io::{self, IsTerminal as _};

use sealpost_receiver::HandledRequest;
use sealpost_shell::print;
use serde_json::json;

/// The format in which requests are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Coloured,
    Json,
    Plain,
}

impl Style {
    /// Returns the JSON style if `json` is set. Otherwise returns a text style, which is coloured only if standard
    /// output is a terminal.
    pub(super) fn new(json: bool) -> Self {
        match (json, io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Coloured,
            (false, false) => Self::Plain,
        }
    }
}

/// Prints the listening address, the URL that events are forwarded to, and the next step for the developer.
pub(super) fn greet(
    style: Style,
    url: &str,
    forward_to: Option<&str>,
    is_registered: bool,
) -> io::Result<()> {
    let by_hand = || {
        format!(
            "register {url} as a webhook of a service on this machine that runs with --dev, and keep the secret of the response"
        )
    };
    let next = if is_registered { REGISTERED.to_owned() } else { by_hand() };
    if style == Style::Json {
        return print(format!(
            "{}\n",
            json!({"listening": url, "forward_to": forward_to, "next": next})
        ));
    }
    let onward = forward_to.map_or_else(String::new, |to| format!(", forwarding to {to}"));
    print(format!("sealpost listening on {url}{onward}; {next}\n"))
}

/// Prints one received request in the style.
pub(super) fn show(style: Style, handled: &HandledRequest<'_>) -> io::Result<()> {
    match style {
        Style::Coloured => print(handled.text(["\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"])),
        Style::Json => print(handled.json_line()),
        Style::Plain => print(handled.text([""; 4])),
    }
}

const REGISTERED: &str = "the webhook is registered until the end of this command";
