//! Formats values as text for the users of the dashboard.

#![expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]

use std::{ops::Range, time::Duration};

use sealpost_domain::{
    ActivityKind, Description, EventKind, KeyStatus, ReceiptState, Timestamp, WebhookStatus,
};
use sealpost_service::{Correspondent, DeliveryView, EventLogEntry, WebhookView};

use crate::html::text::{failure, short_id, thousands, visible, when};

/// Formats a time relative to `now`, as an HTML `time` element. The exact time is in the attribute `datetime` for
/// programs, and in the tooltip for users. Templates insert the element unescaped, because it contains no user text.
pub(super) fn ago(at: &Timestamp, now: &Timestamp) -> String {
    let text = match now.as_millis() - at.as_millis() {
        0.. => match span(now.since(*at)) {
            Some(span) => format!("{span} ago"),
            None => "just now".to_owned(),
        },
        _ => match span(at.since(*now)) {
            Some(span) => format!("in {span}"),
            None => "now".to_owned(),
        },
    };
    format!("<time datetime=\"{at}\" title=\"{}\">{text}</time>", when(at))
}

/// Formats the time since `at` as an HTML `time` element: `3 minutes`.
pub(super) fn elapsed(at: &Timestamp, now: &Timestamp) -> String {
    let text = span(now.since(*at)).unwrap_or_else(|| "less than a second".to_owned());
    format!("<time datetime=\"{at}\" title=\"since {}\">{text}</time>", when(at))
}

/// Describes the result of an attempt, or of the newest attempt of a pending delivery.
pub(super) fn attempt_result(attempt: &DeliveryView) -> String {
    match (attempt.status_code, &attempt.error) {
        (Some(status), _) => format!("The receiver responded {status}"),
        (None, Some(class)) => failure(class, attempt.error_detail.as_deref()),
        (None, None) => "Not attempted yet".to_owned(),
    }
}

/// Explains why the service makes no attempt for a pending or failed delivery: its webhook is disabled or paused.
/// `None` in all other cases.
pub(super) fn why_no_attempt(entry: &EventLogEntry) -> Option<&'static str> {
    if !matches!(entry.delivery.outcome, "pending" | "failed") {
        return None;
    }
    match (entry.webhook.status, entry.webhook.paused) {
        (WebhookStatus::Disabled, _) => Some("no attempt while the webhook is disabled"),
        (WebhookStatus::Enabled, true) => Some("no attempt while the webhook is paused"),
        (WebhookStatus::Enabled, false) => None,
    }
}

/// Converts the user agent of a browser to the names of the browser and the system: `Chrome on Linux`. For other
/// programs, returns the first word.
pub(super) fn program(user_agent: &str) -> String {
    let find = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => user_agent.split_whitespace().next().unwrap_or("Unknown program").to_owned(),
    }
}

/// Formats a duration in its largest unit, such as hours. Returns `None` below one second.
fn span(span: Duration) -> Option<String> {
    let seconds = span.as_secs();
    let (number, unit) = match seconds {
        0 => return None,
        1..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    Some(format!("{} {unit}{plural}", thousands(number)))
}

/// Formats the day of a time for the axis of a chart: `2 Jan`.
pub(super) fn short_day(at: Timestamp) -> String {
    let text = at.to_string();
    let number = |range: Range<usize>| text.get(range).and_then(|part| part.parse().ok());
    let (month, day): (usize, usize) = (number(5..7).unwrap_or(1), number(8..10).unwrap_or(1));
    format!("{day} {}", MONTHS.get(month.saturating_sub(1)).unwrap_or(&""))
}

/// Shortens the URL of a webhook to its host and path, and the URL `relay:` to the word `relay`. Pages have the whole
/// URL elsewhere.
pub(super) fn short_url(url: &str) -> &str {
    url.split_once("://").map_or(url.trim_end_matches(':'), |(_, rest)| rest)
}

/// Splits the short URL of a webhook into parts. A line may break after each part.
pub(super) fn url_parts(url: &str) -> impl Iterator<Item = &str> {
    short_url(url).split_inclusive(['/', '.', '?', '&'])
}

/// Names a webhook by its description, or by the host of its URL. Returns the name in parts. A line may break after
/// each part.
pub(super) fn name_parts(webhook: &WebhookView) -> impl Iterator<Item = &str> {
    let host = || short_url(&webhook.url).split('/').next().unwrap_or_default();
    let name = visible(webhook.description.as_ref()).map_or_else(host, Description::as_str);
    name.split_inclusive('.')
}

/// Returns the name of a correspondent (another party of an event or envelope): its label, its handle, or its shortened
/// id.
pub(super) fn name_of(party: &Correspondent) -> String {
    match (&party.label, &party.handle) {
        (Some(label), _) => label.to_string(),
        (None, Some(handle)) => format!("@{handle}"),
        (None, None) => short_id(party.api_key_id),
    }
}

/// Returns the handle or the shortened id of a correspondent, to show beside its label. Empty for a correspondent
/// without a label, because [`name_of`] then returns the handle or the id.
pub(super) fn handle_of(party: &Correspondent) -> String {
    match (&party.label, &party.handle) {
        (None, _) => String::new(),
        (Some(_), Some(handle)) => format!("@{handle}"),
        (Some(_), None) => short_id(party.api_key_id),
    }
}

/// Returns the query string of a URL with these parameters. Omits parameters without a value.
pub(super) fn query_string(parameters: &[(&str, &str)]) -> String {
    let parameters = parameters.iter().filter(|(_, value)| !value.is_empty());
    let parameters: Vec<_> = parameters.map(|(name, value)| format!("{name}={value}")).collect();
    if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) }
}

/// Describes the state of a sent envelope.
pub(super) fn what_state(state: ReceiptState) -> &'static str {
    match state {
        ReceiptState::Bounced => "The envelope could not be delivered. No further attempt follows.",
        ReceiptState::Notified => {
            "A webhook of the recipient was notified. The envelope is not opened, or the recipient does not show it."
        }
        ReceiptState::Opened => "The recipient opened the envelope.",
        ReceiptState::Sent => {
            "The envelope is stored. No webhook was notified, or the recipient does not show it."
        }
        ReceiptState::Waiting => "The envelope waits, because the recipient has no webhook.",
    }
}

/// Describes a kind of event in the form of a new webhook.
pub(super) fn about_event(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::EnvelopeBounced => "an envelope that this key sent did not reach its recipient",
        EventKind::EnvelopeReceived => "an envelope for this key arrived",
        EventKind::IdentityRotated => {
            "a key that exchanged envelopes with this key was changed or revoked"
        }
        EventKind::UsageThreshold => "80 % or 100 % of a limit is used",
        EventKind::WebhookDisabled => "another webhook of the account was disabled",
        EventKind::WebhookFailing => "another webhook of the account has failed for an hour",
    }
}

/// Formats a time to the minute: `2026-01-02 03:04 UTC`.
pub(super) fn to_minute(at: &Timestamp) -> String {
    let text = at.to_string();
    let minute = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("{minute} UTC")
}

/// Explains why a key with this status cannot be changed. Returns `None` for active keys, and for revoked keys, whose
/// pages have another text.
pub(super) fn why_no_change(status: &KeyStatus) -> Option<&'static str> {
    match status {
        KeyStatus::Active | KeyStatus::Revoked => None,
        KeyStatus::Deactivated => Some(
            "This key is deactivated: it can neither send nor receive. You can view and delete its webhooks, but not \
             change them. Ask the operator to reactivate the key.",
        ),
        KeyStatus::Rotating => Some(
            "This key is being rotated. Its webhooks cannot be changed until the rotation ends, usually within seconds.",
        ),
    }
}

/// Describes a kind of activity.
pub(super) fn what_happened(kind: &ActivityKind) -> &'static str {
    match kind {
        ActivityKind::AccountExported => "Data exported",
        ActivityKind::KeyActivated => "Identity created",
        ActivityKind::KeyRevoked => "Identity revoked",
        ActivityKind::Login => "Login",
        ActivityKind::LoginFailed => "Login failed",
        ActivityKind::Logout => "Logout",
        ActivityKind::Operator => "Act of the operator",
        ActivityKind::PolicyChanged => "Policy changed",
        ActivityKind::Recovered => "Account recovered",
        ActivityKind::SecretReplaced => "Secret replaced",
        ActivityKind::TokenCreated => "API token created",
        ActivityKind::TokenRevoked => "API token revoked",
        ActivityKind::WebhookDeleted => "Webhook deleted",
        ActivityKind::WebhookRegistered => "Webhook registered",
        ActivityKind::WebhookUpdated => "Webhook changed",
    }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Parts of user agents, and the browsers that send them. Most browsers also send the parts of other browsers, so the
/// first match in this order counts.
const BROWSERS: [(&str, &str); 5] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_time_has_the_exact_time_as_its_title() {
        let now = Timestamp::from_millis(1_767_323_045_678);
        let text = |ms| ago(&Timestamp::from_millis(now.as_millis() - ms), &now);
        assert_eq!(
            text(61_000),
            "<time datetime=\"2026-01-02T03:03:04.678Z\" title=\"2026-01-02 03:03:04 UTC\">1 minute ago</time>"
        );
        for (ms, expected) in [
            (0, "just now"),
            (1_000, "1 second ago"),
            (3_599_999, "59 minutes ago"),
            (3_600_000, "1 hour ago"),
            (172_799_999, "47 hours ago"),
            (172_800_000, "2 days ago"),
            (-5_000, "in 5 seconds"),
        ] {
            assert!(text(ms).contains(&format!(">{expected}<")), "{}", text(ms));
        }
    }

    #[test]
    fn the_time_of_a_failing_webhook_is_a_duration() {
        let now = Timestamp::from_millis(1_767_323_045_678);
        for (ms, expected) in [(0, "less than a second"), (23_000, "23 seconds")] {
            let text = elapsed(&Timestamp::from_millis(now.as_millis() - ms), &now);
            assert!(text.contains(&format!(">{expected}<")), "{text}");
        }
    }

    #[test]
    fn user_agents_are_shown_as_programs() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36";
        for (agent, text) in [
            (chrome, "Chrome on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0; rv:150.0) Gecko Firefox/150.0", "Firefox on Windows"),
            ("sealpost/0.1.0 (shell)", "sealpost/0.1.0"),
            ("", "Unknown program"),
        ] {
            assert_eq!(program(agent), text);
        }
    }

    #[test]
    fn days_of_charts_are_short() {
        assert_eq!(short_day(Timestamp::from_millis(1_767_323_045_678)), "2 Jan");
    }
}
