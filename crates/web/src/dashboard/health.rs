//! The health of a webhook as one word, for labels and colours on the pages.

use sealpost_domain::WebhookStatus;
use sealpost_service::{RecentAttempts, WebhookReport, WebhookView};

use super::charts::Sparkline;

/// A webhook with its recent attempts and its health, for display on a page.
pub(super) struct WebhookCard<'a> {
    pub(super) webhook: &'a WebhookView,
    pub(super) recent: &'a RecentAttempts,
    pub(super) health: Health,
    pub(super) sparkline: Sparkline,
}

/// The health of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// More than 5 % of the recent attempts failed.
    Degraded,
    /// The webhook is disabled.
    Disabled,
    /// At least one attempt failed, and no attempt succeeded since then.
    Failing,
    /// At least 95 % of the recent attempts succeeded.
    Healthy,
    /// No delivery was attempted recently.
    Idle,
    /// The owner paused the webhook.
    Paused,
}

impl<'a> WebhookCard<'a> {
    pub(super) fn new(report: &'a WebhookReport) -> Self {
        let WebhookReport { webhook, recent, .. } = report;
        Self { webhook, recent, health: Health::of(report), sparkline: Sparkline::new(recent) }
    }
}

impl Health {
    fn of(report: &WebhookReport) -> Self {
        let WebhookReport { webhook, recent, .. } = report;
        match (webhook.status, webhook.failing_since, recent.success_percent()) {
            (WebhookStatus::Disabled, ..) => Self::Disabled,
            _ if webhook.paused => Self::Paused,
            (_, Some(_), _) => Self::Failing,
            (_, _, None) => Self::Idle,
            (_, _, Some(percent)) if percent < HEALTHY_PERCENT => Self::Degraded,
            (_, _, Some(_)) => Self::Healthy,
        }
    }

    /// Returns true if the webhook is disabled or failing, so that events do not arrive.
    pub(super) fn is_unhealthy(self) -> bool {
        matches!(self, Self::Disabled | Self::Failing)
    }

    /// Returns the health as a word, for display on a page.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Degraded => "degraded",
            Self::Disabled => "disabled",
            Self::Failing => "failing",
            Self::Healthy => "healthy",
            Self::Idle => "idle",
            Self::Paused => "paused",
        }
    }

    /// Returns the CSS class that colours the label and the card of the webhook.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Degraded | Self::Paused => "warn",
            Self::Disabled | Self::Failing => "bad",
            Self::Healthy => "good",
            Self::Idle => "idle",
        }
    }
}

/// Returns the state of a webhook as a word, and the CSS class that colours it, for lists that read no attempts.
pub(crate) fn state_of(webhook: &WebhookView) -> (&'static str, &'static str) {
    match (webhook.status, webhook.paused, webhook.failing_since) {
        (WebhookStatus::Disabled, ..) => ("disabled", "bad"),
        (_, true, _) => ("paused", "warn"),
        (_, _, Some(_)) => ("failing", "bad"),
        (_, _, None) => ("enabled", "good"),
    }
}

const HEALTHY_PERCENT: u32 = 95;
