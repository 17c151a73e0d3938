//! Webhooks, the events that they subscribe to, and the deliveries of these events.

mod attempt;
mod bounce;
mod delivery;
mod event;
mod event_details;
mod event_id;
mod event_kind;
mod health;
mod incident;
mod rotation;
mod stored_event;
mod threshold;
mod webhook;

pub use attempt::{
    Attempt, AttemptNumber, AttemptOutcome, AttemptTiming, PendingDelivery, TestEvent, TestResult,
    WebhookTest,
};
pub use bounce::UnopenedEnvelope;
pub use delivery::{
    AttemptFailure, AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Outcome,
    ReceiverResponse,
};
pub use event::{Encryption, EnvelopeReceived, Event, Metadata, ReceivedEnvelope};
pub use event_details::{
    BounceReason, DisablingCause, EnvelopeBounced, EventDetails, FailingCause, IdentityRotated,
    RotationReason, ThresholdWindow, UsageThreshold, WebhookDisabled, WebhookFailing,
};
pub use event_id::EventId;
pub use event_kind::{EventKind, EventsVersion};
pub use health::{AttemptSummary, HealthChange, HealthReport, WebhookHealth};
pub use incident::{IncidentKind, WebhookIncident};
pub use rotation::IdentityRotation;
pub use stored_event::{EventBody, EventMetadata, NewEvent, StoredEvent};
pub use threshold::ReachedThreshold;
pub use webhook::{
    Description, DisabledReason, LastFailure, RELAY_URL, RetiringSecret, Target, Webhook,
    WebhookStatus,
};
