//! The state of a webhook as one word, such as `failing`, for the labels and colours on pages.

use sealpost_domain::{DisabledReason, WebhookStatus};
use sealpost_service::{RecentAttempts, WebhookReport, WebhookView};

use super::charts::Sparkline;
use crate::html::text::failure;

/// A webhook with its state and its recent attempts, for display on a page.
pub(super) struct WebhookCard<'a> {
    pub(super) webhook: &'a WebhookView,
    pub(super) recent: &'a RecentAttempts,
    pub(super) state: WebhookState,
    pub(super) sparkline: Sparkline,
}

/// The state of a webhook, derived from its status, its pause and its failures. All lists and pages show this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookState {
    /// The service or an operator disabled the webhook.
    Disabled,
    /// Events are delivered.
    Enabled,
    /// At least one attempt failed, and no attempt succeeded since then.
    Failing,
    /// The owner paused the webhook.
    Paused,
}

impl<'a> WebhookCard<'a> {
    pub(super) fn new(report: &'a WebhookReport) -> Self {
        let WebhookReport { webhook, recent, .. } = report;
        Self { webhook, recent, state: state_of(webhook), sparkline: Sparkline::new(recent) }
    }
}

impl WebhookState {
    /// Returns true if the webhook is disabled or failing, so that events do not arrive.
    pub(super) fn is_unhealthy(self) -> bool {
        matches!(self, Self::Disabled | Self::Failing)
    }

    /// Returns the state as a word, for display on a page.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
            Self::Failing => "failing",
            Self::Paused => "paused",
        }
    }

    /// Returns the CSS class that colours the label and the card of the webhook.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Disabled | Self::Failing => "bad",
            Self::Enabled => "good",
            Self::Paused => "warn",
        }
    }
}

/// Explains in a few words why a webhook is disabled or failing. `None` for other webhooks.
pub(crate) fn why_unhealthy(webhook: &WebhookView) -> Option<String> {
    let disabled = match webhook.disabled_reason {
        Some(DisabledReason::Failing) => "All deliveries failed for days",
        Some(DisabledReason::Gone) => "The receiver responded 410 Gone",
        None => "An operator of the service disabled it",
    };
    match (state_of(webhook), &webhook.last_failure) {
        (WebhookState::Disabled, _) => Some(disabled.to_owned()),
        (WebhookState::Failing, Some(last)) => {
            Some(failure(&last.error, last.error_detail.as_deref()))
        }
        _ => None,
    }
}

/// Returns the state of a webhook.
pub(crate) fn state_of(webhook: &WebhookView) -> WebhookState {
    match (webhook.status, webhook.paused, webhook.failing_since) {
        (WebhookStatus::Disabled, ..) => WebhookState::Disabled,
        (_, true, _) => WebhookState::Paused,
        (_, _, Some(_)) => WebhookState::Failing,
        (_, _, None) => WebhookState::Enabled,
    }
}
