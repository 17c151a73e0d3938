//! The result of a verification as text for a terminal, and as a line of JSON.

use sealpost_domain::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    escape::{escape_control, escape_json},
    server::{ForwardedResponse, HandledRequest},
    verification::VerificationReport,
};

impl VerificationReport {
    /// Returns the report as text, with one name and value per line. Control characters are escaped.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        if let (Some(id), Some(timestamp)) = (&self.webhook_id, &self.webhook_timestamp) {
            let age = self.age_s.map(|age_s| match age_s {
                0.. => format!(", {age_s} s before it was received"),
                _ => format!(", {} s after it was received", age_s.unsigned_abs()),
            });
            lines.push(("webhook-id", id.clone()));
            lines.push(("webhook-timestamp", format!("{timestamp}{}", age.unwrap_or_default())));
        }
        for entry in &self.signatures {
            let made = match &entry.made_with {
                Some(maker) => format!("made with {maker}"),
                None if entry.checked => "made with none of the keys given".to_owned(),
                None => "not checked, because no key of this version is given".to_owned(),
            };
            lines.push(("signature", format!("{}, {made}", entry.version)));
        }
        lines.push(("body", format!("{} bytes", self.body_bytes)));
        if let (Some(length), Some(hash)) = (self.signed_bytes, &self.signed_sha256) {
            lines.push(("signed", format!("{length} bytes, SHA-256 {hash}")));
        }
        let verdict = self.detail.as_deref().unwrap_or("valid");
        lines.push(("verdict", verdict.to_owned()));
        lines.extend(self.hints.iter().map(|hint| ("hint", hint.clone())));
        let line =
            |(name, value): (&str, String)| format!("{name:<18} {}\n", escape_control(&value));
        lines.into_iter().map(line).collect::<Vec<_>>().concat()
    }
}

/// A handled request as one line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    at: Timestamp,
    answered: u16,
    forwarded_ms: Option<u128>,
    forward_fault: Option<String>,
    #[serde(flatten)]
    report: &'a VerificationReport,
    /// The event: the parsed body of a valid request. `None` for an invalid request, or if the body is not JSON.
    notice: Option<Value>,
}

impl HandledRequest<'_> {
    /// Returns the request and the result as one JSON object, followed by a line end.
    pub fn json_line(&self) -> String {
        let line = Line {
            at: self.at,
            answered: self.status,
            forwarded_ms: self.forwarded.map(|forwarded| forwarded.took.as_millis()),
            forward_fault: self
                .forwarded
                .and_then(|forwarded| forwarded.fault)
                .map(|fault| fault.to_string()),
            report: self.report,
            notice: self.payload(),
        };
        let line = serde_json::to_string(&line).unwrap_or_default();
        format!("{}\n", escape_json(&line))
    }

    /// Returns the request and the result as text for a terminal. `good`, `bad` and `dim` are the escape codes that
    /// begin the colour of a valid request, of an invalid request, and of details. `end` is the code that ends a
    /// colour.
    pub fn text(&self, [good, bad, dim, end]: [&str; 4]) -> String {
        let (colour, mark) = if self.report.valid { (good, "✓") } else { (bad, "✗") };
        let headline = format!("{mark} {} {} {}", self.at, self.status, self.headline());
        let payload =
            self.payload().and_then(|payload| serde_json::to_string_pretty(&payload).ok());
        let (report, payload) = (self.report.text(), payload.unwrap_or_default());
        let details = report.lines().chain(payload.lines());
        let details =
            details.map(|line| format!("    {}\n", escape_control(line))).collect::<Vec<_>>();
        format!("{colour}{headline}{end}\n{dim}{}{end}", details.concat())
    }

    fn headline(&self) -> String {
        let fate = match self.forwarded {
            None if self.report.valid => String::new(),
            None => ", refused".to_owned(),
            Some(ForwardedResponse { fault: Some(fault), .. }) => format!(", {fault}"),
            Some(forwarded) => format!(", forwarded in {} ms", forwarded.took.as_millis()),
        };
        let Some(payload) = self.payload() else {
            let why = self.report.detail.as_deref().unwrap_or("the body is not JSON");
            return format!("{}{fate}", escape_control(why));
        };
        let field = |name: &str| {
            payload.get(name).and_then(Value::as_str).map_or_else(|| "-".to_owned(), escape_control)
        };
        format!("{} {} from {}{fate}", field("event"), field("envelope_id"), field("sender"))
    }

    /// Parses the JSON body of a valid request. Returns `None` for an invalid request, because its body is not trusted.
    /// Also returns `None` for a body that is not JSON.
    fn payload(&self) -> Option<Value> {
        serde_json::from_slice(self.body).ok().filter(|_| self.report.valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeaderList, ReceivedRequest, explain};

    #[test]
    fn a_rejection_is_coloured_only_in_the_coloured_style() {
        let request =
            ReceivedRequest { headers: &HeaderList::default(), body: b"{\"event\":\"x\"}" };
        let at = Timestamp::from_millis(1_767_225_600_000);
        let report = explain(request, &[], at);
        let ReceivedRequest { headers, body } = request;
        let handled =
            HandledRequest { at, headers, body, report: &report, forwarded: None, status: 400 };
        let headline =
            "✗ 2026-01-01T00:00:00.000Z 400 the header webhook-signature is missing, refused";
        let plain = handled.text([""; 4]);
        assert!(plain.starts_with(&format!("{headline}\n")), "{plain}");
        let coloured = handled.text(["<good>", "<bad>", "<dim>", "<end>"]);
        assert!(coloured.starts_with(&format!("<bad>{headline}<end>\n<dim>")), "{coloured}");
        assert!(coloured.ends_with("<end>") && !coloured.contains("<good>"));
        // The body of an invalid request is not shown.
        assert!(!plain.contains("event") && handled.json_line().contains(r#""notice":null"#));
    }
}
