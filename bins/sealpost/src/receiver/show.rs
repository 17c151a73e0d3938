//! Prints the requests that `sealpost listen` received, as text or as one JSON object per line.

use std::io::{self, IsTerminal as _, Write as _};

use sealpost_domain::Timestamp;
use sealpost_receiver::{ForwardedResponse, HandledRequest, VerificationReport, escape_control};
use serde::Serialize;
use serde_json::{Value, json};

use super::verify::words;

/// The format in which requests are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Coloured,
    Json,
    Plain,
}

/// A received request to print. It was verified, and perhaps forwarded.
struct Entry<'a>(&'a HandledRequest<'a>);

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
        return say(&format!(
            "{}\n",
            json!({"listening": url, "forward_to": forward_to, "next": next})
        ));
    }
    let onward = forward_to.map_or_else(String::new, |to| format!(", forwarding to {to}"));
    say(&format!("sealpost listening on {url}{onward}; {next}\n"))
}

/// Prints one received request in the style.
pub(super) fn show(style: Style, handled: &HandledRequest<'_>) -> io::Result<()> {
    let entry = Entry(handled);
    match style {
        Style::Coloured => say(&entry.text(["\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"])),
        Style::Json => say(&entry.json_line()),
        Style::Plain => say(&entry.text([""; 4])),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    at: Timestamp,
    answered: u16,
    forwarded_ms: Option<u128>,
    forward_fault: Option<String>,
    #[serde(flatten)]
    report: &'a VerificationReport,
    /// The JSON body of a valid event. `None` for an invalid request, or if the body is not JSON.
    notice: Option<Value>,
}

impl Entry<'_> {
    fn json_line(&self) -> String {
        let line = Line {
            at: self.0.at,
            answered: self.0.status,
            forwarded_ms: self.0.forwarded.map(|forwarded| forwarded.took.as_millis()),
            forward_fault: self
                .0
                .forwarded
                .and_then(|forwarded| forwarded.fault)
                .map(|fault| fault.to_string()),
            report: self.0.report,
            notice: self.payload(),
        };
        serde_json::to_string(&line).map_or_else(|_never| String::new(), |line| format!("{line}\n"))
    }

    /// Returns the request as text. The arguments are terminal escape codes, or empty for plain text: the colour of a
    /// valid request, of an invalid request and of the details, and the code that ends a colour.
    fn text(&self, [good, bad, dim, end]: [&str; 4]) -> String {
        let (colour, mark) = if self.0.report.valid { (good, "✓") } else { (bad, "✗") };
        let headline = format!("{mark} {} {} {}", self.0.at, self.0.status, self.headline());
        let (words, payload) = (words(self.0.report), self.pretty_payload());
        let details = words.lines().chain(payload.lines());
        let details =
            details.map(|line| format!("    {}\n", escape_control(line))).collect::<Vec<_>>();
        format!("{colour}{headline}{end}\n{dim}{}{end}", details.concat())
    }

    fn headline(&self) -> String {
        let fate = match self.0.forwarded {
            None if self.0.report.valid => String::new(),
            None => ", refused".to_owned(),
            Some(ForwardedResponse { fault: Some(fault), .. }) => format!(", {fault}"),
            Some(forwarded) => format!(", forwarded in {} ms", forwarded.took.as_millis()),
        };
        let Some(payload) = self.payload() else {
            let why = self.0.report.detail.as_deref().unwrap_or("the body is not JSON");
            return format!("{}{fate}", escape_control(why));
        };
        let field = |name: &str| {
            payload.get(name).and_then(Value::as_str).map_or_else(|| "-".to_owned(), escape_control)
        };
        format!("{} {} from {}{fate}", field("event"), field("envelope_id"), field("sender"))
    }

    /// Parses the JSON body of a valid event. Returns `None` for an invalid request, because its body is not trusted.
    fn payload(&self) -> Option<Value> {
        serde_json::from_slice(self.0.body).ok().filter(|_| self.0.report.valid)
    }

    fn pretty_payload(&self) -> String {
        let pretty = self.payload().map(|payload| serde_json::to_string_pretty(&payload));
        pretty.and_then(Result::ok).unwrap_or_default()
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

const REGISTERED: &str = "the webhook is registered until the end of this command";

#[cfg(test)]
mod tests {
    use sealpost_receiver::{HeaderList, ReceivedRequest, explain};

    use super::*;

    #[test]
    fn a_rejection_is_coloured_only_in_the_coloured_style() {
        let request =
            ReceivedRequest { headers: &HeaderList::default(), body: b"{\"event\":\"x\"}" };
        let at = Timestamp::from_millis(1_767_225_600_000);
        let report = explain(request, &[], at);
        let ReceivedRequest { headers, body } = request;
        let handled =
            HandledRequest { at, headers, body, report: &report, forwarded: None, status: 400 };
        let entry = Entry(&handled);
        let headline =
            "✗ 2026-01-01T00:00:00.000Z 400 the header webhook-signature is missing, refused";
        let plain = entry.text([""; 4]);
        assert!(plain.starts_with(&format!("{headline}\n")), "{plain}");
        let coloured = entry.text(["<good>", "<bad>", "<dim>", "<end>"]);
        assert!(coloured.starts_with(&format!("<bad>{headline}<end>\n<dim>")), "{coloured}");
        assert!(coloured.ends_with("<end>") && !coloured.contains("<good>"));
        // The output does not contain the body of an invalid request.
        assert!(!plain.contains("event") && entry.json_line().contains(r#""notice":null"#));
    }
}
