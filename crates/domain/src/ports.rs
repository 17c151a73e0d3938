//! Ports: synchronous traits between the service, the database, and the dispatcher (the sender of webhook requests).
//! There is one small trait per aggregate. [`Tx`], a transaction, combines the traits for database access.

mod accounts;
mod activity;
mod api_tokens;
mod badges;
mod dispatching;
mod envelopes;
mod erasure;
mod error;
mod events;
mod governance;
mod housekeeping;
mod invites;
mod keys;
mod ledger;
mod lookup;
mod owner;
mod policies;
mod secrets;
mod store;
mod waiting;
mod webhooks;

pub use accounts::AccountRepo;
pub use activity::ActivityRepo;
pub use api_tokens::ApiTokenRepo;
pub use badges::{BadgeLookup, BadgeRepo};
pub use dispatching::{
    Claim, Dispatch, EventSigner, ExpeditedDelivery, FinishTest, Outbox, TargetGuard,
};
pub use envelopes::{AddressedEnvelope, EnvelopeRepo, ReceiptLookup, SentEnvelope};
pub use erasure::{ClosedPortion, ClosingExtent, DeletedRows, ErasureRepo};
pub use error::{BoxedError, StoreError};
pub use events::EventRepo;
pub use governance::{AuditRepo, GovernanceRepo};
pub use housekeeping::{HousekeepingRepo, HousekeepingTurn};
pub use invites::InviteRepo;
pub use keys::{KeyRepo, RevocationSummary};
pub use ledger::{
    AdmissionFacts, FactsQuery, IdempotencyRecord, KeyFacts, NewIdempotencyRecord, OverageCount,
    ParkedDelivery, RecipientWebhook, RecipientWebhooks, SendLedger, WriteSet,
};
pub use lookup::{
    AccountOverview, AccountSummary, HandleOwner, KeyFilter, KeySnapshot, Lookup, OperatorLookup,
    ServiceStats, WebhookOwner,
};
pub use owner::{DailyCount, KeyOverview, OwnerLookup};
pub use policies::{Contact, KeyProfile, PolicyLookup, PolicyRepo, SentPage};
pub use secrets::{IssuerRepo, KekMarks, RewrapRepo};
pub use store::{Durability, Store, Tx};
pub use waiting::{WaitingEnvelope, WaitingLookup, WaitingRepo, WaitingTransfer};
pub use webhooks::{DeliveryRepo, FailureRange, RecoverySummary, WebhookLookup, WebhookRepo};
