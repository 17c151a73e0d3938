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

use crate::terminal::allows_colour;

/// The format in which requests are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Coloured,
    Json,
    Plain,
}

impl Style {
    /// Returns the JSON style if `json` is set. Otherwise returns a text style, which is coloured only if standard
    /// output is a terminal, and the environment allows colours.
    pub(super) fn new(json: bool) -> Self {
        match (json, io::stdout().is_terminal() && allows_colour()) {
            (true, _) => Self::Json,
            (false, true) => Self::Coloured,
            (false, false) => Self::Plain,
        }
    }
}

/// The transport over which this command receives requests.
pub(super) enum Place {
    /// A connection that this command opens to the service, as the relay of this webhook.
    Relay(WebhookId),
    /// HTTP. The command listens at this URL.
    Url(String),
}

/// Prints the place where requests arrive, the URL that events are forwarded to, and the next step for the developer.
pub(super) fn greet(
    style: Style,
    place: &Place,
    forward_to: Option<&str>,
    is_registered: bool,
) -> io::Result<()> {
    let (listening, webhook_id, text, next) = match place {
        Place::Relay(webhook_id) => {
            let text = format!("over the relay {webhook_id}");
            ("relay:", Some(webhook_id), text, "events that waited arrive first".to_owned())
        }
        Place::Url(url) => {
            let next = format!(
                "register {url} as a webhook of a service on this machine that runs with --dev, and keep the secret of \
                 the response"
            );
            (url.as_str(), None, format!("on {url}"), next)
        }
    };
    let registered = "the webhook is registered until the end of this command";
    let next = if is_registered { registered } else { next.as_str() };
    if style == Style::Json {
        return print(format!(
            "{}\n",
            json!({"listening": listening, "webhook_id": webhook_id, "forward_to": forward_to, "next": next})
        ));
    }
    let onward = forward_to.map_or_else(String::new, |to| format!(", forwarding to {to}"));
    print(format!("sealpost listening {text}{onward}; {next}\n"))
}

/// Returns a callback that prints each request, and passes an error of standard output to `failed`.
pub(super) fn printer(style: Style, failed: mpsc::UnboundedSender<io::Error>) -> RequestObserver {
    Arc::new(move |handled: &HandledRequest<'_>| {
        let printed = match style {
            Style::Coloured => print(handled.text(["\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"])),
            Style::Json => print(handled.json_line()),
            Style::Plain => print(handled.text([""; 4])),
        };
        if let Err(error) = printed {
            // Ignores an error: the receiver of the channel is closed only if the command already ends.
            drop(failed.send(error));
        }
    })
}
