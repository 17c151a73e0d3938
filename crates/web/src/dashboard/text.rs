//! Formats values as text for users.

#![expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]

use std::{fmt::Display, ops::Range, time::Duration};

use sealpost_domain::{
    ActivityKind, Description, EventKind, GovernanceKind, KeyStatus, ReceiptState, Timestamp,
    WebhookStatus,
};
use sealpost_service::{Correspondent, DeliveryView, EventLogEntry, WebhookView};

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

/// Shortens an id to its prefix and its last characters: `env_…9x2kd4`. Pages have the whole id elsewhere.
pub(crate) fn short_id(id: impl Display) -> String {
    let id = id.to_string();
    match id.split_once('_') {
        Some((prefix, rest)) if rest.is_ascii() && rest.len() > SHORT_LEN => {
            format!("{prefix}_…{}", rest.get(rest.len() - SHORT_LEN..).unwrap_or(rest))
        }
        _ => id,
    }
}

/// Shortens a score to at most four decimal places: `0.7511…`. The pages have the whole score as a title.
pub(crate) fn short_score(score: impl Display) -> String {
    let score = score.to_string();
    match score.get(..SHORT_SCORE_LEN) {
        Some(short) if short.len() < score.len() => format!("{short}…"),
        _ => score,
    }
}

/// Shortens the ids in a text.
pub(crate) fn short_ids(text: impl AsRef<str>) -> String {
    let is_id = |word: &str| word.split_once('_').is_some_and(|(_, rest)| rest.len() == ID_LEN);
    // A word joiner (U+2060) prevents a line break between the two parts of a shortened id.
    let shorten = |word: &str| {
        if is_id(word) { short_id(word).replace('…', "…\u{2060}") } else { word.to_owned() }
    };
    text.as_ref().split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

/// Describes why an attempt failed. `class` is the class of the failure in the API, such as `timeout`.
pub(crate) fn failure(class: &str, detail: Option<&str>) -> String {
    let text = match class {
        "blocked_address" => "The address of the receiver is not public",
        "connect" => "The receiver accepted no connection",
        "dns" => "The host name of the receiver was not found",
        "http_status" => "The receiver responded with an error",
        "protocol" => "The receiver did not speak HTTP correctly",
        "timeout" => "The receiver did not respond in time",
        "tls" => "The encrypted connection failed",
        "too_large" => "The response of the receiver was too large",
        other => other,
    };
    match detail {
        Some(detail) => format!("{text} ({detail})"),
        None => text.to_owned(),
    }
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

/// Formats a number with commas between groups of three digits.
pub(crate) fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes in units of a million bytes: `1.2 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", thousands(tenths / 10), tenths % 10)
}

/// Formats a time to the second: `2026-01-02 03:04:05 UTC`.
pub(crate) fn when(at: &Timestamp) -> String {
    let text = at.to_string();
    let second = text.get(..19).unwrap_or(&text).replace('T', " ");
    format!("{second} UTC")
}

/// Formats the day of a time: `2026-01-02`. Pages have the whole time elsewhere.
pub(crate) fn day(at: &Timestamp) -> String {
    at.to_string().get(..10).unwrap_or_default().to_owned()
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

/// Returns the description of a webhook. `None` if the description has only spaces and invisible characters.
pub(crate) fn visible(description: Option<&Description>) -> Option<&Description> {
    description.filter(|description| !description.is_blank())
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

/// Names the kind of an operators' decision that blocks a key.
pub(crate) fn what_blocks(kind: &GovernanceKind) -> &'static str {
    match kind {
        GovernanceKind::CouncilAction => "council action",
        GovernanceKind::PartnerSuspension => "suspension of the partner",
    }
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

const SHORT_LEN: usize = 6;
/// Number of characters of a score with four decimal places.
const SHORT_SCORE_LEN: usize = 6;
/// Number of characters of an id after its prefix and the underscore.
const ID_LEN: usize = 26;
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
    fn times_are_written_to_the_second() {
        assert_eq!(when(&Timestamp::from_millis(1_767_323_045_678)), "2026-01-02 03:04:05 UTC");
    }

    #[test]
    fn a_score_has_at_most_four_decimal_places() {
        assert_eq!(["1", "0.7500"].map(short_score), ["1", "0.7500"]);
        assert_eq!(short_score("0.749999999999999999"), "0.7499…");
    }

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
    fn long_ids_are_shortened() {
        assert_eq!(short_id("env_01h455vb4pex5vsknk084sn02q"), "env_…4sn02q");
        for id in ["wh_1", "nobody", "é_ééééééééé"] {
            assert_eq!(short_id(id), id);
        }
        let text = "wh_01h455vb4pex5vsknk084sn02q of per_minute=20000";
        assert_eq!(short_ids(text), "wh_…\u{2060}4sn02q of per_minute=20000");
    }

    #[test]
    fn sizes_are_written_in_megabytes() {
        assert_eq!(megabytes(479_232), "0.4 MB");
        assert_eq!(megabytes(12_345_678_901), "12,345.6 MB");
    }

    #[test]
    fn days_of_charts_are_short() {
        assert_eq!(short_day(Timestamp::from_millis(1_767_323_045_678)), "2 Jan");
    }

    #[test]
    fn long_numbers_have_separators() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
    }
}
