//! Webhooks, the events that they subscribe to, and the deliveries of those events.

mod attempt;
mod delivery;
mod event;
mod event_id;
mod health;
mod status;
mod webhook;

pub use attempt::{Attempt, AttemptNumber, AttemptOutcome, PendingDelivery};
pub use delivery::{
    AttemptFailure, AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Outcome,
    ReceiverResponse,
};
pub use event::{Encryption, EnvelopeReceived, Event, EventKind, EventPayload, Metadata};
pub use event_id::EventId;
pub use health::{AttemptSummary, HealthReport, WebhookHealth};
pub use status::{DisabledReason, LastFailure, WebhookStatus};
pub use webhook::{RetiringSecret, Target, Webhook};
