//! The JSON fields specific to one kind of event. The common fields of all events are in `stored_event.rs`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ApiKeyId, Description, DisabledReason, EnvelopeId, EventKind, Handle, LastFailure, Timestamp,
    WebhookId, named_enum::named_enum,
};

/// The JSON fields of an event that depend on its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventDetails {
    /// The fields of an `envelope.bounced` event.
    EnvelopeBounced(EnvelopeBounced),
    /// The fields of an `identity.rotated` event.
    IdentityRotated(IdentityRotated),
    /// The fields of a `usage.threshold` event.
    UsageThreshold(UsageThreshold),
    /// The fields of a `webhook.disabled` event.
    WebhookDisabled(WebhookDisabled),
    /// The fields of a `webhook.failing` event.
    WebhookFailing(WebhookFailing),
}

impl From<DisabledReason> for DisablingCause {
    fn from(reason: DisabledReason) -> Self {
        match reason {
            DisabledReason::Failing => Self::Failing,
            DisabledReason::Gone => Self::Gone,
        }
    }
}

impl EventDetails {
    /// Returns the kind of event with these fields.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::EnvelopeBounced(_) => EventKind::EnvelopeBounced,
            Self::IdentityRotated(_) => EventKind::IdentityRotated,
            Self::UsageThreshold(_) => EventKind::UsageThreshold,
            Self::WebhookDisabled(_) => EventKind::WebhookDisabled,
            Self::WebhookFailing(_) => EventKind::WebhookFailing,
        }
    }

    /// Returns the webhook that the event is about. This webhook does not get the event. `None` if the event is not
    /// about a webhook.
    pub const fn subject(&self) -> Option<WebhookId> {
        match self {
            Self::EnvelopeBounced(_) | Self::IdentityRotated(_) | Self::UsageThreshold(_) => None,
            Self::WebhookDisabled(details) => Some(details.webhook_id),
            Self::WebhookFailing(details) => Some(details.webhook_id),
        }
    }
}

/// The reason why an envelope bounced (could not be delivered).
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BounceReason {
    /// The last attempt of each delivery failed.
    Exhausted,
    /// The retention of the envelope ended before a delivery succeeded.
    Expired,
    /// The recipient's key was revoked before a delivery succeeded.
    RecipientRevoked,
}

/// The fields of `envelope.bounced`: an envelope could not be delivered to its recipient.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EnvelopeBounced {
    /// Id of the bounced envelope.
    pub envelope_id: EnvelopeId,
    /// The API key of the recipient.
    pub recipient: ApiKeyId,
    /// The reason why the envelope bounced.
    pub reason: BounceReason,
}

named_enum! {
    /// The kind of change of an API key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RotationReason {
        /// The handle of the key was moved to another key.
        Replaced = "replaced",
        /// The key was revoked.
        Revoked = "revoked",
        /// The sealing key (the key pair to which messages are encrypted) was replaced. The DID is unchanged.
        SealingKey = "sealing_key",
    }
}

/// The fields of `identity.rotated`: an API key was changed. The webhook's key has exchanged envelopes with the changed
/// key.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct IdentityRotated {
    /// The changed API key.
    pub api_key_id: ApiKeyId,
    /// The handle of the key before the change; null if the key had no handle.
    pub handle: Option<Handle>,
    /// The API key to which the handle was moved; null if the handle was not moved.
    pub replaced_by: Option<ApiKeyId>,
    /// The kind of change.
    pub reason: RotationReason,
}

named_enum! {
    /// A limit of a plan, named by its time window. An event is sent when usage reaches a percentage of the limit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ThresholdWindow {
        /// Requests per UTC day.
        Day = "day",
        /// Messages per UTC month.
        Month = "month",
    }
}

/// The fields of `usage.threshold`: a key has used a certain percentage of a limit.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct UsageThreshold {
    /// The key whose usage reached the threshold.
    pub api_key_id: ApiKeyId,
    /// The limit: requests per day, or messages per month.
    pub window: ThresholdWindow,
    /// The percentage of the limit that the usage has reached.
    #[schemars(extend("enum" = [80, 100]))]
    pub threshold: u8,
    /// Number of requests in the current day, or of messages in the current month.
    pub used: u32,
    /// Maximum number of requests per day, or of messages per month.
    pub limit: u32,
    /// End of the current day or month (UTC), when the usage starts at zero again.
    pub resets_at: Timestamp,
}

/// The reason of a `webhook.failing` event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailingCause {
    /// At least ten attempts in a row have failed, for at least an hour.
    AllAttemptsFailed,
}

/// The fields of `webhook.failing`: all attempts at another webhook of the account have failed for an hour.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WebhookFailing {
    /// The failing webhook.
    pub webhook_id: WebhookId,
    /// The API key of the failing webhook.
    pub api_key_id: ApiKeyId,
    /// The owner's note about the webhook; null if there is none.
    pub description: Option<Description>,
    /// The reason of the event.
    pub reason: FailingCause,
    /// Time of the first failed attempt since the last success.
    pub since: Timestamp,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
}

/// The reason why a webhook was disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisablingCause {
    /// All attempts failed for longer than the allowed time.
    Failing,
    /// The receiver responded with status 410 (Gone).
    Gone,
    /// An operator disabled the webhook.
    Operator,
}

/// The fields of `webhook.disabled`: another webhook of the account was disabled.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WebhookDisabled {
    /// The disabled webhook.
    pub webhook_id: WebhookId,
    /// The API key of the disabled webhook.
    pub api_key_id: ApiKeyId,
    /// The owner's note about the webhook; null if there is none.
    pub description: Option<Description>,
    /// The reason why the webhook was disabled.
    pub reason: DisablingCause,
    /// Time at which the webhook was disabled.
    pub since: Timestamp,
    /// The newest failed attempt; null if no attempt has failed.
    pub last_failure: Option<LastFailure>,
}
