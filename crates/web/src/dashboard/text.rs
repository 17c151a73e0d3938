//! Formats values as text for users.

use sealpost_domain::{ActivityKind, EventKind, KeyStatus, Timestamp};

/// Formats a time to the second: `2026-01-02 03:04:05 UTC`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn when(at: &Timestamp) -> String {
    let text = at.to_string();
    let second = text.get(..19).unwrap_or(&text).replace('T', " ");
    format!("{second} UTC")
}

/// Describes a kind of event in the form of a new webhook.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn about_event(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::EnvelopeBounced => "an envelope that this key sent did not reach its recipient",
        EventKind::EnvelopeReceived => "an envelope for this key arrived",
        EventKind::IdentityRotated => {
            "a key that exchanged envelopes with this key was changed or revoked"
        }
        EventKind::UsageThreshold => "80 % or 100 % of a limit is used",
    }
}

/// Formats the start of an hour: `2026-01-02 03:00 UTC`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn hour(at: &Timestamp) -> String {
    let text = at.to_string();
    let minute = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("{minute} UTC")
}

/// Explains why a key in this state cannot be changed. Returns `None` for active keys, and for revoked keys, whose
/// pages have their own text.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
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
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn what_happened(kind: &ActivityKind) -> &'static str {
    match kind {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_second() {
        assert_eq!(when(&Timestamp::from_millis(1_767_323_045_678)), "2026-01-02 03:04:05 UTC");
    }
}
