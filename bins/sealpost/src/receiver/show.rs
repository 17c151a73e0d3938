//! Prints the requests that `sealpost listen` received, as text or as one JSON object per line.

use std::{
    io::{self, IsTerminal as _},
    sync::Arc,
};

use sealpost_domain::WebhookId;
use sealpost_receiver::{HandledRequest, RequestObserver};
use sealpost_shell::print;
use serde_json::json;
use tokio::sync::mpsc;

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

/// The way in which requests arrive.
pub(super) enum Place {
    /// Over a relay, for this webhook.
    Relay(WebhookId),
    /// At the URL of this command.
    Url(String),
}

/// Prints the place where requests arrive, the URL that events are forwarded to, and the next step for the developer.
pub(super) fn greet(
    style: Style,
    place: &Place,
    forward_to: Option<&str>,
    is_registered: bool,
) -> io::Result<()> {
    let listening = match place {
        Place::Relay(webhook_id) => format!("over the relay {webhook_id}"),
        Place::Url(url) => format!("on {url}"),
    };
    let next = match place {
        _ if is_registered => "the webhook is registered until the end of this command".to_owned(),
        Place::Relay(_) => "events that waited arrive first".to_owned(),
        Place::Url(url) => format!(
            "register {url} as a webhook of a service on this machine that runs with --dev, and keep the secret of the response"
        ),
    };
    if style == Style::Json {
        let listening = match place {
            Place::Relay(_) => "relay:",
            Place::Url(url) => url,
        };
        let webhook_id = match place {
            Place::Relay(webhook_id) => Some(webhook_id),
            Place::Url(_) => None,
        };
        return print(format!(
            "{}\n",
            json!({"listening": listening, "webhook_id": webhook_id, "forward_to": forward_to, "next": next})
        ));
    }
    let onward = forward_to.map_or_else(String::new, |to| format!(", forwarding to {to}"));
    print(format!("sealpost listening {listening}{onward}; {next}\n"))
}

/// Prints one received request in the style.
fn show(style: Style, handled: &HandledRequest<'_>) -> io::Result<()> {
    match style {
        Style::Coloured => print(handled.text(["\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"])),
        Style::Json => print(handled.json_line()),
        Style::Plain => print(handled.text([""; 4])),
    }
}

/// Returns a callback that prints each request, and passes an error of standard output to `failed`.
pub(super) fn printer(style: Style, failed: mpsc::UnboundedSender<io::Error>) -> RequestObserver {
    Arc::new(move |handled| {
        if let Err(error) = show(style, handled) {
            // The command already ends if the receiver of the channel is closed.
            drop(failed.send(error));
        }
    })
}
