//! The status of a webhook, its newest failure, and the reasons why the service disables a webhook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Whether a webhook gets events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// The webhook gets no events. Its deliveries wait until it is enabled.
    Disabled,
    /// Events are delivered to the webhook.
    Enabled,
}

impl WebhookStatus {
    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
        }
    }

    /// Parses the name used in JSON and SQL. `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Disabled, Self::Enabled].into_iter().find(|status| status.as_str() == name)
    }
}

/// The newest failed attempt to deliver an event to a webhook.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
pub struct LastFailure {
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Class of the failure, as [`AttemptFailure::as_str`](crate::AttemptFailure::as_str) names it.
    #[schemars(
        description = "What went wrong, as a class: such as `dns`, `connect`, `timeout` or `http_status`."
    )]
    pub error: String,
    /// The reason of the failure; `null` if its class says all.
    pub error_detail: Option<String>,
}

/// The reason why the service disabled a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    /// All attempts failed for longer than the allowed time.
    Failing,
    /// The receiver responded with status 410 (Gone).
    Gone,
}

impl DisabledReason {
    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gone => "gone",
        }
    }

    /// Parses the name used in JSON and SQL. `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Failing, Self::Gone].into_iter().find(|reason| reason.as_str() == name)
    }
}
