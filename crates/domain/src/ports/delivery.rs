//! Ports of the delivery of events: webhooks, the dispatcher, and envelopes that wait for a webhook.

mod dispatching;
mod events;
mod waiting;
mod webhooks;

pub use dispatching::{
    Claim, Dispatch, EventSigner, ExpeditedDelivery, FinishTest, Outbox, TargetGuard, VettedUrl,
};
pub use events::EventRepo;
pub use waiting::{WaitingEnvelope, WaitingLookup, WaitingRepo, WaitingTransfer};
pub use webhooks::{DeliveryRepo, FailureRange, RecoverySummary, WebhookLookup, WebhookRepo};
