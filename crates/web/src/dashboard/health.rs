//! The health of a webhook as one word, for badges and colours.

use sealpost_domain::WebhookStatus;
use sealpost_service::{RecentAttempts, WebhookReport, WebhookView};

use super::charts::Sparkline;

/// A webhook with its health, as a card shows it.
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
    /// All attempts since the last success failed.
    Failing,
    /// Nearly all recent attempts succeeded.
    Healthy,
    /// The webhook had no recent attempt.
    Idle,
}

impl<'a> WebhookCard<'a> {
    pub(super) fn new(report: &'a WebhookReport) -> Self {
        let WebhookReport { webhook, recent } = report;
        Self { webhook, recent, health: Health::of(report), sparkline: Sparkline::new(recent) }
    }
}

impl Health {
    fn of(report: &WebhookReport) -> Self {
        let WebhookReport { webhook, recent } = report;
        match (webhook.status, webhook.failing_since, recent.success_percent()) {
            (WebhookStatus::Disabled, ..) => Self::Disabled,
            (_, Some(_), _) => Self::Failing,
            (_, _, None) => Self::Idle,
            (_, _, Some(percent)) if percent < HEALTHY_PERCENT => Self::Degraded,
            (_, _, Some(_)) => Self::Healthy,
        }
    }

    /// Returns true if events do not arrive.
    pub(super) fn is_unhealthy(self) -> bool {
        matches!(self, Self::Disabled | Self::Failing)
    }

    /// Returns the word on the page.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Degraded => "degraded",
            Self::Disabled => "disabled",
            Self::Failing => "failing",
            Self::Healthy => "healthy",
            Self::Idle => "idle",
        }
    }

    /// Returns the CSS class of badges and cards.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Degraded => "warn",
            Self::Disabled | Self::Failing => "bad",
            Self::Healthy => "good",
            Self::Idle => "idle",
        }
    }
}

const HEALTHY_PERCENT: u32 = 95;
