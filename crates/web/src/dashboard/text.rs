//! How things are written for people.

use sealpost_domain::{KeyStatus, Timestamp};
use sealpost_limits::WindowReport;
use sealpost_service::KeyStanding;

/// An instant to the second: `2026-01-02 03:04:05 UTC`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates lend what they show")]
pub(super) fn when(at: &Timestamp) -> String {
    let text = at.to_string();
    let second = text.get(..19).unwrap_or(&text).replace('T', " ");
    format!("{second} UTC")
}

/// Why nothing of a key can be changed that is not active, though it can be looked at. A revoked one says so itself.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates lend what they show")]
pub(super) fn why_no_change(status: &KeyStatus) -> Option<&'static str> {
    match status {
        KeyStatus::Active | KeyStatus::Revoked => None,
        KeyStatus::Deactivated => Some(
            "This key is deactivated: it neither sends nor receives. Its webhooks can be looked at and deleted, but not \
             changed. Ask the operator to reactivate it.",
        ),
        KeyStatus::Rotating => Some(
            "This key is being rotated. This is temporary: its webhooks can be changed again in a moment.",
        ),
    }
}

/// How much of a limit is used.
pub(super) struct Bar {
    pub(super) name: &'static str,
    pub(super) used: u32,
    pub(super) limit: u32,
    pub(super) resets_at: String,
}

/// The three windows of a plan.
pub(super) fn bars(standing: &KeyStanding) -> [Bar; 3] {
    let bar = |name, window: &WindowReport| Bar {
        name,
        used: window.used,
        limit: window.limit,
        resets_at: when(&window.resets_at),
    };
    [
        bar("requests this minute", &standing.usage.minute),
        bar("requests today", &standing.usage.day),
        bar("messages this month", &standing.usage.month),
    ]
}

impl Bar {
    /// Of the bar's 100 parts, at most all of them.
    pub(super) fn share(&self) -> u64 {
        let parts = u64::from(self.used) * 100 / u64::from(self.limit.max(1));
        parts.min(100)
    }

    /// From when on it is worth a look.
    pub(super) fn level(&self) -> &'static str {
        match self.share() {
            0..80 => "calm",
            80..100 => "high",
            _ => "full",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_to_the_second() {
        assert_eq!(when(&Timestamp::from_millis(1_767_323_045_678)), "2026-01-02 03:04:05 UTC");
    }

    #[test]
    fn a_bar_is_never_longer_than_its_limit() {
        let bar = |used, limit| Bar { name: "", used, limit, resets_at: String::new() };
        let seen = |used, limit| (bar(used, limit).share(), bar(used, limit).level());
        assert_eq!(seen(0, 20), (0, "calm"));
        assert_eq!(seen(15, 20), (75, "calm"));
        assert_eq!(seen(16, 20), (80, "high"));
        assert_eq!(seen(20, 20), (100, "full"));
        assert_eq!(seen(u32::MAX, 20), (100, "full"));
        assert_eq!(seen(1, 0), (100, "full"));
    }
}
