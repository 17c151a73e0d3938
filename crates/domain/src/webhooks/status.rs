//! The status of a webhook, and the reasons for it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Timestamp;

/// Whether events are delivered to a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// No events are delivered.
    Disabled,
    /// Events are delivered.
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

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Disabled, Self::Enabled].into_iter().find(|status| status.as_str() == name)
    }
}

/// The newest failed attempt at a webhook.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LastFailure {
    /// End of the attempt.
    pub at: Timestamp,
    /// Class of the failure, as [`AttemptFailure::as_str`](crate::AttemptFailure::as_str) names it.
    #[schemars(
        description = "What went wrong, as a class: such as `dns`, `connect`, `timeout` or `http_status`."
    )]
    pub error: String,
}

/// Why the service disabled a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    /// All attempts failed for too long.
    Failing,
    /// The receiver responded with 410.
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

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Failing, Self::Gone].into_iter().find(|reason| reason.as_str() == name)
    }
}
