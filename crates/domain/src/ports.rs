//! Ports: synchronous traits between the service, the database, and the dispatcher (the sender of webhook requests).
//! There is one small trait per aggregate. [`Tx`], a transaction, combines the traits for database access.

mod account;
mod badges;
mod delivery;
mod envelopes;
mod error;
mod governance;
mod housekeeping;
mod journal;
mod keys;
mod ledger;
mod lookup;
mod nodes;
mod policies;
mod relays;
mod secrets;
mod store;

pub use account::{
    AccountRepo, ActivityRepo, ApiTokenRepo, ClosedPortion, ClosingExtent, DailyCount, DeletedRows,
    ErasureRepo, EventSource, FormRepo, InviteRepo, KeyOverview, OwnerLookup,
};
pub use badges::{BadgeLookup, BadgeRepo};
pub use delivery::{
    Claim, DeliveryRepo, Dispatch, EventRepo, EventSigner, ExpeditedDelivery, FailureRange,
    FinishTest, Outbox, RecoverySummary, TargetGuard, VettedUrl, WaitingEnvelope, WaitingLookup,
    WaitingRepo, WaitingTransfer, WebhookLookup, WebhookRepo,
};
pub use envelopes::{
    AddressedEnvelope, EnvelopeRepo, ReceiptLookup, SentEnvelope, SentList, SentQuery,
};
pub use error::{BoxedError, StoreError};
pub use governance::{AuditRepo, GovernanceRepo};
pub use housekeeping::{
    CountLookup, CountedTable, ExpiringRows, HousekeepingRepo, HousekeepingTurn, UncountedRows,
};
pub use journal::{JournaledAct, RevocationJournal};
pub use keys::{KeyRepo, RevocationSummary};
pub use ledger::{
    AdmissionFacts, FactsQuery, IdempotencyRecord, IdempotencyResult, KeyFacts,
    NewIdempotencyRecord, OverageCount, ParkedDelivery, RecipientWebhook, RecipientWebhooks,
    SendLedger, WriteSet,
};
pub use lookup::{
    AccountOverview, AccountSummary, HandleOwner, KeyFilter, KeySnapshot, Lookup, OperatorLookup,
    ServiceStats, WebhookOwner,
};
pub use nodes::{Node, NodeRepo, TaskTurn};
pub use policies::{Contact, KeyProfile, PolicyLookup, PolicyRepo, SentPage};
pub use relays::{
    OpenRelay, RelayAnswer, RelayConnection, RelayConnectionId, RelayEnd, RelayFrame, RelayLink,
    RelayLookup, RelayRepo, Relays,
};
pub use secrets::{IssuerRepo, KekMarks, RewrapRepo};
pub use store::{Durability, OldestSnapshot, Store, Tx};
